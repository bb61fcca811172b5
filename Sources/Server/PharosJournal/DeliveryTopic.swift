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
extension DeliveryTopic: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    var topic = DeliveryTopic(try coder.field(value().subject))
    guard coder.hasMore(value().region != nil) else { return topic }
    topic.region = RegionKey(
      application: try coder.field(value().region?.application ?? ""),
      region: try coder.field(value().region?.region ?? "")
    )
    return topic
  }
}
