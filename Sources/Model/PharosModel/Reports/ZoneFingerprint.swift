public import PharosDocuments

/// The radio fingerprint of a zone: the levels at which the observers of a site hear a beacon in it, learned from stays whose
/// zone is known.
///
/// - Source: the Gaussian model of a place's levels, as in Horus, M. Youssef and A. Agrawala, Proc. MobiSys (2005), 3.
public struct ZoneFingerprint: Hashable, Sendable {
  /// The levels of one observer.
  public struct Level: Hashable, Sendable {
    /// The observer.
    public var observer: ObserverID
    /// The mean level of the looks at which it hears the beacon.
    ///
    /// - Units: dBm.
    public var mean: Double
    /// The deviation of these levels.
    ///
    /// - Units: dB, one standard deviation.
    public var deviation: Double
    /// The share of the looks at which it hears the beacon, 0 to 1.
    public var heard: Double

    /// The permitted means: what receivers report, with any declared offset.
    ///
    /// - Units: dBm.
    public static let means = -200.0...100.0
    /// The permitted deviations.
    ///
    /// - Units: dB.
    public static let deviations = 0.0...100.0

    /// Makes a value of its parts.
    public init(observer: ObserverID, mean: Double, deviation: Double, heard: Double) {
      self.observer = observer
      self.mean = mean
      self.deviation = deviation
      self.heard = heard
    }
  }

  /// The observers that hear a beacon in the zone, each once, by their identities.
  public var levels: [Level]
  /// The number of independent looks at the levels: successive looks at one posture count as one.
  public var looks: Double
  /// The end of the last stay.
  public var learnedAt: Timestamp

  /// The maximum number of observers.
  public static let maximumLevels = 256
  /// The permitted numbers of looks.
  public static let lookCounts = 0.0...1e9

  /// Makes a fingerprint of its parts.
  public init(levels: [Level], looks: Double, learnedAt: Timestamp) {
    self.levels = levels
    self.looks = looks
    self.learnedAt = learnedAt
  }
}

extension ZoneFingerprint.Level: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let level = Self(
      observer: try coder.field(value().observer),
      mean: try coder.field(value().mean),
      deviation: try coder.field(value().deviation),
      heard: try coder.field(value().heard)
    )
    let isGood = means.contains(level.mean) && deviations.contains(level.deviation)
    try coder.check(isGood && (0...1).contains(level.heard), "a level of a fingerprint")
    return level
  }
}

extension ZoneFingerprint: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let fingerprint = Self(
      levels: try coder.field(value().levels),
      looks: try coder.field(value().looks),
      learnedAt: try coder.field(value().learnedAt)
    )
    let levels = fingerprint.levels
    let isSorted = zip(levels, levels.dropFirst()).allSatisfy { $0.observer < $1.observer }
    try coder.check(levels.count <= maximumLevels && isSorted, "the observers of a fingerprint")
    try coder.check(lookCounts.contains(fingerprint.looks), "the looks of a fingerprint")
    return fingerprint
  }
}
