package import PharosDocuments
package import PharosModel

/// The time in which an observer is proved to have been able to hear.
///
/// Silence is evidence only of an observer that is proved to have been able to hear. The failure of a gateway is noticed late,
/// or not at all if it is short: silence does not count until a later sign of life shows that the gateway was up, and that
/// sign does not make evidence of the time in which it was not.
package struct ListeningTime: Equatable, Sendable {
  /// The time through which it is known to have been alive; the distant future where it is assumed to be.
  package var provenThrough = Timestamp.distantFuture
  /// The total of the spans before in which it was not able to hear.
  package var deafTime = TimeSpan.zero
  /// The time after which what it heard has come.
  package var delay = TimeSpan.zero

  package init() {}

  /// Returns the part of a silence that is evidence.
  ///
  /// - Parameters:
  ///   - start: The time since which the observer has not heard a beacon.
  ///   - deafBefore: The value of ``deafTime`` then.
  ///   - instant: The present.
  /// - Returns: The time in which the observer could have heard the beacon and did not.
  func silence(since start: Timestamp, deafTime deafBefore: TimeSpan, at instant: Timestamp) -> TimeSpan {
    max(.zero, min(instant - delay, provenThrough) - start - (deafTime - deafBefore))
  }
}

extension ListeningTime: FieldStruct {
  /// A value whose fields are still to be read.
  package static let unread = ListeningTime()

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&provenThrough)
    try coder.code(&deafTime)
    try coder.code(&delay)
  }
}
