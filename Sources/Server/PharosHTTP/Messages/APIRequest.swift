import HTTPTypes
package import Hummingbird
package import Logging
package import NIOCore
import PharosDelivery
import PharosDocuments
import PharosModel

/// One request as the endpoints see it: its head, and what has been checked of it before an endpoint is called.
///
/// It is the context that Hummingbird passes along with a request.
package struct APIRequest: RequestContext {
  private struct LoggerSource: RequestContextSource {
    let logger: Logger
  }

  /// The values that Hummingbird itself needs, the parts of the path among them.
  package var coreContext: CoreRequestContextStorage
  /// The connection; nil where there is none.
  let channel: (any Channel)?
  /// The head as it was sent.
  var head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
  /// The client.
  var principal = Principal.local
  /// The query, decoded.
  var query = QueryReading()
  /// The body, within the limit.
  var body: [UInt8] = []
  /// The file that holds the body of a route that takes a capture; it is removed after the answer.
  var upload: String?

  /// Makes the context of a request that came over a connection.
  package init(source: ApplicationRequestContextSource) {
    self.init(channel: source.channel, logger: source.logger)
  }

  /// Makes the context of a request.
  package init(channel: (any Channel)? = nil, logger: Logger) {
    coreContext = CoreRequestContextStorage(source: LoggerSource(logger: logger))
    self.channel = channel
  }

  /// The method.
  var method: HTTPRequest.Method { head.method }

  /// The client, for its share of the server's work: the holder of a token, or an address.
  var client: String {
    guard case .local = principal else { return principal.client }
    return channel?.remoteAddress?.ipAddress ?? principal.client
  }

  /// The path without the query, as it was sent.
  var path: Substring { (head.path ?? "/").prefix { $0 != "?" } }

  /// The host that was asked for.
  var host: String? { head.authority }

  /// A header field, or nil; of one that comes twice, the values joined by a comma.
  subscript(name: HTTPField.Name) -> String? { head.headerFields[name] }

  /// A part of the path that the route names, decoded; a route that does not name it is a programmer's error.
  func parameter(_ name: String) -> String {
    guard let value = parameters.get(name).flatMap({ PercentCoding.decode($0) }) else {
      preconditionFailure("the route names no {\(name)}")
    }
    return value
  }

  /// All that is left of the path where the route names nothing, decoded.
  var rest: String {
    parameters.getCatchAll().compactMap { PercentCoding.decode($0) }.joined(separator: "/")
  }

  /// Returns whether the client prefers a type of content to JSON.
  func accepts(_ contentType: String) -> Bool {
    (self[.accept] ?? "").split(separator: ",").contains { part in
      part.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() == contentType
    }
  }

  /// The address of another page for the field `Link`: the request's own with another value of a parameter.
  ///
  /// - Source: RFC 8288.
  func link(toNext parameter: String, _ value: String) -> String {
    let target = head.path ?? "/"
    let given = target.firstIndex(of: "?").map { target[target.index(after: $0)...] } ?? ""
    let kept = given.split(separator: "&").filter { !$0.hasPrefix(parameter + "=") }.map {
      $0.replacing(">", with: "%3E")
    }
    let query = (kept + ["\(parameter)=\(PercentCoding.encode(segment: value))"]).joined(separator: "&")
    return "<?\(query)>; rel=\"next\""
  }

  /// Indicates whether the client takes a body that is packed with gzip.
  var acceptsGzip: Bool {
    (self[.acceptEncoding] ?? "").lowercased().split(separator: ",").contains { part in
      let words = part.filter { $0 != " " && $0 != "\t" }.split(separator: ";", maxSplits: 1)
      guard let coding = words.first, ["gzip", "x-gzip", "*"].contains(coding) else { return false }
      return words.count == 1 || words[1].wholeMatch(of: /q=0(\.0*)?/) == nil
    }
  }

  /// The address by which the client knows this server: that of the request, or what a proxy says it was.
  ///
  /// Only the client that sent the fields gets the address.
  func server(scheme: String) -> String {
    func first(_ name: String) -> String? {
      head.headerFields[named: name]?.split(separator: ",").first.map { String($0.filter { $0 != " " }) }
    }
    let forwarded = first("X-Forwarded-Proto").flatMap { ["http", "https"].contains($0) ? $0 : nil }
    let host =
      first("X-Forwarded-Host").flatMap { HostName.host(of: $0) == nil ? nil : $0 } ?? host ?? "localhost"
    return "\(forwarded ?? scheme)://\(host)"
  }

  /// The path as the router compares it: each part decoded and encoded again.
  ///
  /// - Throws: a problem for a path that cannot be decoded or has an empty part.
  func routedPath() throws(Problem) -> String {
    guard path.first == "/" else { throw .badRequest("The path must begin with a slash.") }
    // "/" alone is the root, and has no parts; an empty part anywhere else names nothing.
    guard path != "/" else { return "/" }
    var routed = ""
    for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let decoded = PercentCoding.decode(part) else {
        throw .badRequest("The path holds a percent sign without two hexadecimal digits, or no UTF-8.")
      }
      guard !decoded.isEmpty, !decoded.utf8.contains(0) else {
        throw .notFound("A part of the path \(path) is empty or holds a zero byte.")
      }
      routed += "/" + PercentCoding.encode(segment: decoded)
    }
    return routed
  }
}

extension APIRequest {
  /// Returns the observer that the path names.
  ///
  /// - Throws: 404 if the text is none.
  func beacon() throws(Problem) -> BeaconID {
    let text = parameter("id")
    guard let beacon = BeaconID(text) else {
      throw .notFound(
        "\"\(text.shortened)\" is no beacon as events name it, as UUID/1/2 or mac:ac:23:3f:00:00:01."
      )
    }
    return beacon
  }

  /// Returns the observer that the path names.
  ///
  /// - Throws: 404 if the text is none.
  func observer() throws(Problem) -> ObserverID {
    let text = parameter("id")
    guard let observer = ObserverID(text) else {
      throw .notFound(
        "\"\(text.shortened)\" is no observer: an EUI-48, an EUI-64, a UUID or a name of at most 64 bytes "
          + "without control characters."
      )
    }
    return observer
  }

  /// Returns the subject that the path names.
  ///
  /// - Throws: 404 if the text is none.
  func subject() throws(Problem) -> SubjectID { try subject { SubjectID($0) } }

  /// Returns whatever the subject that the path names may be known by.
  ///
  /// - Throws: 404 if the text is none.
  func subjectTraces() throws(Problem) -> SubjectTraces { try subject { SubjectTraces($0) } }

  private func subject<Subject>(_ read: (String) -> Subject?) throws(Problem) -> Subject {
    let text = parameter("subject")
    guard let subject = read(text) else {
      throw .notFound("\"\(text.shortened)\" is neither an observer nor a beacon as events name them.")
    }
    return subject
  }
}
