public import PharosDocuments

/// The time in which an observer is proved to have been able to hear.
///
/// Silence is evidence only of an observer that is proved to have been able to hear. The failure of a gateway is noticed late,
/// or not at all if it is short: silence does not count until a later sign of life shows that the gateway was up, and that
/// sign does not make evidence of the time in which it was not.
public struct ListeningTime: Hashable, Sendable {
  /// The time through which it is known to have been alive; the distant future where it is assumed to be.
  public var provenThrough: Timestamp
  /// The total of the spans before it in which the observer was not able to hear.
  ///
  /// It only grows. Of a silence between two proofs, the growth in between is no evidence.
  public var deafTime: TimeSpan
  /// The time after which what it hears has come: no later silence counts yet.
  public var delay: TimeSpan

  /// Makes the listening time of an observer that is assumed to be alive.
  public init() { self.init(provenThrough: .distantFuture) }

  /// Makes a listening time.
  public init(
    provenThrough: Timestamp,
    deafTime: TimeSpan = .zero,
    delay: TimeSpan = .zero
  ) {
    self.provenThrough = provenThrough
    self.deafTime = deafTime
    self.delay = delay
  }

  /// Returns the part of a silence that is evidence.
  ///
  /// - Parameters:
  ///   - start: The time since which the observer has not heard a beacon.
  ///   - deafBefore: The value of ``deafTime`` then.
  ///   - instant: The present.
  /// - Returns: The time in which the observer could have heard the beacon and did not.
  package func silence(
    since start: Timestamp,
    deafTime deafBefore: TimeSpan,
    at instant: Timestamp
  ) -> TimeSpan {
    max(.zero, min(instant - delay, provenThrough) - start - (deafTime - deafBefore))
  }
}

extension ListeningTime: FieldStruct {
  /// Hands each field to a coder.
  public mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&provenThrough)
    try coder.code(&deafTime)
    try coder.code(&delay)
  }
}
