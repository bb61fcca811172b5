package import PharosReports
import PharosEvents

extension WebhookDefinition: FieldCodable {
  /// The version of the layout; another one is not read.
  static let version: UInt8 = 1

  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(WebhookDefinition.version)
    writer.write(id)
    writer.write(url)
    writer.write(summary)
    writer.write(application)
    filter.writeFields(to: &writer)
    secret.write(to: &writer)
    writer.write(formerSecret)
    writer.write(rotatesAt)
    writer.write(Int64(concurrency))
    writer.write(isEnabled)
    writer.write(disabledBecause)
    createdAt.write(to: &writer)
    writer.write(startsAfter)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    let version = try reader.byte()
    guard version == WebhookDefinition.version else {
      throw reader.failure(.version(version, expected: WebhookDefinition.version))
    }
    let id = try reader.text()
    let url = try reader.text()
    let summary = try reader.text()
    let application = try reader.optional(String.self)
    let filter = try EventFilter(fields: &reader)
    let secret = try WebhookSecret(from: &reader)
    let formerSecret = try reader.optional(WebhookSecret.self)
    let rotatesAt = try reader.optional(Timestamp.self)
    let concurrency = Int(truncatingIfNeeded: try reader.number(Int64.self))
    let isEnabled = try reader.flag()
    let disabledBecause = try reader.optional(String.self)
    let createdAt = try Timestamp(from: &reader)
    self.init(
      id: id,
      url: url,
      summary: summary,
      application: application,
      filter: filter,
      secret: secret,
      concurrency: min(max(concurrency, Self.concurrencies.lowerBound), Self.concurrencies.upperBound),
      isEnabled: isEnabled,
      createdAt: createdAt,
      startsAfter: try reader.number(Int64.self)
    )
    self.formerSecret = formerSecret
    self.rotatesAt = rotatesAt
    self.disabledBecause = disabledBecause
  }
}

extension EventFilter {
  /// Writes a filter as a webhook keeps it: kinds by their types, sets in order.
  fileprivate func writeFields(to writer: inout FieldWriter) {
    writer.write(kinds.map { FieldList($0.map(\.type).sorted()) })
    writer.write(regions.map { FieldList($0.sorted()) })
    writer.write(subjects.map { FieldList($0.sorted()) })
    writer.write(observers.map { FieldList($0.sorted()) })
  }

  /// Reads a filter; event kinds that this version does not know are left out.
  fileprivate init(fields reader: inout FieldReader) throws(FieldError) {
    let types = try reader.optional(FieldList<String>.self)?.elements
    let regions = try reader.optional(FieldList<String>.self)?.elements
    let subjects = try reader.optional(FieldList<SubjectID>.self)?.elements
    let observers = try reader.optional(FieldList<ObserverID>.self)?.elements
    self.init(
      kinds: types.map { types in Set(EventKind.allCases.filter { types.contains($0.type) }) },
      regions: regions.map { Set($0) },
      subjects: subjects.map { Set($0) },
      observers: observers.map { Set($0) }
    )
  }
}
