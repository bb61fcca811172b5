import Foundation
package import PharosDocuments
package import PharosModel

/// A rule of an application: a text to publish when a subject enters or leaves a region or a zone.
package struct NotificationRule: Hashable, Sendable {
  /// The maximum number of rules of an application: five for each of its twenty regions.
  package static let limit = 100
  /// The maximum length of a text: four times the length that lock screens show.
  ///
  /// - Units: bytes of UTF-8.
  package static let maximumText = 1_024
  /// The maximum length of an identifier.
  ///
  /// - Units: bytes of UTF-8.
  package static let maximumIdentifier = 64
  /// The placeholders that a text may contain, the last one for a zone alone; their values are filled in when a notification is decided.
  package static let placeholders = ["{subject}", "{name}", "{region}", "{room}"]

  /// The application.
  package var application: String
  /// The identifier, unique within the application.
  package var id: String
  /// The region, or the zone if the occasion is about one.
  package var region: String
  /// The one subject that it is about, or nil for all.
  package var subject: SubjectID?
  /// The occasion of the notification: an enter or an exit.
  package var occasion: NotificationDetail.Occasion
  /// The text to publish; `{subject}`, `{name}` (from the directory, or else the subject),
  /// `{region}` and `{room}` (the name of the zone) are filled in.
  package var text: String
  /// The time within which a subject is the cause of one notification at most.
  package var atMostOncePer: TimeSpan?
  /// The hours in which the rule publishes nothing.
  package var quietHours: QuietHours?
  /// The time that a subject must stay inside before the rule publishes, so that it does not greet passers-by.
  package var stayAtLeast: TimeSpan?
  /// The sequence after which events count.
  package var startsAfter: Int64

  /// Makes a rule.
  package init(
    application: String,
    id: String,
    region: String,
    subject: SubjectID? = nil,
    occasion: NotificationDetail.Occasion,
    text: String,
    atMostOncePer: TimeSpan? = nil,
    quietHours: QuietHours? = nil,
    stayAtLeast: TimeSpan? = nil,
    startsAfter: Int64 = 0
  ) {
    self.application = application
    self.id = id
    self.region = region
    self.subject = subject
    self.occasion = occasion
    self.text = text
    self.atMostOncePer = atMostOncePer
    self.quietHours = quietHours
    self.stayAtLeast = stayAtLeast
    self.startsAfter = startsAfter
  }

  /// The text for a subject.
  package func text(for subject: SubjectID, by names: SiteNames?) -> String {
    var result = ""
    var rest = text[...]
    while let brace = rest.firstIndex(of: "{") {
      result += rest[..<brace]
      rest = rest[brace...]
      if rest.hasPrefix("{subject}") {
        result += subject.description
        rest = rest.dropFirst("{subject}".count)
      } else if rest.hasPrefix("{name}") {
        result += names?.given(to: subject) ?? subject.description
        rest = rest.dropFirst("{name}".count)
      } else if rest.hasPrefix("{region}") {
        result += region
        rest = rest.dropFirst("{region}".count)
      } else if rest.hasPrefix("{room}") {
        result += names?.room(ofZone: region) ?? region
        rest = rest.dropFirst("{room}".count)
      } else {
        result += "{"
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }
}

extension NotificationRule: FieldStruct {
  /// The versions of the layout: for all subjects, and for one, which follows behind the rest.
  private static let versions: (all: UInt8, one: UInt8) = (1, 2)

  /// Makes a value whose fields are still to be read.
  package init() { self.init(application: "", id: "", region: "", occasion: .enter, text: "") }

  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var version = subject == nil ? NotificationRule.versions.all : NotificationRule.versions.one
    try coder.code(&version)
    try coder.check(
      version == NotificationRule.versions.all || version == NotificationRule.versions.one,
      "a version of notification rules"
    )
    try coder.code(&application)
    try coder.code(&id)
    try coder.code(&region)
    try coder.code(&occasion)
    try coder.code(&text)
    try coder.code(&atMostOncePer)
    try coder.code(&quietHours)
    try coder.code(&stayAtLeast)
    try coder.code(&startsAfter)
    if version == NotificationRule.versions.one { try coder.code(&subject) }
  }
}

/// The hours of the day in which a rule publishes no notification, in the local time of a place.
///
/// A notification that falls into them is dropped, not postponed: a greeting in the morning is wrong for a visitor
/// who came at night.
package struct QuietHours: Hashable, Sendable {
  /// The beginning.
  ///
  /// - Units: minutes after midnight, 0 to 1439.
  package var from: Int
  /// The end; if it lies before `from`, the hours last over midnight.
  ///
  /// - Units: minutes after midnight, 0 to 1439.
  package var to: Int
  /// The time zone, by its name in the tz database, such as `Europe/Berlin`.
  package var timeZone: String

  /// Makes quiet hours.
  package init(from: Int, to: Int, timeZone: String) {
    self.from = from
    self.to = to
    self.timeZone = timeZone
  }

  /// Returns whether an instant lies within the hours; the minute at which they end does not.
  ///
  /// The local time follows the time zone's rules for that instant, including summer time.
  package func contains(_ instant: Timestamp) -> Bool {
    // The name was checked when the rule was made; a system that has lost it since counts in UTC.
    let zone = TimeZone(identifier: timeZone) ?? .gmt
    let seconds = instant.nanoseconds / 1_000_000_000
    let offset = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    let minute = ((Int(seconds) + offset) % 86_400 + 86_400) % 86_400 / 60
    return from <= to ? (from..<to).contains(minute) : minute >= from || minute < to
  }

  /// Parses a time of day such as `22:30` as minutes after midnight; returns nil if it is no time of day.
  static func minutes(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy(\.isASCII) }) else {
      return nil
    }
    guard let hour = UInt8(parts[0]), let minute = UInt8(parts[1]), hour < 24, minute < 60 else { return nil }
    return Int(hour) * 60 + Int(minute)
  }

  /// Formats minutes after midnight as a time of day such as `22:30`.
  static func text(_ minutes: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(two(minutes / 60)):\(two(minutes % 60))"
  }
}

extension QuietHours: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let from = Int(try coder.field(UInt16(clamping: value().from)))
    let to = Int(try coder.field(UInt16(clamping: value().to)))
    return QuietHours(from: min(from, 1_439), to: min(to, 1_439), timeZone: try coder.field(value().timeZone))
  }
}

/// The decoder of a notification rule from the JSON of a request.
package enum NotificationDocument {
  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: the document.
  ///   - application: the application, from the path.
  ///   - id: the identifier, from the path.
  /// - Returns: the rule.
  /// - Throws: ``WebhookError/invalid(_:)``.
  package static func rule(
    json: [UInt8],
    application: String,
    id: String
  ) throws(WebhookError) -> NotificationRule {
    let known =
      ["region", "zone", "subject"] + DocumentField.keys(NotificationRule.properties) + ["quietHours"]
    let ignored = ["id", "application"]
    return try WebhookError.document(json, name: "notification", known: known, ignored: ignored) { fields in
      var rule = NotificationRule(application: application, id: id, region: "", occasion: .enter, text: "")
      let length = id.utf8.count
      if !(1...NotificationRule.maximumIdentifier).contains(length) || PlainText.hasControls(id) {
        fields.mistake(
          "id",
          "id has \(length) bytes",
          expected: "1 to \(NotificationRule.maximumIdentifier) bytes without control characters"
        )
      }
      readPlace(fields, into: &rule)
      DocumentField.read(NotificationRule.properties, of: fields, into: &rule)
      if fields.has("zone") { rule.occasion = rule.occasion == .enter ? .zoneEnter : .zoneExit }
      check(rule.text, fields, isAboutZone: rule.occasion.isAboutZone)
      if rule.stayAtLeast != nil, rule.occasion.name == NotificationDetail.Occasion.exit.name {
        fields.mistake(
          "onlyIfStillInsideAfter",
          "onlyIfStillInsideAfter is about an exit",
          expected: "\"on\": \"enter\", or nothing"
        )
      }
      rule.quietHours = fields.fields("quietHours", known: ["from", "to", "timeZone"])?.quietHours()
      return rule
    }
  }

  /// Reads the region or the zone that the rule is about, and the subject.
  private static func readPlace(_ fields: DocumentFields, into rule: inout NotificationRule) {
    let subject = ValueForm(expected: "an observer or a beacon as events name it") { SubjectID($0) }
    rule.subject = fields.value("subject", subject)
    guard fields.has("zone") else {
      rule.region =
        fields.requiredText("region", expected: "a region's identifier, or zone and a zone's") ?? ""
      return
    }
    if fields.has("region") {
      fields.mistake("zone", "region and zone are set together", expected: "one of them")
    }
    rule.region = fields.requiredText("zone", expected: "a zone's identifier") ?? ""
  }

  private static func check(_ text: String, _ fields: DocumentFields, isAboutZone: Bool) {
    if text.utf8.count > NotificationRule.maximumText {
      let limit = NotificationRule.maximumText
      fields.mistake("text", "text has \(text.utf8.count) bytes", expected: "at most \(limit)")
    }
    for part in text.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
      guard let end = part.firstIndex(of: "}") else { continue }
      let name = "{\(part[..<end])}"
      let placeholders = NotificationRule.placeholders.filter { isAboutZone || $0 != "{room}" }
      if !placeholders.contains(name) {
        let expected = placeholders.joined(separator: ", ")
        fields.mistake("text", "text mentions \(name), which is not known", expected: expected)
      }
    }
  }
}

extension NotificationRule {
  /// The members of a document, besides the quiet hours.
  fileprivate static let properties: [DocumentField<NotificationRule>] = [
    DocumentField("on", \.occasion, .occasion, isRequired: true),
    DocumentField(
      "text",
      \.text,
      .filled("a text such as \"Welcome, {name}!\""),
      "`{subject}`, `{name}` and `{region}` are filled in; for a zone also `{room}`, its name.",
      isRequired: true
    ),
    DocumentField("atMostOncePer", \.atMostOncePer, .span(example: "1h")),
    DocumentField("onlyIfStillInsideAfter", \.stayAtLeast, .span(example: "30s")),
  ]
}

extension ValueForm where Value == NotificationDetail.Occasion {
  fileprivate static var occasion: Self {
    ValueForm(
      expected: "\"enter\" or \"exit\"",
      schema: .words(Value.allCases.map(\.name)),
      text: { $0.name },
      parse: { text in Value.allCases.first { $0.name == text } }
    )
  }
}

extension ValueForm where Value == TimeSpan {
  /// A positive time span of at most a week: a rule that waits longer is no notification.
  fileprivate static func span(example: String) -> Self {
    ValueForm(
      expected: "a time such as \"\(example)\": a number with its unit, at most 7d",
      schema: .duration,
      text: { $0.exactlyWritten },
      parse: { text in
        TimeSpan(written: text).flatMap { $0 > .zero && $0 <= .minutes(7 * 24 * 60) ? $0 : nil }
      }
    )
  }
}

extension DocumentFields {
  fileprivate func quietHours() -> QuietHours? {
    let time = ValueForm(expected: "a time of day such as \"22:30\"", parse: QuietHours.minutes)
    let (from, to) = (required("from", time), required("to", time))
    let zones = ValueForm(expected: "a name of the tz database, such as \"Europe/Berlin\"") { name in
      TimeZone(identifier: name) == nil ? nil : name
    }
    // Without one they are those of the place where the server stands.
    let zone = value("timeZone", zones) ?? TimeZone.current.identifier
    guard let from, let to else { return nil }
    if from == to { mistake("to", "to is when they begin", expected: "another time of day") }
    return QuietHours(from: from, to: to, timeZone: zone)
  }
}

extension NotificationRule {
  /// Writes the rule as members of an open JSON object; a client that sends them back creates the same rule.
  package func write(to json: inout JSONText) {
    json.member("id", id)
    json.member("application", application)
    json.member(occasion.isAboutZone ? "zone" : "region", region)
    json.member("subject", ifPresent: subject?.description)
    DocumentField.write(NotificationRule.properties, of: self, to: &json)
    guard let quietHours else { return }
    json.openObject("quietHours")
    json.member("from", QuietHours.text(quietHours.from))
    json.member("to", QuietHours.text(quietHours.to))
    json.member("timeZone", quietHours.timeZone)
    json.closeObject()
  }
}

extension [Schema.Member] {
  private static func place(_ region: Schema) -> Self {
    [
      .optional("region", region),
      .optional("zone", .name, "The zone, in place of a region; with an operator's token."),
      .optional("subject", .name, "Only this observer or beacon."),
    ]
  }

  fileprivate static let ruleGiven: Self =
    place(.name) + given(NotificationRule.properties) + [
      .optional(
        "quietHours",
        .closed([.required("from", .text), .required("to", .text), .optional("timeZone", .text)])
      )
    ]

  fileprivate static let rule: Self =
    [.required("id", .text), .optional("application", .text)] + place(.text)
    + written(NotificationRule.properties) + [
      .optional(
        "quietHours",
        .object([.required("from", .text), .required("to", .text), .required("timeZone", .text)])
      )
    ]
}

extension Schema {
  package static let notificationDocument = closed(.ruleGiven).named("NotificationDocument")
  package static let notification = object(.rule).named("Notification")
}
