import PharosEvents
package import PharosReports

extension NotificationMachine {
  /// The version of the layout; another one is not read.
  static let version: UInt8 = 1

  /// Writes what is remembered, not the rules.
  package func writeState(to writer: inout FieldWriter) {
    writer.write(NotificationMachine.version)
    writer.write(UInt32(spoken.count))
    for (key, time) in spoken {
      key.write(to: &writer)
      time.write(to: &writer)
    }
    writer.write(UInt32(stays.count))
    for (key, stay) in stays {
      key.write(to: &writer)
      stay.deadline.write(to: &writer)
      writer.write(stay.cause.high)
      writer.write(stay.cause.low)
      writer.write(stay.isSure)
    }
    writer.write(UInt32(outbox.count))
    for event in outbox { event.write(to: &writer) }
  }

  /// Reads what ``writeState(to:)`` wrote, into a machine that remembers nothing yet.
  ///
  /// What was on its way into the journal is handed out again, unless the journal shows that it arrived.
  package mutating func restoreState(from reader: inout FieldReader) throws(FieldError) {
    let version = try reader.byte()
    guard version == NotificationMachine.version else {
      throw reader.failure(.version(version, expected: NotificationMachine.version))
    }
    for _ in 0..<(try reader.number(UInt32.self)) {
      let key = try Key(from: &reader)
      spoken[key] = try Timestamp(from: &reader)
    }
    for _ in 0..<(try reader.number(UInt32.self)) {
      let key = try Key(from: &reader)
      let deadline = try Timestamp(from: &reader)
      let high = try reader.number(UInt64.self)
      let cause = EventID(high: high, low: try reader.number(UInt64.self))
      stays[key] = Stay(deadline: deadline, cause: cause, isSure: try reader.flag())
    }
    for _ in 0..<(try reader.number(UInt32.self)) { outbox.append(try Event(from: &reader)) }
    handedOut = 0
    firstDeadline = stays.values.lazy.filter(\.isSure).map(\.deadline).min()
  }
}

extension NotificationMachine.Key {
  fileprivate func write(to writer: inout FieldWriter) {
    writer.write(application)
    writer.write(rule)
    subject.write(to: &writer)
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    let application = try reader.text()
    let rule = try reader.text()
    self.init(application: application, rule: rule, subject: try SubjectID(from: &reader))
  }
}
