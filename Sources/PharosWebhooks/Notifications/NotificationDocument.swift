import Foundation
import PharosEvents
package import PharosReports

/// A notification rule as somebody asks for it: what a request's JSON says.
package enum NotificationDocument {
  /// How long a subject may be held back or asked to stay: a rule that waits longer is no notification.
  static let longest = TimeSpan.minutes(7 * 24 * 60)

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
    var reader = try DocumentReader(json: json)
    reader.ignore(["id", "application"])
    let idLength = id.utf8.count
    if !(1...NotificationRule.longestIdentifier).contains(idLength) {
      reader.refuse(
        "id",
        "has \(idLength) bytes",
        expected: "1 to \(NotificationRule.longestIdentifier) bytes"
      )
    }
    let region = reader.required("region", expected: "a region's identifier")
    var occasion = NotificationDetail.Occasion.enter
    if let on = reader.required("on", expected: "\"enter\" or \"exit\"") {
      if let known = NotificationDetail.Occasion.allCases.first(where: { $0.name == on }) {
        occasion = known
      } else {
        reader.refuse("on", "is \"\(on)\"", expected: "\"enter\" or \"exit\"")
      }
    }
    let text = reader.required("text", expected: "a text such as \"Welcome, {name}!\"") ?? ""
    check(text, &reader)
    var rule = NotificationRule(
      application: application,
      id: id,
      region: region ?? "",
      occasion: occasion,
      text: text
    )
    rule.atMostOncePer = reader.span("atMostOncePer", example: "1h")
    rule.stayAtLeast = reader.span("onlyIfStillInsideAfter", example: "30s")
    if rule.stayAtLeast != nil, occasion == .exit {
      reader.refuse("onlyIfStillInsideAfter", "is about an exit", expected: "\"on\": \"enter\", or nothing")
    }
    rule.quietHours = reader.object("quietHours") { $0.quietHours() } ?? nil
    try reader.finish()
    return rule
  }

  private static func check(_ text: String, _ reader: inout DocumentReader) {
    if text.utf8.count > NotificationRule.longestText {
      reader.refuse(
        "text",
        "has \(text.utf8.count) bytes",
        expected: "at most \(NotificationRule.longestText)"
      )
    }
    for part in text.split(separator: "{", omittingEmptySubsequences: false).dropFirst() {
      guard let end = part.firstIndex(of: "}") else { continue }
      let name = "{\(part[..<end])}"
      if !NotificationRule.placeholders.contains(name) {
        reader.refuse(
          "text",
          "mentions \(name), which is not known",
          expected: NotificationRule.placeholders.joined(separator: ", ")
        )
      }
    }
  }
}

extension DocumentReader {
  /// A text that must be there and must not be empty.
  fileprivate mutating func required(_ key: String, expected: String) -> String? {
    let before = problems.count
    let text = text(key, expected: expected)
    if text?.isEmpty != false, problems.count == before {
      refuse(key, text == nil ? "is missing" : "is empty", expected: expected)
    }
    return text
  }

  /// A length of time, as people write it.
  fileprivate mutating func span(_ key: String, example: String) -> TimeSpan? {
    let expected = "a time such as \"\(example)\": a number with its unit, at most 7d"
    guard let text = text(key, expected: expected) else { return nil }
    guard let span = TimeSpan(written: text), span > .zero else {
      refuse(key, "is \"\(text)\"", expected: expected)
      return nil
    }
    if span > NotificationDocument.longest { refuse(key, "is too long", expected: expected) }
    return span
  }

  fileprivate mutating func quietHours() -> QuietHours? {
    func time(_ key: String, _ reader: inout DocumentReader) -> Int? {
      let expected = "a time of day such as \"22:30\""
      guard let text = reader.required(key, expected: expected) else { return nil }
      if let minutes = QuietHours.minutes(text) { return minutes }
      reader.refuse(key, "is \"\(text)\"", expected: expected)
      return nil
    }
    let (from, to) = (time("from", &self), time("to", &self))
    let expected = "a name of the tz database, such as \"Europe/Berlin\""
    let zone = required("timeZone", expected: expected)
    if let zone, TimeZone(identifier: zone) == nil {
      refuse("timeZone", "is \"\(zone)\"", expected: expected)
    }
    guard let from, let to, let zone else { return nil }
    if from == to { refuse("to", "is when they begin", expected: "another time of day") }
    return QuietHours(from: from, to: to, timeZone: zone)
  }
}

extension NotificationRule {
  /// Writes the rule, as members of an object that is open; sent back, they make the same rule.
  package func write(to json: inout JSONText) {
    json.member("id", id)
    json.member("application", application)
    json.member("region", region)
    json.member("on", occasion.name)
    json.member("text", text)
    json.member("atMostOncePer", ifPresent: atMostOncePer?.exactlyWritten)
    json.member("onlyIfStillInsideAfter", ifPresent: stayAtLeast?.exactlyWritten)
    guard let quietHours else { return }
    json.openObject("quietHours")
    json.member("from", QuietHours.text(quietHours.from))
    json.member("to", QuietHours.text(quietHours.to))
    json.member("timeZone", quietHours.timeZone)
    json.closeObject()
  }
}
