public import PharosReports

/// What a rule of an application has to say to people: a hello, a goodbye.
public struct NotificationDetail: Hashable, Sendable {
  /// What a rule waits for.
  public enum Occasion: UInt8, CaseIterable, Hashable, Sendable {
    /// A subject enters a region.
    case enter
    /// A subject leaves a region.
    case exit

    /// The occasion as documents and events spell it.
    public var name: String {
      switch self {
      case .enter: "enter"
      case .exit: "exit"
      }
    }
  }

  /// The identifier of the rule, which is unique within its application.
  public var rule: String
  /// What happened.
  public var occasion: Occasion
  /// The text, ready to be shown.
  public var text: String
  /// The enter or exit that caused it.
  public var cause: EventID

  /// Makes a notification.
  public init(rule: String, occasion: Occasion, text: String, cause: EventID) {
    self.rule = rule
    self.occasion = occasion
    self.text = text
    self.cause = cause
  }
}

extension NotificationDetail: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(rule)
    writer.write(occasion.rawValue)
    writer.write(text)
    writer.write(cause.high)
    writer.write(cause.low)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let rule = try reader.text()
    let tag = try reader.byte()
    guard let occasion = Occasion(rawValue: tag) else {
      throw reader.failure(.unknownTag(field: "a notification's occasion", tag: tag))
    }
    let text = try reader.text()
    let high = try reader.number(UInt64.self)
    let cause = EventID(high: high, low: try reader.number(UInt64.self))
    self.init(rule: rule, occasion: occasion, text: text, cause: cause)
  }
}

extension NotificationDetail {
  /// Writes the members of an event's `data`.
  func write(to json: inout JSONText) {
    json.member("rule", rule)
    json.member("on", occasion.name)
    json.member("text", text)
    json.member("cause", cause.description)
  }
}
