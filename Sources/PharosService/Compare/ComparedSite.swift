import PharosComparators
import PharosReports

/// What everybody's rules are asked about: the regions and rooms of a site, or what a capture suggests in their place.
struct ComparedSite {
  /// The site that Pharos decides by: every silence that was fixed is learned.
  let site: Site
  /// The site as it was given, if it fixes the silence of some region.
  let configured: Site?
  /// The regions whose silence the given site fixes.
  let fixedRegions: [String]
  /// Whether the regions are the site's own, and not one for each beacon.
  let hasOwnRegions: Bool
  /// Whether the rooms are the site's zones, and not one for each observer.
  let hasOwnRooms: Bool
  /// How many beacons were heard but are not compared.
  let leftOut: Int
  /// The rooms, by number; empty where there is nothing to tell apart.
  let rooms: [String]
  /// The observers that stand in rooms, by number.
  let roomObservers: [ComparatorObserver]
  /// The number of each observer that stands in a room.
  let roomNumbers: [ObserverID: Int32]

  /// The most beacons that get a region of their own.
  static let mostBeacons = 500
  /// The most observers that get a room of their own.
  static let mostRooms = 64
  /// The application that the regions belong to where there is no site.
  static let application = "all"

  /// Chooses what to compare.
  ///
  /// - Parameters:
  ///   - given: The site that was named, or that a recording brings.
  ///   - survey: What the captures hold.
  init(given: Site?, survey: CaptureSurvey) {
    var site = given ?? Site()
    let ranked = survey.beacons.sorted { ($1.value.adverts, $0.key) < ($0.value.adverts, $1.key) }
    hasOwnRegions = site.applications.contains { !$0.regions.isEmpty }
    if !hasOwnRegions {
      site.applications = [ComparedSite.application(for: ranked.map(\.key))]
      leftOut = max(0, ranked.count - ComparedSite.mostBeacons)
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

  private static func application(for beacons: [BeaconID]) -> Application {
    let regions = beacons.prefix(mostBeacons).map { beacon in
      Region(
        identifier: beacon.description,
        constraint: constraint(of: beacon),
        subject: .beacon(observers: nil)
      )
    }
    return Application(identifier: application, regions: regions, regionLimit: mostBeacons)
  }

  private static func constraint(of beacon: BeaconID) -> BeaconConstraint {
    if let uuid = beacon.uuid { return .proximity(uuid, major: beacon.major, minor: beacon.minor) }
    if let namespace = beacon.namespace { return .eddystone(namespace, instance: beacon.instance) }
    return .address(beacon.address ?? DeviceAddress(bits: 0, kind: .unknown))
  }

  /// A room for each observer, those with the most reports if there are too many.
  private static func zones(for observers: [ObserverID: Int]) -> [Zone] {
    let ranked = observers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(mostRooms)
    return ranked.map(\.key).sorted().map { Zone(identifier: $0.description, observers: [$0]) }
  }
}

extension PresencePolicy {
  /// Whether silence must last a fixed time.
  fileprivate var hasFixedSilence: Bool {
    if case .fixed = silence { true } else { false }
  }
}
