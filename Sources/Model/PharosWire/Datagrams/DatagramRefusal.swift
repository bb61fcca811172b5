/// The reason for which a datagram was refused, or an element of one skipped: a small fixed set, so that it can be counted and put on a graph.
///
/// ``description`` explains each reason to the operator; ``WireFormat/advice(on:)`` names the formats too.
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
  /// It is signed with a key that is no longer valid.
  case expiredKey
  /// Its tag is not the one that its key makes of its bytes.
  case badSignature
  /// It was received before, or is so old that this can no longer be checked.
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

extension DatagramRefusal: CustomStringConvertible {
  /// A message for an operator: the fault of the datagram, what was expected, and the remedy.
  public var description: String {
    switch self {
    case .empty:
      "The datagram is empty. Expected at least one report; check what the gateway is configured to send."
    case .unrecognised:
      "The datagram begins like no format that Pharos knows. Choose one that it knows in the gateway's settings. Check that"
        + " no other program sends to this port or publishes on this MQTT topic."
    case .truncated:
      "The datagram is longer than the buffer that received it, so its end is lost. Let the gateway put"
        + " fewer reports into a datagram."
    case .unsupportedVersion:
      "The datagram has a version or a flag that this Pharos does not know. Update Pharos, or let the"
        + " gateway send version 1."
    case .tooShort:
      "The datagram ends in the middle of a field. It was cut on its way, or its sender miscounts;"
        + " compare what is sent with what arrives."
    case .lengthMismatch:
      "A length inside the datagram does not agree with the bytes that are there. It was cut or its"
        + " sender miscounts; compare what is sent with what arrives."
    case .checksum:
      "The checksum of the datagram is wrong. It was damaged on its way, or the sender computes another"
        + " sum than all preceding bytes modulo 256."
    case .noObserver:
      "The datagram does not name the observer of its reports. Put the gateway's identity into it: in"
        + " JSON, a field named observer."
    case .badIdentity:
      "An identity in the datagram is invalid. Expected a MAC of 6 octets, an EUI-64 of 8, a UUID, or for"
        + " observers a name of 1 to 64 bytes without control characters; correct it in the gateway's"
        + " settings."
    case .badField:
      "A field of the datagram holds a value that it cannot have: a level outside -128 to 127 dBm, a"
        + " negative age, an unknown code, or in JSON a list whose name occurs again. Compare the sender with the page"
        + " on its format in the documentation."
    case .badText:
      "The text of the datagram is malformed. Expected valid JSON in UTF-8, or the fields of an Ingics"
        + " line, with an even number of hexadecimal digits; look at it with pharos inspect --datagrams."
    case .nothingUnderstood:
      "The datagram is well formed but holds no report that Pharos understands. Compare its field names"
        + " with the page on JSON fields in the documentation, or send it to another port."
    case .notSigned:
      "The datagram is not signed, and its observer or this listener asks for signatures. Have a key made with"
        + " pharos observer add and give it to the gateway; for one that cannot sign, let it send to a listener of"
        + " its own with policy: allowlist."
    case .unknownKey:
      "The datagram is signed with a key that its observer does not have. Compare the key's id with pharos"
        + " observer list; have a new key made with pharos observer add if it was revoked."
    case .expiredKey:
      "The datagram is signed with a key that has expired. Put the observer's newer key into the gateway, or have one"
        + " made with pharos observer add."
    case .badSignature:
      "The signature is not that of the datagram. It was changed on its way, is forged, or the gateway has"
        + " another secret for this key's id: compare the fingerprints."
    case .replayed:
      "The datagram was received before, or is too old to check. A sender replays recorded datagrams, or the gateway"
        + " counts wrongly: check that its sequence and uptime grow as long as it runs."
    case .olderBoot:
      "The gateway has restarted since it sent the datagram. A sender replays recorded datagrams, or the"
        + " gateway does not keep its boot id: check that it grows with every start."
    case .notVouched:
      "The datagram reports for an observer that its sender may not speak for. Name the sender's radios with"
        + " pharos observer add ID --radio, or let each observer send for itself."
    case .notListed:
      "The datagram names an observer that is neither listed nor accepted. Put it into the site file, or accept it"
        + " with pharos observer accept."
    case .notKept:
      "The gateway restarts more often than its replay window can be stored. If it does not restart all the time,"
        + " check the disk of the data folder."
    }
  }
}
