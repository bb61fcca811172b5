/// The reason for which a datagram was refused: a small fixed set, so that it can be counted and put on a graph.
///
/// ``description``, in a file of its own, explains each reason to the operator.
public enum DatagramRefusal: UInt8, CaseIterable, Error, Hashable, Sendable {
  /// There is nothing in it.
  case empty
  /// Its first bytes belong to no format.
  case unrecognised
  /// It was longer than the buffer that received it.
  case truncated
  /// Its version, or a flag that changes its meaning, is newer than this program.
  case unsupportedVersion
  /// It ends inside a field.
  case tooShort
  /// A length inside it contradicts the bytes that are there.
  case lengthMismatch
  /// Its checksum is wrong.
  case checksum
  /// It does not say who heard what it reports.
  case noObserver
  /// The identity of an observer, a beacon or a device in it cannot be one.
  case badIdentity
  /// A field holds a value that it cannot have.
  case badField
  /// Its text is malformed: JSON, UTF-8 or hexadecimal digits.
  case badText
  /// It is well formed, but nothing in it is a report.
  case nothingUnderstood
  /// It must be signed and is not.
  case notSigned
  /// It is signed with a key that its observer does not have.
  case unknownKey
  /// It is signed with a key that is good no more.
  case expiredKey
  /// Its tag is not the one that its key makes of its bytes.
  case badSignature
  /// It was taken before, or is so old that this cannot be told any more.
  case replayed
  /// Its sender has restarted since it sent the datagram.
  case olderBoot
  /// It reports for an observer that its sender may not speak for.
  case notVouched
  /// It names an observer that is neither listed nor accepted.
  case notListed
  /// Its sender has restarted, and the server cannot store this quickly enough.
  case notKept

  /// The name in metrics and logs.
  public var name: String {
    switch self {
    case .empty: "empty"
    case .unrecognised: "unrecognised"
    case .truncated: "truncated"
    case .unsupportedVersion: "unsupported_version"
    case .tooShort: "too_short"
    case .lengthMismatch: "length_mismatch"
    case .checksum: "checksum"
    case .noObserver: "no_observer"
    case .badIdentity: "bad_identity"
    case .badField: "bad_field"
    case .badText: "bad_text"
    case .nothingUnderstood: "nothing_understood"
    case .notSigned: "not_signed"
    case .unknownKey: "unknown_key"
    case .expiredKey: "expired_key"
    case .badSignature: "bad_signature"
    case .replayed: "replayed"
    case .olderBoot: "older_boot"
    case .notVouched: "not_vouched"
    case .notListed: "not_listed"
    case .notKept: "not_kept"
    }
  }
}
