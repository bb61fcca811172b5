import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
package import PharosModel

/// One POST request to a receiver.
package struct WebhookRequest: Hashable, Sendable {
  /// The content type: one CloudEvent in structured mode.
  package static let contentType = "application/cloudevents+json; charset=utf-8"

  /// The URL of the receiver.
  package var url: String
  /// The headers, with lowercase names.
  package var headers: [(name: String, value: String)]
  /// The body.
  package var body: [UInt8]
  /// The time limit of the whole attempt.
  package var timeout: TimeSpan

  /// Makes and signs a request.
  ///
  /// The id is the event's. It is the same in every attempt, so that a receiver can detect a repetition. The
  /// timestamp is that of the attempt, so that a receiver can reject a recorded request that is replayed.
  ///
  /// - Parameters:
  ///   - url: the URL of the receiver.
  ///   - id: the event's id.
  ///   - body: the CloudEvent.
  ///   - secrets: the secrets to sign with; two while a secret is being replaced.
  ///   - instant: the time of the attempt.
  ///   - timeout: the time limit of the whole attempt.
  /// - Source: Standard Webhooks 1.0, headers and signature scheme.
  package init(
    url: String,
    id: String,
    body: [UInt8],
    secrets: [WebhookSecret],
    at instant: Timestamp,
    timeout: TimeSpan
  ) {
    let seconds = instant.nanoseconds / 1_000_000_000
    let signatures = secrets.map { $0.signature(id: id, timestamp: seconds, body: body) }
    self.url = url
    self.body = body
    self.timeout = timeout
    headers = [
      ("content-type", WebhookRequest.contentType),
      ("user-agent", "pharos-webhooks"),
      ("webhook-id", id),
      ("webhook-timestamp", String(seconds)),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }

  /// Returns whether two requests are equal, header by header.
  package static func == (left: WebhookRequest, right: WebhookRequest) -> Bool {
    left.url == right.url && left.body == right.body && left.timeout == right.timeout
      && left.headers.elementsEqual(right.headers) { $0 == $1 }
  }

  /// Hashes the URL and the body.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(url)
    hasher.combine(body)
  }
}

/// A sender of requests to receivers.
package protocol WebhookSender: Sendable {
  /// Sends a request and waits for its outcome; never throws, since a failure is an outcome.
  func send(_ request: WebhookRequest) async -> DeliveryOutcome

  /// Releases the sender's resources; the caller sends no further request.
  func shutdown() async
}

/// A sender of requests over HTTP/1.1 or HTTP/2, whichever the receiver supports, over persistent connections.
package final class HTTPWebhookSender: WebhookSender {
  /// The number of bytes of a response body that are read and discarded to free the connection.
  static let longestAnswer = 64 * 1_024
  /// The time limit of connecting: three times what a distant continent needs for TCP and TLS.
  static let connectTimeout = TimeAmount.seconds(5)

  private let client: HTTPClient

  /// Makes a sender with connections of its own.
  package init() {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.timeout = .init(connect: HTTPWebhookSender.connectTimeout)
    // The schedule tries again, and says meanwhile what went wrong.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
      WebhookDefinition.concurrencies.upperBound
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Sends a request and waits for its outcome.
  package func send(_ request: WebhookRequest) async -> DeliveryOutcome {
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = .POST
    for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
    outgoing.body = .bytes(ByteBuffer(bytes: request.body))
    do {
      let answer = try await client.execute(
        outgoing,
        timeout: .nanoseconds(request.timeout.nanoseconds)
      )
      await HTTPWebhookSender.discard(answer.body)
      let retryAfter = answer.headers.first(name: "retry-after").flatMap {
        HTTPWebhookSender.retryAfter($0, date: answer.headers.first(name: "date"))
      }
      return DeliveryOutcome(status: Int(answer.status.code), retryAfter: retryAfter)
    } catch {
      return .failed(reason: SendFailure.words(for: error, timeout: request.timeout), retryAfter: nil)
    }
  }

  // AsyncHTTPClient traps when a client is deinitialized without having been shut down. So a sender that was never
  // used, or not shut down, closes its connections here. The error of a second shutdown is ignored.
  deinit { client.shutdown { _ in } }

  /// Closes the connections.
  package func shutdown() async {
    // It fails only if it was shut down before, which is what is wanted.
    try? await client.shutdown()
  }

  /// Reads the rest of a response, so that its connection can be reused; gives the connection up if the rest is too
  /// long.
  private static func discard(_ body: HTTPClientResponse.Body) async {
    // The status has decided; what happens to the rest of the answer changes nothing.
    _ = try? await body.collect(upTo: longestAnswer)
  }

  /// Returns the time for which a receiver asks to get no requests.
  ///
  /// - Parameters:
  ///   - text: the header: seconds, or a date, which is read relative to the receiver's own clock.
  ///   - date: the receiver's `Date` header.
  /// - Returns: the span, or nil if the header is neither.
  /// - Source: RFC 9110, sections 10.2.3 and 5.6.7.
  static func retryAfter(_ text: String, date: String?) -> TimeSpan? {
    if let seconds = UInt32(text) { return .seconds(Double(seconds)) }
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
    guard let until = format.date(from: text), let date, let now = format.date(from: date) else { return nil }
    return .seconds(max(until.timeIntervalSince(now), 0))
  }
}

/// Descriptions of failed requests to a receiver, worded for the operators of both sides.
package enum SendFailure {
  /// Describes an error.
  package static func words(for error: any Error, timeout: TimeSpan) -> String {
    switch error {
    case let error as HTTPClientError: words(for: error, timeout: timeout)
    case let error as NIOConnectionError: words(for: error)
    case let error as IOError: words(for: error)
    case is CancellationError: "it was broken off"
    default:
      "\(type(of: error))".contains("SSL")
        ? "TLS failed: \(error). Check the receiver's certificate and that it speaks TLS" : "\(error)"
    }
  }

  private static func words(for error: HTTPClientError, timeout: TimeSpan) -> String {
    switch error {
    case .connectTimeout:
      "no connection within \(HTTPWebhookSender.connectTimeout.nanoseconds / 1_000_000_000) s"
    case .tlsHandshakeTimeout: "TLS was not agreed upon in time"
    case .deadlineExceeded, .readTimeout: "no answer within \(Int(timeout.seconds)) s"
    case .remoteConnectionClosed: "the receiver closed the connection without an answer"
    case .cancelled: "it was broken off"
    default: error.shortDescription
    }
  }

  private static func words(for error: NIOConnectionError) -> String {
    guard let failure = error.connectionErrors.first else {
      return "the name \(error.host) leads to no address"
    }
    return words(for: failure.error, timeout: .zero)
  }

  private static func words(for error: IOError) -> String {
    switch error.errnoCode {
    case ECONNREFUSED: "the connection was refused: nothing listens there"
    case ECONNRESET, EPIPE: "the receiver broke the connection off"
    case EHOSTUNREACH, ENETUNREACH: "there is no way to the receiver's network"
    case ETIMEDOUT: "the receiver does not answer"
    case let code: "the connection failed: \(String(cString: strerror(code)))"
    }
  }
}
