/// The reasons for which a call to NATS fails, each with what the person who must act has to know.
package enum NATSError: Error, Equatable, CustomStringConvertible {
  /// The settings cannot be used.
  case settings(String)
  /// None of the servers can be reached.
  case unreachable(servers: [String], reason: String)
  /// A server refused the name, the password or the key, or the account may not do what was asked.
  case refused(String, reason: String)
  /// No server answered: a leader is being elected, the connection is interrupted, or the time is over.
  ///
  /// The call may have had its effect. A publication is repeated with the same id, so that it is stored once.
  case unavailable(String, reason: String)
  /// The limit of bytes of a stream, or of the servers' storage, is reached.
  case full(String, reason: String)
  /// Another message was stored on the subject since the sequence that was expected.
  case wrongLastSequence(String)
  /// Another client changed or created the entry of a bucket, or the object, in between.
  case conflict(String)
  /// What was asked for does not exist.
  case notFound(String)
  /// A stream exists with another configuration; each difference has the setting, what it is and what is wanted.
  case differs(stream: String, differences: [String])
  /// The stream begins behind the sequence that a reader wants: its messages were trimmed.
  case trimmed(stream: String, wanted: UInt64, first: UInt64)
  /// Messages in the middle of a stream do not exist.
  case missing(stream: String, from: UInt64, through: UInt64)
  /// The stream ends before what a reader has read: it was created again, or it lost acknowledged messages.
  case shortened(stream: String, wanted: UInt64, last: UInt64)
  /// The stream has another message at a sequence that was read: it was created again, or it lost acknowledged messages.
  case changed(stream: String, sequence: UInt64)
  /// The bytes of an object are not those that were stored.
  case damaged(object: String, reason: String)
  /// A message is longer than the servers allow, in bytes.
  case tooLong(String, bytes: Int, maximum: Int64)
  /// The connection, or what was made with it, has been closed.
  case closed
  /// Any other failure, with the text of the library or the server and the code of JetStream, 0 without one.
  case other(String, text: String, code: Int)

  /// Indicates whether the same call may succeed a moment later.
  package var isTransient: Bool {
    if case .unavailable = self { true } else { false }
  }

  package var description: String {
    switch self {
    case .settings(let text): "the settings of NATS cannot be used: \(text)"
    case .unreachable(let servers, let reason):
      "no NATS server can be reached at \(servers.joined(separator: ", ")) (\(reason)). Start nats-server there, or correct "
        + "the addresses."
    case .refused(let what, let reason):
      "NATS refused \(what) (\(reason)). Check user, password, key or credentials, and the permissions of the account."
    case .unavailable(let what, let reason):
      "NATS did not answer \(what) (\(reason)). It is tried again; if it lasts, see whether most of the servers run and reach "
        + "each other."
    case .full(let what, let reason):
      "NATS has no room for \(what) (\(reason)). Raise the stream's limit or the servers' max_file_store, or wait for the next "
        + "checkpoint, which trims the stream."
    case .wrongLastSequence(let what): "another message was stored before \(what)"
    case .conflict(let what): "\(what) was changed by another client in between"
    case .notFound(let what): "\(what) does not exist in NATS"
    case .differs(let stream, let differences):
      "the stream \(stream) exists with another configuration: \(differences.joined(separator: "; ")). Change it with "
        + "`nats stream edit`, or the settings here."
    case .trimmed(let stream, let wanted, let first):
      "the stream \(stream) begins at \(first), behind the wanted message \(wanted): start from a checkpoint"
    case .missing(let stream, let from, let through):
      "the stream \(stream) has no messages \(from) to \(through), in its middle: start from a checkpoint behind them, and keep "
        + "the servers' folders for a report"
    case .shortened(let stream, let wanted, let last):
      "the stream \(stream) ends at \(last), before the wanted message \(wanted): it was created again or lost messages. Start "
        + "from a checkpoint."
    case .changed(let stream, let sequence):
      "the stream \(stream) has another message \(sequence) than the one that was read: it was created again or lost messages. "
        + "Start from a checkpoint."
    case .damaged(let object, let reason): "the object \(object) is damaged: \(reason)"
    case .tooLong(let what, let bytes, let maximum):
      "\(what) has \(bytes) bytes, and the NATS servers accept \(maximum): raise max_payload"
    case .closed: "the connection to NATS is closed"
    case .other(let what, let text, let code):
      "NATS failed at \(what): \(text)\(code == 0 ? "" : " (code \(code))")"
    }
  }
}

#if NATS
import CNats
import Foundation

extension NATSError {
  /// The codes of JetStream that are distinguished (`server/errors.json` of nats-server).
  private enum Code {
    static let notFound: Set<UInt32> = [10_014, 10_037, 10_043, 10_059]
    static let unavailable: Set<UInt32> = [10_004, 10_008, 10_009, 10_041]
    static let noRoom: Set<UInt32> = [10_002, 10_023, 10_028, 10_047]
    static let wrongLastSequence: Set<UInt32> = [10_071, 10_164]
    static let storeFailed: UInt32 = 10_077
    static let disabled: Set<UInt32> = [10_039, 10_076]
  }

  /// Makes the error of a call; without a text, the library's for the last error of this thread.
  init(_ status: natsStatus, _ code: jsErrCode = jsErrCode(0), at what: String, text: String? = nil) {
    var given = text ?? nats_GetLastError(nil).map { String(cString: $0) } ?? ""
    // The library begins with the place in its source: "(jsm.c:1328): ".
    if given.hasPrefix("("), let end = given.range(of: "): ") { given = String(given[end.upperBound...]) }
    let text = given.isEmpty ? String(cString: natsStatus_GetText(status)) : given
    self =
      switch status {
      case NATS_TIMEOUT, NATS_NO_RESPONDERS, NATS_CONNECTION_DISCONNECTED, NATS_STALE_CONNECTION,
        NATS_IO_ERROR,
        NATS_INSUFFICIENT_BUFFER, NATS_SLOW_CONSUMER, NATS_MISSED_HEARTBEAT, NATS_MISMATCH:
        .unavailable(what, reason: text)
      case NATS_CONNECTION_CLOSED, NATS_INVALID_SUBSCRIPTION: .closed
      case NATS_CONNECTION_AUTH_FAILED, NATS_NOT_PERMITTED: .refused(what, reason: text)
      default: NATSError(code: code.rawValue, status, at: what, text: text)
      }
  }

  private init(code: UInt32, _ status: natsStatus, at what: String, text: String) {
    self =
      switch code {
      case _ where Code.notFound.contains(code): .notFound(what)
      case _ where Code.unavailable.contains(code): .unavailable(what, reason: text)
      case _ where Code.noRoom.contains(code): .full(what, reason: text)
      case _ where Code.wrongLastSequence.contains(code): .wrongLastSequence(what)
      case Code.storeFailed where text.contains("maximum"): .full(what, reason: text)
      case _ where Code.disabled.contains(code):
        .other(
          what,
          text: "\(text). Enable JetStream in the servers' configuration: jetstream { store_dir: … }",
          code: Int(code)
        )
      case _ where code == 0 && status == NATS_NOT_FOUND: .notFound(what)
      default: .other(what, text: text, code: Int(code))
      }
  }
}

/// Throws the error of a call that did not succeed.
func check(
  _ status: natsStatus,
  _ code: jsErrCode = jsErrCode(0),
  at what: @autoclosure () -> String
) throws(NATSError) {
  if status != NATS_OK { throw NATSError(status, code, at: what()) }
}
#endif
