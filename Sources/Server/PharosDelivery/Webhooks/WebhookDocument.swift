import Foundation
package import PharosDocuments
import PharosModel

/// The decoder of a webhook from the JSON of a request.
package struct WebhookDocument {
  /// The maximum length of a summary, in bytes of UTF-8.
  package static let maximumSummary = 256

  package var url: String
  package var summary: String
  var application: String?
  var filter: EventFilter
  package var secret: WebhookSecret?
  var concurrency: Int
  var deferral: DeliveryDeferral?
  var push: PushSubscription?
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
  ///   - hasMail: indicates whether the server can send mail.
  /// - Throws: ``WebhookError/invalid(_:)``.
  package init(
    json: [UInt8],
    boundTo bound: String?,
    ownPorts: Set<Int>,
    hasMail: Bool = false
  ) throws(WebhookError) {
    let known = [
      "url", "summary", "application", "filter", "secret", "concurrency", "deferral", "keys", "enabled",
      "rotateSecret",
    ]
    // What a listing says besides may be sent back unchanged.
    let ignored = WebhookStanding.readOnlyMembers
    self = try WebhookError.document(json, name: "webhook", known: known, ignored: ignored) { fields in
      let example = "an address such as https://example.org/hooks/pharos"
      let url = fields.required("url", .text, expected: example)
      if let address = url.flatMap(MailRelay.address) {
        WebhookDocument.check(address, fields, isOperator: bound == nil, hasMail: hasMail)
      } else if let url, let problem = WebhookTarget.problem(with: url, ownPorts: ownPorts) {
        fields.mistake("url", "url \(problem.message)", expected: problem.expected)
      }
      let summary = fields.value("summary", .lines) ?? ""
      if summary.utf8.count > WebhookDocument.maximumSummary {
        let limit = WebhookDocument.maximumSummary
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
        deferral: fields.fields("deferral", known: ["time", "distance", "maximumCount"])?.deferral(),
        push: fields.fields("keys", known: ["p256dh", "auth"])?.subscription(),
        isEnabled: fields.value("enabled", .flag) ?? true,
        rotatesSecret: fields.value("rotateSecret", .flag) ?? false
      )
    }
  }
}

extension WebhookDocument {
  /// Checks the address of a person.
  private static func check(_ address: String, _ fields: DocumentFields, isOperator: Bool, hasMail: Bool) {
    if !MailRelay.isAddress(address) {
      fields.mistake("url", "url names no address", expected: "an address such as mailto:ada@example.org")
    } else if !isOperator {
      fields.mistake(
        "url",
        "url is the address of a person",
        expected: "an operator's token, or a server's URL"
      )
    } else if !hasMail {
      fields.mistake(
        "url",
        "url is the address of a person, and the site file names no relay for mail",
        expected: "publish.mail with relay and sender in the site file"
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
  /// The members in answers, without the secrets.
  static let members: [DocumentField<WebhookDefinition>] = [
    .always("id", .text) { $0.id },
    .always("url", .text) { $0.url },
    .always("summary", .text) { $0.summary },
    .sometimes("application", .text) { $0.application },
    .always(
      "filter",
      .object([
        .sometimes("kinds", .list(.text)) { $0.kinds?.map(\.type).sorted() },
        .sometimes("regions", .list(.text)) { $0.regions?.sorted() },
        .sometimes("subjects", .list(.text)) { $0.subjects?.map(\.description).sorted() },
        .sometimes("observers", .list(.text)) { $0.observers?.map(\.description).sorted() },
      ])
    ) { $0.filter },
    .always("concurrency", .integer) { $0.concurrency },
    .sometimes("deferral", .object(DeliveryDeferral.members)) { $0.deferral },
    .sometimes("browser", .flag, "Present if the receiver is a browser.") { $0.push == nil ? nil : true },
    .always("enabled", .flag) { $0.isEnabled },
    .sometimes("disabledBecause", .text) { $0.disabledBecause },
    .always("createdAt", .moment) { $0.createdAt },
    .sometimes("rotatesAt", .moment) { $0.rotatesAt },
    .always("startsAfter", .integer) { $0.startsAfter },
  ]
}

extension Schema {
  package static let webhookDocument = Schema.closed([
    .required("url", .address),
    .optional("summary", .text(0...256)),
    .optional("application", .name),
    .optional(
      "filter",
      .closed([
        .optional("kinds", .list(.kinds(EventKind.allCases.filter(\.isJournalled)), 1...1_000)),
        .optional("regions", .list(.name, 1...1_000)),
        .optional("subjects", .list(.name, 1...1_000)),
        .optional("observers", .list(.name, 1...1_000)),
      ])
    ),
    .optional(
      "secret",
      .pattern("^whsec_([A-Za-z0-9+/]{4}){8,21}([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"),
      "`whsec_` and base64 of 24 to 64 bytes; left out, one is made."
    ),
    .optional(
      "rotateSecret",
      .flag,
      "Whether a new secret takes the place of the present one, which signs beside it for a day."
    ),
    .optional("concurrency", .integer(1...64)),
    .optional("deferral", DeliveryDeferral.schema),
    .optional(
      "keys",
      .closed([.required("p256dh", .text), .required("auth", .text)]),
      "The keys of a browser's push subscription, whose `endpoint` is the `url`; it gets notifications alone."
    ),
    .optional("enabled", .flag),
  ]).named("WebhookDocument")
}
