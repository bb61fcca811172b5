public import PharosModel

/// A condition that a ``RegionMonitor`` monitors: beacons, or an area of the Earth.
public protocol MonitorCondition: Hashable, Sendable {
  /// The condition as a region has it.
  var condition: Region.Condition { get }
}

extension Region.Condition: MonitorCondition {
  /// The condition itself.
  public var condition: Region.Condition { self }
}

extension BeaconConstraint: MonitorCondition {
  /// The beacons, as a region has them.
  public var condition: Region.Condition { .beacons(self) }
}

extension Geofence: MonitorCondition {
  /// The area, as a region has it.
  public var condition: Region.Condition { .geofence(self) }
}

extension RegionMonitor {
  /// The beacons of one UUID, as `CLMonitor.BeaconIdentityCondition` names them.
  public struct BeaconIdentityCondition: MonitorCondition {
    /// The proximity UUID.
    public var uuid: UUID128
    /// The major number; nil for all.
    public var major: UInt16?
    /// The minor number; nil for all.
    public var minor: UInt16?

    /// Creates a condition.
    public init(uuid: UUID128, major: UInt16? = nil, minor: UInt16? = nil) {
      self.uuid = uuid
      self.major = major
      self.minor = minor
    }

    /// The beacons, as a region has them.
    public var condition: Region.Condition { .beacons(.proximity(uuid, major: major, minor: minor)) }
  }

  /// A circle on the Earth, as `CLMonitor.CircularGeographicCondition` has it.
  public struct CircularGeographicCondition: MonitorCondition {
    /// The center.
    public var center: Geofence.Position
    /// The radius.
    ///
    /// - Units: metres, above 0 and at most 100 km.
    public var radius: Double
    /// The floor, 0 for the ground floor; nil for all.
    public var level: Int?
    /// The heights between which it lies; nil for all.
    public var altitude: Geofence.AltitudeRange?

    /// Creates a condition.
    public init(
      center: Geofence.Position,
      radius: Double,
      level: Int? = nil,
      altitude: Geofence.AltitudeRange? = nil
    ) {
      self.center = center
      self.radius = radius
      self.level = level
      self.altitude = altitude
    }

    /// The circle, as a region has it.
    public var condition: Region.Condition {
      let shape = Geofence.Shape.circle(center: center, radius: Meters(radius))
      return .geofence(Geofence(shape: shape, level: level, altitude: altitude))
    }
  }

  /// A polygon on the Earth, for which Core Location has no condition.
  public struct PolygonGeographicCondition: MonitorCondition {
    /// The outlines and holes, as `Geofence.Shape.polygon` has them.
    public var rings: [[Geofence.Position]]
    /// The floor, 0 for the ground floor; nil for all.
    public var level: Int?
    /// The heights between which it lies; nil for all.
    public var altitude: Geofence.AltitudeRange?

    /// Creates a condition of one outline, whose last corner is joined to its first.
    public init(corners: [Geofence.Position], level: Int? = nil, altitude: Geofence.AltitudeRange? = nil) {
      rings = [corners]
      self.level = level
      self.altitude = altitude
    }

    /// The polygon, as a region has it.
    public var condition: Region.Condition {
      .geofence(Geofence(shape: .polygon(rings: rings), level: level, altitude: altitude))
    }
  }
}
