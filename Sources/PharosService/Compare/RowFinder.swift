import PharosReports

/// Finds the rows that an advert belongs to, by the rules by which the engine matches regions.
///
/// Worked out once for each pair of an observer and an identity; after that it is one lookup an advert.
struct RowFinder {
  /// What an advert of one identity at one observer belongs to.
  struct Match {
    /// The rows.
    var rows: [Int] = []
    /// The beacon's number among those that rooms are decided for, if its rooms are.
    var roomBeacon: Int?
  }

  /// The rows, in the order in which they were first heard.
  private(set) var rows: [ComparedRow] = []
  /// How many rows there would be beyond the bound.
  private(set) var overflow = 0
  /// How many beacons rooms are decided for.
  private(set) var roomBeacons: [BeaconID: Int] = [:]

  /// The most rows.
  static let mostRows = 20_000

  private struct Pair: Hashable {
    let observer: ObserverID
    let beacon: BeaconID
  }

  private struct Key: Hashable {
    let application: String
    let region: String
    let subject: SubjectID
  }

  private let compared: ComparedSite
  private let rules: Int
  private let hasKeys: Bool
  private var places: [Pair: Int] = [:]
  private var matches: [Match] = []
  private var numbers: [Key: Int] = [:]

  /// Makes a finder for a site, with a standing for each of so many rules in every row.
  init(compared: ComparedSite, rules: Int) {
    self.compared = compared
    self.rules = rules
    let regions = compared.site.applications.flatMap(\.regions)
    hasKeys =
      compared.site.beacons.contains(where: \.keyedByAddress) || regions.contains(where: \.keyedByAddress)
  }

  /// Whether some region asks about addresses.
  var takesAddresses: Bool {
    compared.site.applications.flatMap(\.regions).contains { region in
      if case .address = region.constraint { true } else { false }
    }
  }

  /// What an advert of an identity belongs to.
  mutating func match(_ beacon: BeaconID, address: DeviceAddress?, observer: ObserverID) -> Match {
    let isKeyable = hasKeys && beacon.kind != .address
    let keyed = isKeyable ? address.map { beacon.keyed(by: $0) } : nil
    let pair = Pair(observer: observer, beacon: keyed ?? beacon)
    if let place = places[pair] { return matches[place] }
    let match = makeMatch(plain: beacon, keyed: keyed, observer: observer)
    places[pair] = matches.count
    matches.append(match)
    return match
  }

  /// The row of a decision of the engine, if it is compared.
  func row(application: String, region: String, subject: SubjectID) -> Int? {
    numbers[Key(application: application, region: region, subject: subject)]
  }

  /// Changes a row in its place.
  mutating func withRow<Result>(_ row: Int, _ change: (inout ComparedRow) -> Result) -> Result {
    change(&rows[row])
  }

  private mutating func makeMatch(plain: BeaconID, keyed: BeaconID?, observer: ObserverID) -> Match {
    var match = Match()
    let isForced =
      keyed != nil && compared.site.beacons.contains { $0.keyedByAddress && $0.constraint.matches(plain) }
    var placed: BeaconID?
    for application in compared.site.applications {
      for region in application.regions where region.constraint.matches(plain) {
        let isKeyed = region.keyedByAddress || isForced
        guard let beacon = isKeyed && plain.kind != .address ? keyed : plain else { continue }
        switch region.subject {
        case .observer:
          add(region, of: application, .observer(observer), to: &match)
        case .beacon(let observers):
          guard observers?.contains(observer) ?? true else { continue }
          add(region, of: application, .beacon(beacon), to: &match)
        }
        placed = placed ?? beacon
      }
    }
    if placed == nil, compared.site.zones.contains(where: { $0.beacons.contains { $0.matches(plain) } }) {
      placed = isForced ? keyed : plain
    }
    if let placed, compared.roomNumbers[observer] != nil {
      match.roomBeacon = roomBeacons[placed] ?? roomBeacons.count
      roomBeacons[placed] = match.roomBeacon
    }
    return match
  }

  private mutating func add(
    _ region: Region,
    of application: Application,
    _ subject: SubjectID,
    to match: inout Match
  ) {
    let key = Key(application: application.identifier, region: region.identifier, subject: subject)
    if let row = numbers[key] {
      match.rows.append(row)
    } else if rows.count < RowFinder.mostRows {
      numbers[key] = rows.count
      match.rows.append(rows.count)
      rows.append(
        ComparedRow(
          application: application.identifier,
          region: region.identifier,
          subject: subject,
          rules: rules
        )
      )
    } else {
      overflow += 1
    }
  }
}
