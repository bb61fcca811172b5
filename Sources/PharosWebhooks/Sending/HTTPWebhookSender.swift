import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PharosReports

/// Sends requests over HTTP/1.1 or HTTP/2, whichever the receiver speaks, over connections that are kept.
package final class HTTPWebhookSender: WebhookSender {
  /// The number of bytes of a response body that are read and discarded to free the connection.
  static let longestAnswer = 64 * 1_024
  /// How long connecting may take: three times what a far continent needs for TCP and TLS.
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

  /// Reads what is left of an answer, so that its connection can be used again; a long one gives it up.
  private static func discard(_ body: HTTPClientResponse.Body) async {
    // The status has decided; what happens to the rest of the answer changes nothing.
    _ = try? await body.collect(upTo: longestAnswer)
  }

  /// How long a receiver asks to be left alone.
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
