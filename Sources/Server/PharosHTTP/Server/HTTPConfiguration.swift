import PharosDocuments
package import PharosModel
package import PharosSite

/// The settings of the HTTP interface.
package struct HTTPConfiguration: Sendable {
  /// The address to listen on; port 0 takes any that is free, which ``HTTPService/address()`` then returns.
  package var address: HostPort
  /// The certificate and key files, or nil for plain HTTP.
  package var tls: TLSFiles?
  /// Returns the origins whose pages may use the interface from a browser, such as `https://floor.example.org`, as they are
  /// at each request; CORS is off while there are none.
  package var allowedOrigins: @Sendable () -> [String]
  /// The names by which the server may be asked besides those of this machine itself, without port.
  ///
  /// Checked only while no token is required: a page elsewhere could otherwise have its own name lead here and ask as
  /// if it were of this machine (DNS rebinding).
  package var allowedHosts: [String]
  /// Indicates whether every request to `/v1` needs a token; otherwise a client without one is the operator of this
  /// machine.
  package var tokensRequired: Bool
  /// The text with which a GET of the adverts' address is answered, by which Cisco Meraki recognises its receiver; nil for none.
  package var validator: String?
  /// The secret in the body of a post that lets it in without a token, as Cisco Meraki proves itself; nil for none.
  package var postSecret: String?
  /// The longest body that is taken.
  ///
  /// - Units: bytes. A region that lists 10,000 observers by UUID takes 400 KB.
  package var largestBody = 1 << 20
  /// The maximum number of open connections; those that wait for their clients are closed for further ones.
  ///
  /// 4,096: the thousand live streams that are promised, four times over, and far below the usual limit of open files
  /// of a service. It is lowered where the system allows fewer files than that and ``reservedDescriptors`` besides.
  package var maximumConnections = 4_096
  /// The idle time between requests, or within one that does not end, after which a connection is closed.
  ///
  /// - Units: seconds. 60 is what most proxies wait; live streams are not idle.
  package var idleSeconds = 60
  /// The maximum time for the head of a connection's first request.
  ///
  /// - Units: seconds. A head of 1 KB takes a tenth of a second on the worst mobile networks; ten seconds allow for two
  ///   packets that have to be sent three times.
  package var headSeconds = 10
  /// The maximum time for a body.
  ///
  /// - Units: seconds. The longest that is taken has 30 s at 280 kbit/s.
  package var bodySeconds = 30
  /// The maximum time for which a body may go on once it has been answered, before the connection is closed.
  ///
  /// - Units: seconds. Closing at once would take the answer from a client that is still sending.
  package var unreadBodySeconds = 2
  /// The maximum time for which a client may read nothing of its answer.
  ///
  /// - Units: seconds. A live stream sends a heartbeat every 5 s; a client that has not read for two of them and has
  ///   filled every buffer on the way does not read at all, and comes back to the journal when it does.
  package var readSeconds = 10

  /// The number of descriptors that are reserved for other uses than HTTP: sockets, the journal, webhooks, recordings.
  ///
  /// A server of 16 loops with 128 webhooks has some 220 of them.
  package static let reservedDescriptors = 256

  /// The scheme of the server's own address.
  var scheme: String { tls == nil ? "http" : "https" }

  /// Makes a configuration.
  package init(
    address: HostPort = HostPort(host: "127.0.0.1", port: 8_080),
    tls: TLSFiles? = nil,
    allowedOrigins: @escaping @Sendable () -> [String] = { [] },
    allowedHosts: [String] = [],
    tokensRequired: Bool = false
  ) {
    self.address = address
    self.tls = tls
    self.allowedOrigins = allowedOrigins
    self.allowedHosts = allowedHosts
    self.tokensRequired = tokensRequired
  }
}

/// The reason why the HTTP interface is not served.
package enum HTTPServiceError: Error, Hashable, Sendable {
  /// It would listen beyond this machine, and any client that reaches it could do anything.
  case openToAll(HostPort)
  /// The address cannot be listened at.
  case cannotListen(HostPort, reason: String)
  /// The certificate or the key cannot be used.
  case badCertificate(TLSFiles, reason: String)
  /// It has stopped, or stopped before it listened.
  case stopped
}

extension HTTPServiceError: CustomStringConvertible {
  /// The error and the remedy.
  package var description: String {
    switch self {
    case .openToAll(let address):
      "will not serve HTTP on \(address): it can be reached from other machines, and there is no token yet, so that "
        + "any client could read and change everything. Make a token first (pharos token create --operator "
        + "--data DIR), or listen on 127.0.0.1."
    case .cannotListen(let address, let reason):
      "cannot serve HTTP on \(address): \(Wording.clause(reason)). Change listen.http or --http, or stop the process on that port."
    case .badCertificate(let files, let reason):
      "cannot serve HTTP with certificate \(files.certificate) and key \(files.key): \(Wording.clause(reason)). Both must be PEM files "
        + "that this process can read and that belong together."
    case .stopped: "the HTTP interface has stopped"
    }
  }
}

extension HTTPConfiguration {
  /// Throws if the address is not loopback, unless tokens are required and at least one exists.
  ///
  /// - Parameter hasTokens: indicates whether there is at least one valid token.
  /// - Throws: ``HTTPServiceError/openToAll(_:)``.
  package func check(hasTokens: Bool) throws(HTTPServiceError) {
    guard !address.isLoopback else { return }
    guard tokensRequired, hasTokens else { throw .openToAll(address) }
  }
}
