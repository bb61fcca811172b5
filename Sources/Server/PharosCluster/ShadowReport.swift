import Foundation
import PharosDocuments
package import PharosModel
import PharosTerminal

/// The comparison of what a shadow decides with what the cluster decides.
///
/// Two decisions are one if they are about the same subject, region and time and of the same kind. What is left is paired by all of
/// these but the time, if that differs by at most two minutes.
package struct ShadowReport: Sendable {
  /// A kind of difference.
  package enum Difference: String, CaseIterable, Sendable {
    /// The cluster alone decides it.
    case onlyCluster = "only by the cluster"
    /// The shadow alone decides it.
    case onlyShadow = "only by the shadow"
    /// Both decide it, at different times.
    case otherTime = "at another time"
    /// Both decide it at one time, with different details.
    case otherwise = "with other details"
  }

  /// The differences of one kind, of decisions of one kind that have one cause.
  package struct Group: Hashable, Sendable {
    /// The kind of decision.
    package let kind: EventKind
    /// The kind of difference.
    package let difference: Difference
    /// The cause, in the words of tables without their numbers.
    package let cause: String
  }

  /// The time by which a decision may be another one's and come earlier or later.
  static let tolerance = TimeSpan.minutes(2)

  /// What a decision is about.
  private struct Matter: Hashable {
    let kind: EventKind
    let subject: SubjectID
    let application: String
    let region: String

    init(_ event: Event) {
      (kind, subject) = (event.kind, event.subject)
      (application, region) = (event.application, event.region)
    }
  }

  /// The number of decisions of the cluster that were compared.
  package private(set) var compared = 0
  /// The differences, each with its examples.
  package private(set) var groups: [Group: [Event]] = [:]

  /// Compares decisions.
  ///
  /// - Parameters:
  ///   - cluster: those of the cluster.
  ///   - shadow: those of the shadow.
  ///   - span: the times of decisions for which both are complete.
  package init(cluster: [Event], shadow: [Event], within span: Range<Timestamp>) {
    let (ours, theirs) = (ShadowReport.matters(cluster, span), ShadowReport.matters(shadow, span))
    compared = ours.values.reduce(0) { $0 + $1.count }
    for matter in Set(ours.keys).union(theirs.keys) { compare(ours[matter] ?? [], theirs[matter] ?? []) }
  }

  /// Compares each shadow of a cluster with it.
  ///
  /// - Parameters:
  ///   - bus: the broker, through which the nodes hand over their events.
  ///   - duration: the length of time before now that is compared at most.
  /// - Returns: the comparison of each shadow.
  /// - Throws: ``ClusterError``, or what is wrong with the events that a node has given.
  package static func all(
    on bus: any ClusterBus,
    over duration: TimeSpan
  ) throws -> [(node: NodeRecord, report: ShadowReport)] {
    let state = try ClusterState(of: bus)
    let now = Timestamp.wallClock
    guard let holder = state.nodes.first(where: { $0.node == state.holder && !$0.isGone(at: now) }) else {
      throw ClusterError.refused("no node delivers, so there is nothing to compare with")
    }
    return try state.nodes.filter { $0.isShadow && !$0.isGone(at: now) }.map { shadow in
      // Each has decided through what it has read; what it decides later about before is left out with a second.
      let end = min(holder.latest, shadow.latest) - .seconds(1)
      let start = min(max(shadow.since, end - duration), end)
      func events(_ node: String) throws -> [Event] {
        // The time of an event may lie before its decision, as that of an exit does.
        try ShadowReport.events(of: HandoverRequest(eventsOf: node, since: start - .minutes(15)), on: bus)
      }
      return (
        shadow,
        ShadowReport(cluster: try events(holder.node), shadow: try events(shadow.node), within: start..<end)
      )
    }
  }

  private static func events(of request: HandoverRequest, on bus: any ClusterBus) throws -> [Event] {
    let path = FileManager.default.temporaryDirectory.appending(path: "pharos-events-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var attempts = 0
    guard
      try JournalHandover(through: bus).receive(
        into: path,
        request,
        waiting: { attempts += 1 },
        isStopping: { attempts > 0 }
      )
    else { throw ClusterError.away("node \(request.node) does not hand over its events") }
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    var reader = FieldReader(bytes[...])
    var events: [Event] = []
    while reader.remaining > 0 { events.append(try Event(from: &reader)) }
    return events
  }

  private static func matters(_ events: [Event], _ span: Range<Timestamp>) -> [Matter: [Event]] {
    Dictionary(grouping: events.filter { span.contains($0.decidedAt) }) { Matter($0) }
      .mapValues { $0.sorted { $0.decidedAt < $1.decidedAt } }
  }

  /// Compares the decisions about one matter, each side in the order of time.
  private mutating func compare(_ ours: [Event], _ theirs: [Event]) {
    var left = theirs
    var open: [Event] = []
    for event in ours {
      guard let index = left.firstIndex(where: { $0.decidedAt == event.decidedAt }) else {
        open.append(event)
        continue
      }
      let other = left.remove(at: index)
      if (other.time, other.detail) != (event.time, event.detail) { note(event, .otherwise) }
    }
    for event in open {
      func distance(_ other: Event) -> TimeSpan {
        max(event.decidedAt, other.decidedAt) - min(event.decidedAt, other.decidedAt)
      }
      let nearest = left.indices.min { distance(left[$0]) < distance(left[$1]) }
      if let nearest, distance(left[nearest]) <= ShadowReport.tolerance {
        left.remove(at: nearest)
        note(event, .otherTime)
      } else {
        note(event, .onlyCluster)
      }
    }
    for event in left { note(event, .onlyShadow) }
  }

  private mutating func note(_ event: Event, _ difference: Difference) {
    let cause = event.detail.summary(of: event).split { $0.isNumber || $0.isWhitespace }.joined(
      separator: " "
    )
    groups[Group(kind: event.kind, difference: difference, cause: cause), default: []].append(event)
  }

  /// The comparison for people, a line for each group of differences, the most frequent ones first.
  package var lines: [String] {
    guard !groups.isEmpty else { return ["no difference in \(compared) decisions"] }
    let count = groups.values.reduce(0) { $0 + $1.count }
    return ["\(count) differences in \(compared) decisions"]
      + groups.sorted { ($1.value.count, $0.key.cause) < ($0.value.count, $1.key.cause) }.map {
        group,
        events in
        let example = events.min { $0.decidedAt < $1.decidedAt }
        return "\(events.count) × \(group.kind) \(group.difference.rawValue): \(group.cause)"
          + (example.map { "; first of \($0.subject) \($0.region) at \($0.time)" } ?? "")
      }
  }
}
