import PharosEvents
package import PharosReports

/// A webhook as somebody asks for it: what a request's JSON says.
package struct WebhookDocument {
  /// How long a summary may be.
  package static let longestSummary = 256

  package var url: String
  package var summary: String
  var application: String?
  var filter: EventFilter
  package var secret: WebhookSecret?
  var concurrency: Int
  var isEnabled: Bool
  /// Whether a new secret is to take the place of the present one.
  var rotatesSecret: Bool

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: the document.
  ///   - bound: the application that the caller is bound to, or nil if it may name any.
  ///   - ownPorts: the TCP ports that the server listens on.
  /// - Throws: ``WebhookError/invalid(_:)``.
  package init(json: [UInt8], boundTo bound: String?, ownPorts: Set<Int>) throws(WebhookError) {
    var reader = try DocumentReader(json: json)
    let url = reader.text("url", expected: "an address such as https://example.org/hooks/pharos")
    if let url {
      if let problem = WebhookTarget.problem(with: url, ownPorts: ownPorts) {
        reader.refuse(problem.field, problem.message, expected: problem.expected)
      }
    } else if reader.problems.isEmpty {
      reader.refuse("url", "is missing", expected: "an address such as https://example.org/hooks/pharos")
    }
    self.url = url ?? ""
    summary = reader.text("summary", expected: "a text") ?? ""
    if summary.utf8.count > WebhookDocument.longestSummary {
      reader.refuse("summary", "is too long", expected: "at most \(WebhookDocument.longestSummary) bytes")
    }
    application = reader.text("application", expected: "an application's identifier") ?? bound
    if let bound, application != bound {
      reader.refuse("application", "is not yours", expected: "\"\(bound)\", or nothing")
    }
    filter = reader.object("filter") { $0.filter() } ?? .all
    secret = nil
    if let text = reader.text("secret", expected: "\"whsec_\" and base64 of 24 to 64 bytes") {
      secret = WebhookSecret(text)
      if secret == nil {
        reader.refuse("secret", "is none", expected: "\"whsec_\" and base64 of 24 to 64 bytes, or nothing")
      }
    }
    concurrency =
      reader.integer("concurrency", in: WebhookDefinition.concurrencies) ?? WebhookDefinition.usualConcurrency
    isEnabled = reader.flag("enabled") ?? true
    rotatesSecret = reader.flag("rotateSecret") ?? false
    // What a listing says besides may be sent back unchanged.
    reader.ignore(WebhookStanding.readOnlyMembers)
    try reader.finish()
  }
}

extension DocumentReader {
  /// The members of a filter, named as the parameters of `GET /v1/events` are.
  fileprivate mutating func filter() -> EventFilter {
    EventFilter(
      kinds: set("kinds", expected: "a journalled event's type, such as pharos.region.enter") { text in
        EventKind.allCases.first { kind in
          kind != .ranging && kind != .fix && (kind.type == text || kind.type == "pharos.\(text)")
        }
      },
      regions: set("regions", expected: "a region's or zone's identifier") { $0.isEmpty ? nil : $0 },
      subjects: set("subjects", expected: "a beacon or an observer, as events name them") {
        SubjectID(named: $0)
      },
      observers: set("observers", expected: "an observer, as events name it") { ObserverID($0) }
    )
  }
}

extension SubjectID {
  /// Reads a subject as events spell it: a beacon's text is never an observer's, so no kind is asked for.
  init?(named text: String) {
    if let beacon = BeaconID(text) {
      self = .beacon(beacon)
    } else if let observer = ObserverID(text) {
      self = .observer(observer)
    } else {
      return nil
    }
  }
}

extension WebhookDefinition {
  /// Writes what may be shown of it, as members of an object that is open: everything but the secrets.
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
