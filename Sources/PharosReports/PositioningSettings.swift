/// How a site wants its handsets and tags located; see `positioning:` in the site file.
public struct PositioningSettings: Hashable, Sendable {
  /// How far apart fixes of one subject are at least.
  public var interval: TimeSpan
  /// How long a fix waits for what is still on its way.
  public var lag: TimeSpan
  /// How many places are weighed against each other for one subject at most, or nil for the usual number.
  public var particles: Int?
  /// The beacons that are located as tags; empty means all that some region asks about.
  public var tags: [BeaconConstraint]

  /// How far apart fixes are unless a site says otherwise: once a second, as Core Location gives them.
  public static let defaultInterval = TimeSpan.seconds(1)
  /// How long a fix waits unless a site says otherwise.
  ///
  /// 1 s: of the lines of handsets that were recorded, 99 in 100 came no later.
  public static let defaultLag = TimeSpan.seconds(1)
  /// How far apart fixes may be.
  ///
  /// From four a second, more than steps have, to one an hour.
  public static let intervals = TimeSpan.milliseconds(250)...TimeSpan.minutes(60)
  /// The permitted waiting times of a fix: after more than 30 s, a location is no longer of interest.
  public static let lags = TimeSpan.zero...TimeSpan.seconds(30)
  /// How many places may be weighed: fewer lose a subject at the first corner, more need over 64 KiB a subject.
  public static let particleCounts = 50...2_000

  /// Makes settings; those that are left out are the usual ones.
  public init(
    interval: TimeSpan = PositioningSettings.defaultInterval,
    lag: TimeSpan = PositioningSettings.defaultLag,
    particles: Int? = nil,
    tags: [BeaconConstraint] = []
  ) {
    self.interval = interval
    self.lag = lag
    self.particles = particles
    self.tags = tags
  }
}

extension PositioningSettings: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    interval.write(to: &writer)
    lag.write(to: &writer)
    writer.write(particles.map { UInt64(clamping: $0) })
    writer.write(tags)
  }

  /// Reads the value.
  ///
  /// - Throws: that the bytes are none, or name what no site may ask for.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let interval = try TimeSpan(from: &reader)
    let lag = try TimeSpan(from: &reader)
    let particles = try reader.optional(UInt64.self).map { Int(clamping: $0) }
    guard PositioningSettings.intervals.contains(interval), PositioningSettings.lags.contains(lag) else {
      throw reader.failure(.outOfRange(field: "a time of positioning"))
    }
    guard particles.map(PositioningSettings.particleCounts.contains) ?? true else {
      throw reader.failure(.outOfRange(field: "a number of particles"))
    }
    self.init(
      interval: interval,
      lag: lag,
      particles: particles,
      tags: try reader.list(BeaconConstraint.self)
    )
  }
}
