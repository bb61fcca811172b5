/// A client of Pharos: its regions, what it ranges, and how many regions it may hold.
public struct Application: Hashable, Sendable {
  /// The application's identifier.
  public var identifier: String
  /// The regions it monitors, each identifier once.
  public var regions: [Region]
  /// What it ranges; there is no limit.
  public var ranging: [RangingRequest]
  /// A tree of regions of any size, of which the most relevant are monitored for each subject.
  public var rotation: [RegionNode]
  /// How many regions it may hold.
  public var regionLimit: Int

  /// Core Location's limit: 20 regions for each application.
  ///
  /// - Source: Apple, Region Monitoring and iBeacon, Location and Maps Programming Guide.
  public static let defaultRegionLimit = 20

  /// Makes an application.
  public init(
    identifier: String,
    regions: [Region] = [],
    ranging: [RangingRequest] = [],
    rotation: [RegionNode] = [],
    regionLimit: Int = Application.defaultRegionLimit
  ) {
    self.identifier = identifier
    self.regions = regions
    self.ranging = ranging
    self.rotation = rotation
    self.regionLimit = regionLimit
  }
}

/// Beacons that an application wants ranged once a second.
public struct RangingRequest: Hashable, Sendable {
  /// Which beacons.
  public var constraint: BeaconConstraint
  /// Whether the device address is part of a beacon's identity here (`key: mac`).
  public var keyedByAddress: Bool
  /// Whether to range only while a region of the same application with the same constraint is inside.
  public var whileInside: Bool

  /// Makes a request.
  public init(constraint: BeaconConstraint, keyedByAddress: Bool = false, whileInside: Bool = false) {
    self.constraint = constraint
    self.keyedByAddress = keyedByAddress
    self.whileInside = whileInside
  }
}

/// A node of a rotation tree (venue, floor, exhibit): a region and those that lie within it.
public struct RegionNode: Hashable, Sendable {
  /// The region of this node.
  public var region: Region
  /// The regions within it, the order being the tie-break of relevance.
  public var children: [RegionNode]

  /// Makes a node.
  public init(region: Region, children: [RegionNode] = []) {
    self.region = region
    self.children = children
  }
}

/// What an application asks of its region set while the engine runs.
public enum RegionChange: Hashable, Sendable {
  /// Monitor a region, replacing one with the same identifier; `assuming` is the state to start from.
  case startMonitoring(application: String, Region, assuming: RegionState = .unknown)
  /// Stop monitoring a region.
  case stopMonitoring(application: String, identifier: String)
  /// Replace the application's rotation tree.
  case setRotation(application: String, [RegionNode])
  /// Range beacons.
  case startRanging(application: String, RangingRequest)
  /// Stop ranging beacons.
  case stopRanging(application: String, BeaconConstraint)
  /// Answer once, with a state event, where a subject stands.
  case requestState(application: String, identifier: String, subject: SubjectID)
  /// Let an observer in that the site does not list, where only those that are listed count.
  case acceptObserver(ObserverID)
  /// Forget whatever is known of a subject, as if it had never been heard; what it was inside becomes unmonitored.
  case forget(SubjectTraces)
}

extension RegionChange {
  /// Whether a shard has to hear of the change: all do, but a question about an observer is answered by the one shard
  /// that the observer's reports reach.
  public func reaches(shard: Int, of count: Int) -> Bool {
    guard case .requestState(_, _, subject: .observer(let observer)) = self else { return true }
    return observer.shard(of: count) == shard
  }
}

/// Where a subject stands towards a region.
public enum RegionState: UInt8, Hashable, Sendable {
  /// Not determined yet.
  case unknown
  /// In it.
  case inside
  /// Not in it.
  case outside
  /// Not known, because the observers that could hear it are down.
  case unmonitored
}

/// The subject of a decision.
public enum SubjectID: Hashable, Comparable, Sendable {
  /// No subject: the decision is about an application or the server itself.
  case none
  /// An observer: a handset that enters a region.
  case observer(ObserverID)
  /// A beacon: a tag that gateways hear.
  case beacon(BeaconID)

  /// Orders subjects: none, observers, beacons.
  public static func < (left: SubjectID, right: SubjectID) -> Bool {
    switch (left, right) {
    case (.observer(let left), .observer(let right)): left < right
    case (.beacon(let left), .beacon(let right)): left < right
    default: left.rank < right.rank
    }
  }

  private var rank: Int {
    switch self {
    case .none: 0
    case .observer: 1
    case .beacon: 2
    }
  }
}

extension SubjectID: CustomStringConvertible {
  /// The observer's or beacon's text; empty for none.
  public var description: String {
    switch self {
    case .none: ""
    case .observer(let observer): observer.description
    case .beacon(let beacon): beacon.description
    }
  }
}
