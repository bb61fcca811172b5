public import PharosReports

/// One floor of a building: its plane, what one can walk on, and what stands where.
///
/// All places are metres on ``plane``.
public struct Floor: Hashable, Sendable {
  /// The number of the floor: 0 is the ground floor, −1 the one below it.
  public var level: Int
  /// What people call it: `Ground floor`, `EG`, `B1`; the first is the one to show.
  public var names: [String]
  /// What its metres are measured on.
  public var plane: FloorPlane
  /// Its picture, if there is one.
  public var plan: FloorPlan?
  /// Where one can walk; empty if that is not known.
  public var walkable: [Area]
  /// Where one cannot walk within what is walkable: shops that are closed, columns, exhibits.
  public var obstacles: [Area]
  /// What stops people and weakens radio.
  public var walls: Walls
  /// Where the outdoors begins.
  public var entrances: [Entrance]
  /// The beacons that hang here.
  public var beacons: [PlacedBeacon]
  /// The gateways that hang here.
  public var observers: [PlacedObserver]
  /// The Wi-Fi access points that hang here.
  public var accessPoints: [PlacedAccessPoint]

  /// Makes a floor.
  public init(
    level: Int,
    names: [String] = [],
    plane: FloorPlane,
    plan: FloorPlan? = nil,
    walkable: [Area] = [],
    obstacles: [Area] = [],
    walls: Walls = [],
    entrances: [Entrance] = [],
    beacons: [PlacedBeacon] = [],
    observers: [PlacedObserver] = [],
    accessPoints: [PlacedAccessPoint] = []
  ) {
    self.level = level
    self.names = names
    self.plane = plane
    self.plan = plan
    self.walkable = walkable
    self.obstacles = obstacles
    self.walls = walls
    self.entrances = entrances
    self.beacons = beacons
    self.observers = observers
    self.accessPoints = accessPoints
  }

  /// The floors that a building may have, numbered.
  public static let levels = -20...200

  /// What people call it, or its number.
  public var name: String { names.first ?? "\(level)" }
}

/// A door to the outdoors, where satellites take over.
public struct Entrance: Hashable, Sendable {
  /// What it is called.
  public var identifier: String
  /// Where it is.
  public var point: Point

  /// Makes an entrance.
  public init(identifier: String, point: Point) {
    self.identifier = identifier
    self.point = point
  }
}

/// A beacon that hangs at a known place.
public struct PlacedBeacon: Hashable, Sendable {
  /// Its identity, with the address where that is part of the key.
  public var beacon: BeaconID
  /// Where it hangs.
  public var point: Point

  /// Makes a placed beacon.
  public init(_ beacon: BeaconID, at point: Point) {
    self.beacon = beacon
    self.point = point
  }
}

/// An observer that hangs at a known place.
public struct PlacedObserver: Hashable, Sendable {
  /// Its identity.
  public var observer: ObserverID
  /// Where it hangs.
  public var point: Point

  /// Makes a placed observer.
  public init(_ observer: ObserverID, at point: Point) {
    self.observer = observer
    self.point = point
  }
}

/// A Wi-Fi access point that hangs at a known place.
public struct PlacedAccessPoint: Hashable, Sendable {
  /// The address that its network is known by.
  public var bssid: DeviceAddress
  /// Where it hangs.
  public var point: Point

  /// Makes a placed access point.
  public init(_ bssid: DeviceAddress, at point: Point) {
    self.bssid = bssid
    self.point = point
  }
}
