/// What asks about one beacon at one observer; tracks that are asked about by the same share one.
package struct MatchSet: Hashable, Sendable {
  /// A region and the place of its policy in ``policies``.
  struct Asker: Hashable, Sendable {
    /// The region's slot in the catalog.
    var slot: Int32
    /// The place of its policy.
    var place: Int32
  }

  /// How many distinct policies may decide about one beacon at one observer; what comes beyond shares the last one.
  static let policyLimit = 64

  /// The regions about observers.
  var regions: [Asker] = []
  /// The regions about beacons to which this observer counts.
  var beaconRegions: [Asker] = []
  /// The ranging requests.
  var rangings: [Int32] = []
  /// The distinct policies, one presence each.
  package var policies: [UInt16] = []
  /// Whether any of them looks at levels to leave.
  var hasLevels = false
  /// Whether stage two wants summaries.
  var isZoned = false
  /// Whether the address is the key even for those who did not ask for it, since the directory says so.
  var replacesPlain = false

  package init() {}

  /// A Boolean value that is true if no region, ranging request or zone matches the beacon.
  var isEmpty: Bool { policies.isEmpty && rangings.isEmpty && !isZoned }
  /// Whether seconds must be kept.
  var needsSeconds: Bool { isZoned || !rangings.isEmpty }
}
