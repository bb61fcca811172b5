package import PharosDocuments
package import PharosModel

/// What the events of a lane are about, which are delivered one after the other: a subject; where there is none, a region or a zone.
package struct DeliveryTopic: Hashable, Comparable, Sendable {
  /// The subject.
  package var subject: SubjectID
  /// The region or the zone of events without a subject; nil for those with one.
  package var region: RegionKey?

  /// Makes the topic of a subject.
  package init(_ subject: SubjectID) { self.subject = subject }

  /// Makes the topic of an event.
  package init(of event: Event) {
    subject = event.subject
    if subject == .none { region = RegionKey(application: event.application, region: event.region) }
  }

  /// Returns the conditions of a filter, and that an event belongs to this topic.
  package func narrowing(_ filter: EventFilter) -> EventFilter {
    var filter = filter
    filter.subjects = [subject]
    guard let region else { return filter }
    filter.applications = [region.application]
    filter.regions = [region.region]
    return filter
  }

  package static func < (left: DeliveryTopic, right: DeliveryTopic) -> Bool {
    guard left.subject == right.subject, let first = left.region, let second = right.region else {
      return left.subject < right.subject
    }
    return first < second
  }
}

/// The bytes of a topic are those of its subject; where there is none, its region's names follow.
extension DeliveryTopic: FieldCodable {
  /// Writes the value.
  package func write(to writer: inout FieldWriter) {
    writer.write(subject)
    guard let region else { return }
    writer.write(region.application)
    writer.write(region.region)
  }

  /// Reads the value.
  package init(from reader: inout FieldReader) throws(FieldError) {
    self.init(try reader.read() as SubjectID)
    guard reader.remaining > 0 else { return }
    region = RegionKey(application: try reader.text(), region: try reader.text())
  }
}
