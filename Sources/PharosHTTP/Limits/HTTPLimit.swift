/// A bound of the HTTP interface that a client may run into; what lies beyond it is refused, and others are served on.
package enum HTTPLimit: String, Hashable, Sendable, CaseIterable {
  /// As many connections are open as may be: one that waits for its client has made room, or the new one was refused.
  case connections
  /// A head did not come in time.
  case headTime = "head_time"
  /// A head, or a field of it, was too long.
  case headSize = "head_size"
  /// A body did not come in time.
  case bodyTime = "body_time"
  /// A body was too long.
  case bodySize = "body_size"
  /// A body went on after the answer had been given.
  case unreadBody = "unread_body"
  /// A client took nothing of what it had asked for.
  case readTime = "read_time"
  /// As many live streams are open as may be.
  case streams
  /// One client has as many live streams open as one may have.
  case streamsOfOneClient = "streams_of_one_client"

  /// What was reached and what to do about it, for the log.
  var explanation: String {
    switch self {
    case .connections:
      "as many connections are open as may be; those that wait for their clients give way. PHAROS_HTTP_CONNECTIONS raises it"
    case .headTime: "the head of a request did not come in time; the connection was closed"
    case .headSize: "the head of a request is longer than is taken; it was answered with 431"
    case .bodyTime: "the body of a request did not come in time; the connection was closed"
    case .bodySize: "the body of a request is longer than is taken; it was answered with 413"
    case .unreadBody: "a body went on after it had been answered; the connection was closed"
    case .readTime: "a client took nothing of its answer for too long; the connection was closed"
    case .streams:
      "as many live streams are open as may be; further ones are answered with 503. PHAROS_HTTP_STREAMS raises it"
    case .streamsOfOneClient:
      "one token has half of all live streams open, as many as one may have; further ones are answered with 503"
    }
  }
}
