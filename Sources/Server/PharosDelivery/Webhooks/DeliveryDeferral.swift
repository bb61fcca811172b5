package import PharosDocuments
package import PharosModel
import PharosPublishing
import Synchronization

/// The rule by which a receiver that sleeps gets its events later: all that wait at once, one request each, in order.
///
/// As Core Location's `allowDeferredLocationUpdates(untilTraveled:timeout:)`, with a limit of the number that waits. It
/// decides only when events are due: they wait in the journal, and a restart loses none.
package struct DeliveryDeferral: Hashable, Sendable {
  /// The allowed times, in seconds; a day is as long as an event that fails is tried.
  package static let times = 1.0...86_400
  /// The allowed distances, in metres.
  package static let distances = 1.0...100_000
  /// The allowed numbers of events: as many as a webhook holds in memory.
  package static let counts = 1...256
  /// The time of a deferral that states none: a subject may never move so far, nor so many events come.
  package static let usualTime = TimeSpan.minutes(60)

  /// The time after which the oldest event that waits is due, and all others with it.
  package var time: TimeSpan
  /// The distance in metres that a subject moves until its events are due; nil for any.
  package var distance: Double?
  /// The number of events that wait at which all are due.
  package var maximumCount: Int

  /// Makes a rule.
  package init(
    time: TimeSpan = DeliveryDeferral.usualTime,
    distance: Double? = nil,
    maximumCount: Int = DeliveryDeferral.counts.upperBound
  ) {
    self.time = time
    self.distance = distance
    self.maximumCount = maximumCount
  }
}

extension DeliveryDeferral: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    DeliveryDeferral(
      time: try coder.field(value().time),
      distance: try coder.field(value().distance),
      maximumCount: try coder.field(value().maximumCount)
    )
  }
}

extension DocumentFields {
  /// Reads a rule, which states one limit at least.
  func deferral() -> DeliveryDeferral {
    let time = value("time", .number(in: DeliveryDeferral.times, unit: "seconds"))
    let distance = value("distance", .number(in: DeliveryDeferral.distances, unit: "metres"))
    if !["time", "distance", "maximumCount"].contains(where: has) {
      mistake("time", "no limit is there", expected: "seconds, or a distance in metres, or maximumCount")
    }
    return DeliveryDeferral(
      time: time.map { .seconds($0) } ?? DeliveryDeferral.usualTime,
      distance: distance,
      maximumCount: value("maximumCount", .integer(in: DeliveryDeferral.counts))
        ?? DeliveryDeferral.counts.upperBound
    )
  }
}

extension DeliveryDeferral {
  /// The members in answers.
  static let members: [DocumentField<DeliveryDeferral>] = [
    .always("time", .number, "Seconds after which the oldest event that waits is due, and all with it.") {
      $0.time.seconds
    },
    .sometimes("distance", .number, "Metres that a subject moves until its events are due.") { $0.distance },
    .always("maximumCount", .integer, "How many events wait at most.") { $0.maximumCount },
  ]

  /// The document that requests state.
  static let schema = Schema.closed([
    .optional(
      "time",
      .number(times),
      "Seconds after which the oldest event that waits is due, and all with it; an hour where it is not stated."
    ),
    .optional("distance", .number(distances), "Metres that a subject moves until its events are due."),
    .optional(
      "maximumCount",
      .integer(counts).usually(.integer(Int64(counts.upperBound))),
      "How many events wait at most."
    ),
  ]).described(
    "The receiver sleeps: its events wait for each other, and are delivered all at once, one request each, in order."
  )
}

/// The movement of subjects, by which deferred events become due.
final class MovementWatch: Sendable {
  private struct State {
    var distance: Double?
    var filter = FixFilter(distance: nil, accuracy: nil)
  }

  private let state = Mutex(State())

  /// Follows movements of a distance, from the next fix of each subject on; nil for none.
  func follow(_ distance: Double?) {
    state.withLock { state in
      guard state.distance != distance else { return }
      state = State(distance: distance, filter: FixFilter(distance: distance, accuracy: nil))
    }
  }

  /// Returns the subjects that have moved by the distance since the last time, or changed the floor.
  func moved(by fixes: [Event]) -> Set<SubjectID> {
    state.withLock { state in
      guard state.distance != nil else { return [] }
      return Set(fixes.filter { state.filter.hasMoved(by: $0) }.map(\.subject))
    }
  }

  /// Forgets where a subject was.
  func forget(_ traces: SubjectTraces) { state.withLock { $0.filter.forget(traces) } }
}
