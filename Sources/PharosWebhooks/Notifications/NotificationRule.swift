package import PharosEvents
package import PharosReports

/// What an application wants people to be told when somebody comes or goes: a hello, a goodbye.
package struct NotificationRule: Hashable, Sendable {
  /// How many rules an application may have: five for each of its twenty regions.
  package static let limit = 100
  /// How long a text may be: what lock screens show, four times over.
  ///
  /// - Units: bytes of UTF-8.
  package static let longestText = 1_024
  /// How long an identifier may be.
  ///
  /// - Units: bytes of UTF-8.
  package static let longestIdentifier = 64
  /// The placeholders that a text may contain; their values are filled in when a notification is decided.
  package static let placeholders = ["{subject}", "{name}", "{region}"]

  /// The application.
  package var application: String
  /// The identifier, unique within the application.
  package var id: String
  /// The region.
  package var region: String
  /// What it waits for.
  package var occasion: NotificationDetail.Occasion
  /// What to say; `{subject}`, `{name}` (of the directory, or else the subject) and `{region}` are filled in.
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
    self.occasion = occasion
    self.text = text
    self.atMostOncePer = atMostOncePer
    self.quietHours = quietHours
    self.stayAtLeast = stayAtLeast
    self.startsAfter = startsAfter
  }

  /// The text for a subject.
  package func text(for subject: SubjectID, name: String?) -> String {
    var result = ""
    var rest = text[...]
    while let brace = rest.firstIndex(of: "{") {
      result += rest[..<brace]
      rest = rest[brace...]
      if rest.hasPrefix("{subject}") {
        result += subject.description
        rest = rest.dropFirst("{subject}".count)
      } else if rest.hasPrefix("{name}") {
        result += name ?? subject.description
        rest = rest.dropFirst("{name}".count)
      } else if rest.hasPrefix("{region}") {
        result += region
        rest = rest.dropFirst("{region}".count)
      } else {
        result += "{"
        rest = rest.dropFirst()
      }
    }
    return result + rest
  }
}

extension NotificationRule: FieldCodable {
  /// The version of the layout; another one is not read.
  static let version: UInt8 = 1

  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(NotificationRule.version)
    writer.write(application)
    writer.write(id)
    writer.write(region)
    writer.write(occasion.rawValue)
    writer.write(text)
    writer.write(atMostOncePer)
    writer.write(quietHours)
    writer.write(stayAtLeast)
    writer.write(startsAfter)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    let version = try reader.byte()
    guard version == NotificationRule.version else {
      throw reader.failure(.version(version, expected: NotificationRule.version))
    }
    let application = try reader.text()
    let id = try reader.text()
    let region = try reader.text()
    let tag = try reader.byte()
    guard let occasion = NotificationDetail.Occasion(rawValue: tag) else {
      throw reader.failure(.unknownTag(field: "a rule's occasion", tag: tag))
    }
    let text = try reader.text()
    self.init(application: application, id: id, region: region, occasion: occasion, text: text)
    atMostOncePer = try reader.optional(TimeSpan.self)
    quietHours = try reader.optional(QuietHours.self)
    stayAtLeast = try reader.optional(TimeSpan.self)
    startsAfter = try reader.number(Int64.self)
  }
}
