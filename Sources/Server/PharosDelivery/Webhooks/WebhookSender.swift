import AsyncHTTPClient
import CPharos
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
package import PharosModel
import Synchronization

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
  /// The mail to send in place of the POST request, if the receiver is an address of a person.
  package var mail: MailMessage?
  /// Indicates whether the answer 404 means that the receiver accepts no further events, as it does of a push service.
  ///
  /// - Source: RFC 8030, 7.3.
  package var isMissingGone = false

  /// Makes a request of its parts.
  package init(url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: TimeSpan) {
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }

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
    let headers = [
      ("content-type", WebhookRequest.contentType),
      ("user-agent", "pharos-webhooks"),
      ("webhook-id", id),
      ("webhook-timestamp", String(seconds)),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
    self.init(url: url, headers: headers, body: body, timeout: timeout)
  }

  /// Returns whether two requests are equal, header by header.
  package static func == (left: WebhookRequest, right: WebhookRequest) -> Bool {
    left.url == right.url && left.body == right.body && left.timeout == right.timeout
      && left.mail == right.mail && left.isMissingGone == right.isMissingGone
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
  static let maximumAnswer = 64 * 1_024
  /// The time limit of connecting: three times what a distant continent needs for TCP and TLS.
  static let connectTimeout = TimeAmount.seconds(5)

  /// The number of hosts with connections of their own; those of another one are closed for a further host.
  private static let maximumHosts = 256

  /// A client whose connections lead to one address of a host, which was checked.
  private struct PinnedClient {
    let address: IPAddress
    let client: HTTPClient
    /// Indicates whether the last connection could not be made, so that the next attempt takes another address.
    var hasFailed = false
  }

  private struct State {
    var clients: [String: PinnedClient] = [:]
    var isClosed = false
  }

  private let ownPorts: Set<Int>
  private let mail: SMTPClient?
  private let state = Mutex(State())
  /// The threads on which names are resolved, which may take seconds.
  private let resolver = NIOThreadPool(numberOfThreads: 4)

  /// Makes a sender with connections of its own.
  ///
  /// - Parameters:
  ///   - ownPorts: the TCP ports that the server listens on, to which it sends nothing.
  ///   - relay: the relay that takes mail; nil for none.
  package init(ownPorts: Set<Int> = [], relay: MailRelay? = nil) {
    self.ownPorts = ownPorts
    mail = relay.map { SMTPClient($0) }
    resolver.start()
  }

  private static func client(for host: String, at address: IPAddress, timeout: TimeAmount) -> HTTPClient {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.timeout = .init(connect: timeout)
    // The schedule tries again, and says meanwhile what went wrong.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
      WebhookDefinition.concurrencies.upperBound
    // A name that leads elsewhere between the check and the connection would evade the check.
    configuration.dnsOverride = [host: "\(address)"]
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  /// Returns the client for a host, whose addresses are all checked; nil after the shutdown.
  private func client(for host: String, at addresses: [IPAddress]) -> HTTPClient? {
    let (client, replaced): (HTTPClient?, [HTTPClient]) = state.withLock { state in
      guard !state.isClosed else { return (nil, []) }
      var next = addresses[0]
      var replaced: [HTTPClient] = []
      if let known = state.clients[host] {
        let place = addresses.firstIndex(of: known.address)
        if place != nil, !known.hasFailed || addresses.count == 1 { return (known.client, []) }
        next = place.map { addresses[($0 + 1) % addresses.count] } ?? next
        replaced.append(known.client)
      } else if state.clients.count >= HTTPWebhookSender.maximumHosts, let other = state.clients.keys.first {
        replaced += [state.clients.removeValue(forKey: other)?.client].compactMap { $0 }
      }
      let timeout =
        HTTPWebhookSender.connectTimeout.nanoseconds / Int64(HTTPWebhookSender.attempts(at: addresses))
      let client = HTTPWebhookSender.client(for: host, at: next, timeout: .nanoseconds(timeout))
      state.clients[host] = PinnedClient(address: next, client: client)
      return (client, replaced)
    }
    for client in replaced { client.shutdown { _ in } }
    return client
  }

  /// Returns the number of addresses of a host to which one request tries to connect.
  private static func attempts(at addresses: [IPAddress]) -> Int { min(addresses.count, 3) }

  /// Returns the addresses of a host, in the order in which to try them.
  private func addresses(of host: String) async -> [IPAddress] {
    let found = try? await resolver.runIfActive {
      // More are never tried of one host.
      var list = [pharos_address](repeating: pharos_address(), count: 64)
      let count = pharos_look_up(host, 0, AI_ADDRCONFIG, &list, Int32(list.count))
      return list.prefix(Int(max(0, count))).reduce(into: [IPAddress]()) { addresses, entry in
        if let address = IPAddress(entry), !addresses.contains(address) { addresses.append(address) }
      }
    }
    return found ?? []
  }

  /// The addresses of this machine.
  private static var ownAddresses: Set<IPAddress> {
    let devices = (try? System.enumerateDevices()) ?? []
    return Set(
      devices.compactMap { device in
        device.address.flatMap { address in address.withSockAddr { IPAddress(pharos_address_of($0, $1)) } }
      }
    )
  }

  /// Sends a request and waits for its outcome.
  package func send(_ request: WebhookRequest) async -> DeliveryOutcome {
    if MailRelay.address(in: request.url) != nil {
      guard let mail, let message = request.mail else {
        return .failed(reason: "the site file names no publish.mail", retryAfter: nil)
      }
      return await mail.send(message, timeout: request.timeout)
    }
    var outgoing = HTTPClientRequest(url: request.url)
    outgoing.method = .POST
    for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
    outgoing.body = .bytes(ByteBuffer(bytes: request.body))
    let parts = URL(string: request.url)
    guard let host = parts?.host else { return .failed(reason: "the URL names no host", retryAfter: nil) }
    let port = parts?.port ?? (parts?.scheme?.lowercased() == "https" ? 443 : 80)
    let addresses = await addresses(of: host)
    guard !addresses.isEmpty else {
      return .failed(reason: "the name \(host) leads to no address", retryAfter: nil)
    }
    let own = ownPorts.contains(port) ? HTTPWebhookSender.ownAddresses : []
    for address in addresses {
      let refusal = WebhookTarget.refusal(of: address, port: port, ownPorts: ownPorts, ownAddresses: own)
      if let refusal { return .failed(reason: "\(host) leads to \(refusal)", retryAfter: nil) }
    }
    for _ in 0..<HTTPWebhookSender.attempts(at: addresses) {
      guard let client = client(for: host, at: addresses) else {
        return .failed(reason: "it was broken off", retryAfter: nil)
      }
      if let outcome = await send(outgoing, of: request, to: host, by: client) { return outcome }
    }
    return .failed(reason: SendFailure.noConnection, retryAfter: nil)
  }

  /// Sends a request over a connection to the present address of a host; returns nil if no connection was made.
  private func send(
    _ outgoing: HTTPClientRequest,
    of request: WebhookRequest,
    to host: String,
    by client: HTTPClient
  ) async -> DeliveryOutcome? {
    do {
      let answer = try await client.execute(
        outgoing,
        timeout: .nanoseconds(request.timeout.nanoseconds)
      )
      state.withLock { $0.clients[host]?.hasFailed = false }
      await HTTPWebhookSender.discard(answer.body)
      let retryAfter = answer.headers.first(name: "retry-after").flatMap {
        HTTPWebhookSender.retryAfter($0, date: answer.headers.first(name: "date"))
      }
      if request.isMissingGone, answer.status == .notFound { return .gone }
      return DeliveryOutcome(status: Int(answer.status.code), retryAfter: retryAfter)
    } catch {
      guard !SendFailure.hasNoConnection(error) else {
        state.withLock { $0.clients[host]?.hasFailed = true }
        return nil
      }
      return .failed(reason: SendFailure.words(for: error, timeout: request.timeout), retryAfter: nil)
    }
  }

  private func close() -> [HTTPClient] {
    resolver.shutdownGracefully { _ in }
    return state.withLock { state in
      state.isClosed = true
      defer { state.clients.removeAll() }
      return state.clients.values.map(\.client)
    }
  }

  // AsyncHTTPClient traps when a client is deinitialized without having been shut down. So a sender that was not shut
  // down closes its connections here. The error of a second shutdown is ignored.
  deinit { for client in close() { client.shutdown { _ in } } }

  /// Closes the connections.
  package func shutdown() async {
    // It fails only if it was shut down before, which is what is wanted.
    for client in close() { try? await client.shutdown() }
  }

  /// Reads the rest of a response, so that its connection can be reused; gives the connection up if the rest is too
  /// long.
  private static func discard(_ body: HTTPClientResponse.Body) async {
    // The status has decided; what happens to the rest of the answer changes nothing.
    _ = try? await body.collect(upTo: maximumAnswer)
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

extension IPAddress {
  /// The address that the C shim read; nil for another family.
  fileprivate init?(_ address: pharos_address) {
    switch address.version {
    case 4: self.init(v4: UInt32(truncatingIfNeeded: address.low))
    case 6: self.init(v6: address.high, address.low)
    default: return nil
    }
  }
}

/// Descriptions of failed requests to a receiver, worded for the operators of both sides.
package enum SendFailure {
  /// The description of every connection that a webhook could not make.
  ///
  /// It does not tell a closed port from one behind a filter: an application must not learn about the network by its webhooks.
  package static let noConnection =
    "no connection to the receiver could be made; check its address, its port and firewalls"

  /// Returns whether an error is that no connection was made.
  static func hasNoConnection(_ error: any Error) -> Bool {
    if let error = error as? IOError {
      return [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EACCES, EPERM, EADDRNOTAVAIL].contains(
        error.errnoCode
      )
    }
    return error is NIOConnectionError || (error as? HTTPClientError) == .connectTimeout
  }

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
