import Foundation
package import PharosModel

/// The decoder of a webhook from the JSON of a request.
package struct WebhookDocument {
  /// The maximum length of a summary, in bytes of UTF-8.
  package static let longestSummary = 256

  package var url: String
  package var summary: String
  var application: String?
  var filter: EventFilter
  package var secret: WebhookSecret?
  var concurrency: Int
  var isEnabled: Bool
  /// Indicates whether a generated secret replaces the present one.
  var rotatesSecret: Bool
}

extension WebhookDocument {
  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: the document.
  ///   - bound: the application that the caller is bound to, or nil if it may name any.
  ///   - ownPorts: the TCP ports that the server listens on.
  /// - Throws: ``WebhookError/invalid(_:)``.
  package init(json: [UInt8], boundTo bound: String?, ownPorts: Set<Int>) throws(WebhookError) {
    let known = [
      "url", "summary", "application", "filter", "secret", "concurrency", "enabled", "rotateSecret",
    ]
    // What a listing says besides may be sent back unchanged.
    let ignored = WebhookStanding.readOnlyMembers
    self = try WebhookError.document(json, name: "webhook", known: known, ignored: ignored) { fields in
      let example = "an address such as https://example.org/hooks/pharos"
      let url = fields.required("url", .text, expected: example)
      if let url, let problem = WebhookTarget.problem(with: url, ownPorts: ownPorts) {
        fields.mistake("url", "url \(problem.message)", expected: problem.expected)
      }
      let summary = fields.value("summary", .lines) ?? ""
      if summary.utf8.count > WebhookDocument.longestSummary {
        let limit = WebhookDocument.longestSummary
        fields.mistake("summary", "summary is too long", expected: "at most \(limit) bytes")
      }
      let application = fields.text("application") ?? bound
      if let bound, application != bound {
        fields.mistake("application", "application is not yours", expected: "\"\(bound)\", or nothing")
      }
      let filterKeys = ["kinds", "regions", "subjects", "observers"]
      return WebhookDocument(
        url: url ?? "",
        summary: summary,
        application: application,
        filter: fields.fields("filter", known: filterKeys)?.filter() ?? .all,
        secret: fields.value("secret", .secret),
        concurrency: fields.value("concurrency", .integer(in: WebhookDefinition.concurrencies))
          ?? WebhookDefinition.usualConcurrency,
        isEnabled: fields.value("enabled", .flag) ?? true,
        rotatesSecret: fields.value("rotateSecret", .flag) ?? false
      )
    }
  }
}

extension ValueForm where Value == WebhookSecret {
  /// A secret; messages never contain it.
  fileprivate static var secret: Self {
    let expected = "\"whsec_\" and base64 of 24 to 64 bytes, or nothing"
    return ValueForm(expected: expected, mismatch: "none") { WebhookSecret($0) }
  }
}

extension DocumentFields {
  /// Reads the members of a filter, which have the names of the parameters of `GET /v1/events`.
  fileprivate func filter() -> EventFilter {
    let kinds = ValueForm(expected: "a journalled event's type, such as pharos.region.enter") { text in
      EventKind(type: text).flatMap { $0.isJournalled ? $0 : nil }
    }
    let subjects = ValueForm(expected: "a beacon or an observer, as events name them") {
      SubjectID($0)
    }
    let observers = ValueForm(expected: "an observer, as events name it") { ObserverID($0) }
    return EventFilter(
      kinds: set("kinds", kinds),
      regions: set("regions", .filled("a region's or zone's identifier")),
      subjects: set("subjects", subjects),
      observers: set("observers", observers)
    )
  }

  /// Returns the values in a list of 1 to 1000.
  private func set<Value: Hashable>(_ key: String, _ form: ValueForm<Value>) -> Set<Value>? {
    guard let node = self[key] else { return nil }
    guard let count = node.elements?.count, 1...1_000 ~= count else {
      mistake(key, "\(key) is no list of 1 to 1000 texts", expected: "a list, each \(form.expected)")
      return nil
    }
    return Set(values(key, of: "texts", form))
  }
}

extension WebhookDefinition {
  /// Writes the definition as members of an open JSON object, without the secrets.
  package func write(to json: inout JSONText) {
    json.member("id", id)
    json.member("url", url)
    json.member("summary", summary)
    json.member("application", ifPresent: application)
    json.openObject("filter")
    write("kinds", filter.kinds?.map(\.type), to: &json)
    write("regions", filter.regions.map(Array.init), to: &json)
    write("subjects", filter.subjects?.map(\.description), to: &json)
    write("observers", filter.observers?.map(\.description), to: &json)
    json.closeObject()
    json.member("concurrency", concurrency)
    json.member("enabled", isEnabled)
    json.member("disabledBecause", ifPresent: disabledBecause)
    json.member("createdAt", createdAt.rfc3339)
    json.member("rotatesAt", ifPresent: rotatesAt?.rfc3339)
    json.member("startsAfter", startsAfter)
  }

  private func write(_ key: StaticString, _ texts: [String]?, to json: inout JSONText) {
    guard let texts else { return }
    json.openArray(key)
    for text in texts.sorted() { json.element(text) }
    json.closeArray()
  }
}

/// The rules for the URLs of webhooks, which keep webhooks from being turned against the server's own surroundings.
///
/// Receivers on the premises are the normal case, so private and loopback addresses are allowed. The address under
/// which clouds hand out a machine's credentials is not, nor are the listeners of the server itself, which would be fed
/// with their own events.
package enum WebhookTarget {
  /// The maximum length of a URL, in bytes; browsers and proxies support about as much.
  package static let longest = 2_048

  /// The hosts under which clouds hand out credentials.
  static let metadataHosts: Set<String> = [
    "169.254.169.254", "fd00:ec2::254", "metadata.google.internal", "metadata.goog", "metadata",
    "100.100.100.200",
  ]

  /// Checks a URL.
  ///
  /// - Parameters:
  ///   - text: the URL.
  ///   - ownPorts: the TCP ports that the server listens on.
  /// - Returns: the problem with it, or nil.
  package static func problem(with text: String, ownPorts: Set<Int>) -> DocumentProblem? {
    func refused(_ message: String, _ expected: String) -> DocumentProblem {
      DocumentProblem(field: "url", message: message, expected: expected)
    }
    let example = "an address such as https://example.org/hooks/pharos"
    guard text.utf8.count <= longest else {
      return refused("has \(text.utf8.count) bytes", "at most \(longest)")
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let parts = URLComponents(string: text) else {
      return refused("is no URL", example)
    }
    guard let scheme = parts.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
      return refused("does not begin with http:// or https://", example)
    }
    guard parts.user == nil, parts.password == nil else {
      return refused(
        "carries a name or password, which lists and logs would show",
        "a URL without them: deliveries are signed, so the receiver can tell that they are genuine"
      )
    }
    guard parts.fragment == nil else {
      return refused("has a fragment, which is never sent", "a URL without #")
    }
    guard let host = parts.host.map(canonicalHost), !host.isEmpty else {
      return refused("names no host", example)
    }
    if let port = parts.port, !(1...65_535).contains(port) {
      return refused("has port \(port)", "a port from 1 to 65535")
    }
    if metadataHosts.contains(host) {
      return refused(
        "is the address under which clouds hand out a machine's credentials",
        "the address of a receiver of yours"
      )
    }
    let port = parts.port ?? (scheme == "https" ? 443 : 80)
    if ownPorts.contains(port), isOwn(host) {
      return refused(
        "is this server itself, which would be fed with its own events",
        "the address of another program"
      )
    }
    return nil
  }

  /// Returns the canonical form of a host: lowercase, no brackets or final dot, and IPv4 addresses in dotted form
  /// however they are written (2852039166, 0xa9fea9fe, ::ffff:169.254.169.254).
  static func canonicalHost(_ text: String) -> String {
    var host = text.lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    while host.hasSuffix(".") { host.removeLast() }
    var four = in_addr()
    if inet_aton(host, &four) != 0 { return dotted(UInt32(bigEndian: four.s_addr)) }
    var six = in6_addr()
    guard inet_pton(AF_INET6, host, &six) == 1 else { return host }
    let bytes = withUnsafeBytes(of: six) { Array($0) }
    if bytes[0..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
      return dotted(bytes[12...].reduce(0) { $0 << 8 | UInt32($1) })
    }
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &six, &buffer, socklen_t(buffer.count)) != nil else { return host }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns whether a host is a well-known name or address of this machine.
  private static func isOwn(_ host: String) -> Bool {
    host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "0.0.0.0"
      || host == "::1" || host == "::"
  }

  private static func dotted(_ bits: UInt32) -> String {
    "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
  }
}
