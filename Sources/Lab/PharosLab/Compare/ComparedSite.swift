import PharosComparators
import PharosModel
import PharosNarration

/// The regions and rooms that all rules decide about: those of a site, or those that a capture suggests in their place.
struct ComparedSite {
  /// The site that Pharos decides by: every silence that was fixed is learned.
  let site: Site
  /// The site as it was given, if it fixes the silence of some region.
  let configured: Site?
  /// The edited site, if one is compared with the given one.
  let edited: Site?
  /// The regions that only one of the two sites has, which are not compared.
  let unpairedRegions: [String]
  /// The regions whose silence the given site fixes.
  let fixedRegions: [String]
  /// Indicates whether the regions are the site's own, and not one for each beacon.
  let hasOwnRegions: Bool
  /// Indicates whether the rooms are the site's zones, and not one for each observer.
  let hasOwnRooms: Bool
  /// The number of beacons beyond ``maximumBeacons``, which are not compared; 0 if the regions are the site's own.
  let leftOut: Int
  /// The rooms, by number; empty where there is nothing to tell apart.
  let rooms: [String]
  /// The observers that stand in rooms, by number.
  let roomObservers: [ComparatorObserver]
  /// The number of each observer that stands in a room.
  let roomNumbers: [ObserverID: Int32]

  /// The most beacons that get a region of their own.
  static let maximumBeacons = 500
  /// The most observers that get a room of their own.
  static let maximumRooms = 64
  /// The application that the regions belong to where there is no site.
  static let application = "all"

  /// Chooses what to compare.
  ///
  /// - Parameters:
  ///   - given: The site that was named, or that a recording brings.
  ///   - edited: The edited site, if one is compared with it.
  ///   - survey: The survey of the captures.
  init(given: Site?, edited: Site? = nil, survey: CaptureSurvey) {
    unpairedRegions = edited.map { ComparedSite.unpairedRegions(of: given ?? Site(), $0) } ?? []
    var site = given ?? Site()
    let ranked = survey.beacons.sorted { ($1.value.adverts, $0.key) < ($0.value.adverts, $1.key) }
    hasOwnRegions = site.applications.contains { !$0.regions.isEmpty }
    if !hasOwnRegions {
      site.applications = [ComparedSite.application(for: ranked.map(\.key))]
      leftOut = max(0, ranked.count - ComparedSite.maximumBeacons)
    } else {
      leftOut = 0
    }
    hasOwnRooms = site.zones.count > 1
    if !hasOwnRooms, ranked.contains(where: { $0.value.isShared }) {
      site.zones = ComparedSite.zones(for: survey.observers)
    }
    var numbers: [ObserverID: Int32] = [:]
    var observers: [ComparatorObserver] = []
    for (room, zone) in site.zones.enumerated() where site.zones.count > 1 {
      for observer in zone.observers where numbers[observer] == nil {
        numbers[observer] = Int32(observers.count)
        observers.append(ComparatorObserver(room: Int32(room), floor: zone.floor ?? 0))
      }
    }
    var edited = edited
    if edited?.applications.contains(where: { !$0.regions.isEmpty }) == false, !hasOwnRegions {
      edited?.applications = site.applications
    }
    if edited?.zones.isEmpty == true, !hasOwnRooms { edited?.zones = site.zones }
    self.edited = edited
    rooms = observers.isEmpty ? [] : site.zones.map { $0.name ?? $0.identifier }
    roomObservers = observers
    roomNumbers = numbers
    fixedRegions = site.applications.flatMap(\.regions).filter(\.presence.hasFixedSilence).map(\.identifier)
    configured = fixedRegions.isEmpty ? nil : site
    for application in site.applications.indices {
      for region in site.applications[application].regions.indices
      where site.applications[application].regions[region].presence.hasFixedSilence {
        site.applications[application].regions[region].presence.silence = .adaptive
      }
    }
    self.site = site
  }

  /// The regions that one of two sites has, by application and identifier, in the order of their names.
  private static func unpairedRegions(of site: Site, _ edited: Site) -> [String] {
    func names(_ site: Site) -> Set<String> {
      Set(site.applications.flatMap { app in app.regions.map { "\(app.identifier)/\($0.identifier)" } })
    }
    return names(site).symmetricDifference(names(edited)).sorted()
  }

  private static func application(for beacons: [BeaconID]) -> Application {
    let regions = beacons.prefix(maximumBeacons).map { beacon in
      Region(
        identifier: beacon.description,
        constraint: constraint(of: beacon),
        subject: .beacon(observers: nil)
      )
    }
    return Application(identifier: application, regions: regions, regionLimit: maximumBeacons)
  }

  private static func constraint(of beacon: BeaconID) -> BeaconConstraint {
    if let uuid = beacon.uuid { return .proximity(uuid, major: beacon.major, minor: beacon.minor) }
    if let namespace = beacon.namespace { return .eddystone(namespace, instance: beacon.instance) }
    return .address(beacon.address ?? DeviceAddress(bits: 0, kind: .unknown))
  }

  /// A room for each observer, those with the most reports if there are too many.
  private static func zones(for observers: [ObserverID: Int]) -> [Zone] {
    let ranked = observers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(maximumRooms)
    return ranked.map(\.key).sorted().map { Zone(identifier: $0.description, observers: [$0]) }
  }
}

extension PresencePolicy {
  /// Indicates whether silence must last a fixed time.
  fileprivate var hasFixedSilence: Bool {
    if case .fixed = silence { true } else { false }
  }
}

/// Finds the rows that an advert belongs to, by the rules by which the engine matches regions.
///
/// Worked out once for each pair of an observer and an identity; after that it is one lookup an advert.
struct RowFinder {
  /// The rows and the room beacon that an advert of one identity at one observer belongs to.
  struct Match {
    /// The rows.
    var rows: [Int] = []
    /// The beacon's number among those that rooms are decided for, if its rooms are.
    var roomBeacon: Int?
  }

  /// The rows, in the order in which they were first heard.
  private(set) var rows: [ComparedRow] = []
  /// The number of matches that were dropped because there were ``maximumRows`` rows.
  private(set) var overflow = 0
  /// The numbers of the beacons that rooms are decided for.
  private(set) var roomBeacons: [BeaconID: Int] = [:]

  /// The most rows.
  static let maximumRows = 20_000

  private let compared: ComparedSite
  private let rules: Int
  private let hasKeys: Bool
  private var places: [TrackKey: Int] = [:]
  private var matches: [Match] = []
  private var numbers: [RowKey: Int] = [:]

  /// Makes a finder for a site, with a standing for each of so many rules in every row.
  init(compared: ComparedSite, rules: Int) {
    self.compared = compared
    self.rules = rules
    let regions = compared.site.applications.flatMap(\.regions)
    hasKeys =
      compared.site.beacons.contains(where: \.keyedByAddress) || regions.contains(where: \.keyedByAddress)
  }

  /// Indicates whether any region asks about addresses.
  var matchesAddresses: Bool {
    compared.site.applications.flatMap(\.regions).contains { region in
      if case .address = region.constraint { true } else { false }
    }
  }

  /// Returns the rows and the room beacon that an advert of an identity belongs to.
  mutating func match(_ beacon: BeaconID, address: DeviceAddress?, observer: ObserverID) -> Match {
    let isKeyable = hasKeys && beacon.kind != .address
    let keyed = isKeyable ? address.map { beacon.keyed(by: $0) } : nil
    let pair = TrackKey(observer: observer, beacon: keyed ?? beacon)
    if let place = places[pair] { return matches[place] }
    let match = makeMatch(plain: beacon, keyed: keyed, observer: observer)
    places[pair] = matches.count
    matches.append(match)
    return match
  }

  /// The row of a decision of the engine, if it is compared.
  func row(_ key: RowKey) -> Int? { numbers[key] }

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
      for region in application.regions where region.constraint?.matches(plain) == true {
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
    let name = RegionKey(application: application.identifier, region: region.identifier)
    let key = RowKey(region: name, subject: subject)
    if let row = numbers[key] {
      match.rows.append(row)
    } else if rows.count < RowFinder.maximumRows {
      numbers[key] = rows.count
      match.rows.append(rows.count)
      rows.append(ComparedRow(key, rules: rules))
    } else {
      overflow += 1
    }
  }
}

/// One thing that every rule decides about: a region and a subject.
struct ComparedRow {
  /// A rule's change of mind.
  struct Change {
    /// The time at which the rule reported the change.
    var time: Timestamp
    /// The state from that time on.
    var state: RegionState
    /// For an exit that the rule took back within ten minutes, how soon.
    var cameBackAfter: TimeSpan?
  }

  /// The state and the counts of one rule for a row.
  struct Standing {
    /// Indicates whether a visit is open.
    var isInside = false
    /// The time of the rule's last exit; nil while a visit is open and before the first exit.
    var leftAt: Timestamp?
    /// The number of exits that the rule reported.
    var exits = 0
    /// The number of exits that the rule took back within ten minutes.
    var returns = 0
    /// The changes of state that are kept for drawing.
    var changes: [Change] = []
    /// Indicates whether changes of state were dropped because a bound was reached.
    var isCut = false
  }

  /// The region and the subject.
  let key: RowKey
  /// The number of adverts.
  var adverts = 0
  /// The R of the last one.
  var lastHeard: Timestamp?
  /// The standing of each rule; Pharos is the first.
  var standings: [Standing]
  /// The columns of a picture in which there is an advert.
  var columns: ColumnSet

  /// The most changes of mind that are kept for drawing, for each rule.
  static let maximumChanges = 2_000

  /// Makes a row of which nothing was heard yet.
  init(_ key: RowKey, rules: Int) {
    self.key = key
    standings = Array(repeating: Standing(), count: rules)
    columns = ColumnSet()
  }

  /// The number of exits that were taken back, over all rules.
  var flaps: Int { standings.reduce(0) { $0 + $1.returns } }
  /// The number of exits, over all rules.
  var exits: Int { standings.reduce(0) { $0 + $1.exits } }
}

/// A set of the columns of a picture that are not empty.
struct ColumnSet {
  /// The number of columns.
  static let count = 1_024

  private var words = [UInt64](repeating: 0, count: ColumnSet.count / 64)

  /// Marks the column at a share of the width from 0 to 1.
  mutating func mark(at share: Double) {
    let column = min(ColumnSet.count - 1, max(0, Int(share * Double(ColumnSet.count))))
    words[column / 64] |= 1 << UInt64(column % 64)
  }

  /// The marked columns in their order.
  var marked: [Int] { (0..<ColumnSet.count).filter { words[$0 / 64] >> UInt64($0 % 64) & 1 == 1 } }
}
