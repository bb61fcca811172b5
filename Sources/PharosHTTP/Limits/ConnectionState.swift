/// The state of one connection between a client and the server, and the limit on the time that the client may take.
///
/// A value without effects: its owner reports what happens on the connection, and reads from it which timer has to run.
package struct ConnectionState: Equatable, Sendable {
  /// What a connection is waiting for, which the client has to do in time.
  package enum Wait: Hashable, Sendable, CaseIterable {
    /// For the first request's head.
    case head
    /// For the rest of a body.
    case body
    /// For the rest of a body whose request has been answered.
    case unreadBody

    /// The limit that is reached when it takes too long.
    var limit: HTTPLimit {
      switch self {
      case .head: .headTime
      case .body: .bodyTime
      case .unreadBody: .unreadBody
      }
    }
  }

  /// Requests whose heads came and whose answers have not all been given; a client may send the next before.
  private var unanswered = 0
  /// Whether the newest request's body is still coming.
  private var isReceiving = false
  /// Whether any request has come.
  private var hasBegun = false
  /// Whether a part of the answer that is due has been given.
  private(set) var hasAnswerBegun = false
  /// The bytes of the body that is coming.
  package private(set) var bodyBytes = 0

  package init() {}

  /// What the client has to do in time; nil if it is our turn, or if it may take the time between two requests.
  package var wait: Wait? {
    if !hasBegun { return .head }
    guard isReceiving else { return nil }
    switch unanswered {
    case 0: return .unreadBody
    case 1: return .body
    // The server is still answering an earlier request, so no handler reads this body yet.
    default: return nil
    }
  }

  /// Whether nothing is being done for the client, so that the connection may give way to another.
  package var isWaiting: Bool { unanswered == 0 || (unanswered == 1 && isReceiving && !hasAnswerBegun) }

  /// The head of a request came.
  package mutating func head() {
    hasBegun = true
    unanswered += 1
    isReceiving = true
    bodyBytes = 0
  }

  /// A part of its body came.
  package mutating func body(_ bytes: Int) { bodyBytes += bytes }

  /// Its body has ended.
  package mutating func end() { isReceiving = false }

  /// The head of an answer is given.
  package mutating func answerBegins() { hasAnswerBegun = true }

  /// An answer has been given.
  package mutating func answerEnds() {
    unanswered = max(0, unanswered - 1)
    hasAnswerBegun = false
  }
}
