import PharosReports

/// Which decisions are explained: those about one observer, one beacon, one region, or what any of these leave.
struct ExplainFilter {
  /// The observer, if one was named.
  private(set) var observer: ObserverID?
  /// The beacon, if one was named.
  private(set) var beacon: BeaconID?
  /// The region or zone, if one was named.
  private(set) var region: String?

  private let zonesOfObserver: Set<String>
  private let deaf: Set<RegionKey>
  private let tracks: [TrackKey]

  /// Finds what the words of the command line mean among all that the captures hold.
  ///
  /// - Throws: a failure that lists the nearest matches of a word that means nothing here.
  init(_ options: ExplainRunner.Options, in findings: Findings) throws(CommandFailure) {
    let names = Vocabulary(findings)
    observer = try options.observerFilter.map { (text) throws(CommandFailure) in try names.observer(text) }
    beacon = try options.beacon.map { (text) throws(CommandFailure) in try names.beacon(text) }
    region = try options.region.map { (text) throws(CommandFailure) in try names.region(text) }
    var zones: Set<String> = []
    var deaf: Set<RegionKey> = []
    if let observer {
      zones = Set(findings.site.zones.filter { $0.observers.contains(observer) }.map(\.identifier))
      for application in findings.site.applications {
        for region in application.regions {
          guard case .beacon(let observers?) = region.subject, !observers.contains(observer) else { continue }
          deaf.insert(RegionKey(application: application.identifier, region: region.identifier))
        }
      }
    }
    zonesOfObserver = zones
    self.deaf = deaf
    tracks = findings.tracks.keys.filter { [observer, beacon] key in
      (observer ?? key.observer) == key.observer && (beacon ?? key.beacon) == key.beacon
    }
    .sorted()
  }

  /// Whether nothing was named.
  var isOpen: Bool { observer == nil && beacon == nil && region == nil }

  /// The tracks that are left, in order.
  func tracks(in findings: Findings) -> [TrackKey] {
    guard let region else { return tracks }
    return tracks.filter { key in
      findings.tracks[key]?.regions.keys.contains { $0.region == region } ?? false
    }
  }

  /// Whether a decision is left.
  func takes(_ decision: Decision) -> Bool {
    switch decision.kind {
    case .online, .offline, .restarted, .quarantined:
      guard let who = decision.observer, region == nil || beacon != nil else { return region == nil }
      return tracks.contains { $0.observer == who } || (beacon == nil && observer == who) || isOpen
    case .clock, .refused:
      return true
    case .zone:
      guard beacon == nil || decision.beacon == beacon else { return false }
      guard region.map(decision.regions.contains) ?? true else { return false }
      return observer == nil || decision.regions.contains(where: zonesOfObserver.contains)
    case .enter, .exit, .state, .unmonitored, .holdExceeded:
      guard beacon == nil || decision.beacon == beacon else { return false }
      guard region.map(decision.regions.contains) ?? true else { return false }
      return observer == nil || isHeard(decision)
    }
  }

  /// Whether the observer has a say in a decision: it is about the observer, or the observer counts for the region.
  private func isHeard(_ decision: Decision) -> Bool {
    if case .observer(let subject) = decision.subject { return subject == observer }
    return decision.observer == observer || decision.rows.contains { !deaf.contains($0.region) }
  }
}
