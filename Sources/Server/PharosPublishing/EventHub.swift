public import PharosModel
package import Synchronization

/// The hub of decisions: one sender, any number of subscribers, none of which can delay another.
///
/// Every subscription has a bounded queue of its own. ``publish(_:)`` appends a batch to each queue and returns; the
/// queue is drained elsewhere, at the speed of its subscriber and as far as its demand goes. The subscriber chooses the
/// policy of a full queue: drop the oldest and count, or end with an error.
public final class EventHub: Sendable {
  let hub = Hub<Event>()
  let sensed = Hub<Sensing>()
  /// Indicates whether a subscriber that must miss none has no room: the server reads no sockets meanwhile.
  ///
  /// Relaxed: a reader that sees it late reads a little more or less.
  package let isFull = Atomic<Bool>(false)

  /// Makes a hub without subscribers.
  public init() {}

  /// The number of subscriptions.
  public var subscriptionCount: Int { hub.count + sensed.count }

  /// Hands a batch to every subscription; never blocks.
  ///
  /// To be called from one thread at a time: the order of the calls is the order of the events.
  public func publish(_ batch: [Event]) { hub.publish(batch) }

  /// Hands what handsets sensed to every subscription that wants it; never blocks.
  ///
  /// To be called from the thread that hands over events, before the events that were decided by it.
  public func publish(sensings batch: [Sensing]) { sensed.publish(batch) }

  /// Ends every subscription once its queue is empty; later subscriptions end at once.
  public func finish() {
    hub.finish()
    sensed.finish()
  }

  /// Calls a function with every batch on the sender's thread, for those who must miss none and keep a bound of
  /// their own.
  ///
  /// - Parameters:
  ///   - receive: called with each batch; it must put the batch aside and return.
  ///   - onFinish: called once when nothing follows.
  /// - Returns: the tap, by which to end the calls.
  @discardableResult
  public func tap(
    _ receive: @escaping @Sendable ([Event]) -> Void,
    onFinish: @escaping @Sendable () -> Void = {}
  ) -> HubTap {
    hub.tap(receive, onFinish: onFinish)
  }
}

extension EventHub {
  /// Every decision, one by one.
  public var events: EventPublisher<Event, Never> { hub.stream { $0 } }

  /// Every decision in the batches it was made in: the stream to take for counting, forwarding and storing.
  public var batches: EventPublisher<[Event], Never> { hub.stream { [$0] } }

  /// Decisions in Core Location's words, in the order of its delegate's calls.
  public var regionEvents: EventPublisher<RegionEvent, Never> {
    hub.stream { $0.compactMap(RegionEvent.init) }
  }

  /// Decisions about one region, or about all regions of an application.
  ///
  /// - Parameters:
  ///   - region: the region's identifier, or nil for all.
  ///   - application: the application that registered it.
  /// - Returns: the stream.
  public func events(in region: String?, application: String = "default") -> EventPublisher<Event, Never> {
    matching { $0.application == application && (region == nil || $0.region == region) }
  }

  /// Decisions about one observer or beacon.
  public func events(for subject: SubjectID) -> EventPublisher<Event, Never> {
    matching { $0.subject == subject }
  }

  /// Decisions of some kinds.
  public func events(of kinds: Set<EventKind>) -> EventPublisher<Event, Never> {
    matching { kinds.contains($0.kind) }
  }

  /// Returns the beacons that observers range once a second, for one constraint or for all.
  public func ranging(_ constraint: BeaconConstraint? = nil) -> EventPublisher<Ranging, Never> {
    hub.stream { batch in
      batch.compactMap { event in
        guard let ranging = Ranging(event) else { return nil }
        return constraint == nil || ranging.constraint == constraint ? ranging : nil
      }
    }
  }

  private func matching(_ condition: @escaping @Sendable (Event) -> Bool) -> EventPublisher<Event, Never> {
    hub.stream { $0.filter(condition) }
  }
}

/// The beacons that one observer ranged in one second.
public struct Ranging: Hashable, Sendable {
  /// The observer that ranged.
  public let observer: ObserverID
  /// The constraint.
  public let constraint: BeaconConstraint
  /// The application that asked.
  public let application: String
  /// The beacons, nearest first, unknown last.
  public let beacons: [RangedReading]
  /// The end of the second.
  public let time: Timestamp

  /// Creates a ranging from the content of a ranging event, or nil for any other event.
  public init?(_ event: Event) {
    guard case .ranging(let constraint, let beacons) = event.detail else { return nil }
    guard case .observer(let observer) = event.subject else { return nil }
    self.observer = observer
    self.constraint = constraint
    self.beacons = beacons
    application = event.application
    time = event.time
  }
}

extension EventHub {
  /// The maximum number of subjects about which fixes wait for one subscriber.
  ///
  /// Three times the 5,000 subjects that a core locates once a second; 16,384 fixes of 256 bytes are 4 MB.
  public static var maximumFixSubjects: Int { 16_384 }

  /// Returns a stream of the newest fix of each subject, or of one subject.
  ///
  /// The stream is for displays of current positions. A newer fix replaces a fix of the same subject that still waits
  /// in the queue, so a slow subscriber gets the newest fix of each subject, and its queue stays bounded.
  /// ``EventSequence/dropped`` counts the fixes that were dropped beyond ``maximumFixSubjects``, not those that were
  /// replaced. The stream honours demand like all others. To receive every fix, use
  /// ``EventPublisher/buffering(_:onDrop:)`` or ``EventPublisher/failing(beyond:)``.
  ///
  /// - Parameter subject: a handset or a tag, or nil for all of them.
  /// - Returns: the stream.
  public func fixes(for subject: SubjectID? = nil) -> EventPublisher<Fix, Never> {
    hub.newest(limit: EventHub.maximumFixSubjects, by: { $0.subject }) { batch in
      batch.compactMap { event in
        guard event.kind == .fix, subject == nil || event.subject == subject else { return nil }
        return Fix(event)
      }
    }
  }
}

extension EventHub {
  /// The visits of all subjects: each with its arrival, and again, complete, with its departure.
  public var visits: EventPublisher<Visit, Never> { visits(of: nil) }

  /// Returns the visits of one subject, or of all: each with its arrival, and again, complete, with its departure.
  ///
  /// - Parameter subject: a handset or a tag, or nil for all of them.
  /// - Returns: the stream, for OpenCombine and for `for await`.
  public func visits(of subject: SubjectID?) -> EventPublisher<Visit, Never> {
    hub.stream { batch in
      batch.compactMap { subject == nil || $0.subject == subject ? Visit($0) : nil }
    }
  }
}

/// A visit of a subject, which lasts or has ended: the content of its event.
public struct Visit: Hashable, Sendable {
  /// The subject: a handset, or a tag.
  public let subject: SubjectID
  /// The visit; its `departure` is nil while it lasts.
  public let detail: VisitDetail

  /// Creates a visit.
  public init(subject: SubjectID, detail: VisitDetail) {
    self.subject = subject
    self.detail = detail
  }

  /// Creates a visit from the content of its event, or nil for any other event.
  public init?(_ event: Event) {
    guard case .visit(let detail) = event.detail else { return nil }
    self.init(subject: event.subject, detail: detail)
  }
}

/// The position of a subject at one time: the content of a fix event.
public struct Fix: Hashable, Sendable {
  /// The subject: a handset, or a tag that observers hear.
  public let subject: SubjectID
  /// The time at which the subject was there; it was decided a moment later.
  public let time: Timestamp
  /// The position, its accuracy, and its source.
  public let detail: FixDetail

  /// Creates a fix.
  public init(subject: SubjectID, time: Timestamp, detail: FixDetail) {
    self.subject = subject
    self.time = time
    self.detail = detail
  }

  /// Creates a fix from the content of a fix event, or nil for any other event.
  public init?(_ event: Event) {
    guard case .fix(let detail) = event.detail else { return nil }
    self.init(subject: event.subject, time: event.time, detail: detail)
  }
}

extension EventHub {
  /// The sensings of handsets, from which the server computes fixes; for programs that compute fixes in their own way.
  ///
  /// The server publishes them only if it has a venue to locate subjects in. A handset that sends raw motion causes
  /// about a hundred a second. At most ``EventPublisher/defaultLimit`` of them wait for a subscriber; older ones are
  /// dropped and counted.
  public var sensings: EventPublisher<Sensing, Never> { sensings { _ in true } }

  /// The Wi-Fi scans that handsets report.
  public var wifiScans: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .accessPoints = sensing.body { true } else { false } }
  }

  /// The motion that handsets report, as samples or as steps.
  public var motion: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .motion = sensing.body { true } else { false } }
  }

  /// The beacons that handsets hear, one level at a time.
  public var heardBeacons: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .beacon = sensing.body { true } else { false } }
  }

  /// The locations from outside that handsets report.
  public var outsideFixes: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .outside = sensing.body { true } else { false } }
  }

  /// Returns the beacons that observers range once a second, for one constraint or for all, each as a sensing to
  /// compute fixes from.
  ///
  /// A coarser stream than ``heardBeacons``: one mean level a second. Beacons without a sample in that second are left
  /// out.
  public func rangings(_ constraint: BeaconConstraint? = nil) -> EventPublisher<Sensing, Never> {
    hub.stream { batch in
      batch.flatMap { event -> [Sensing] in
        guard let ranging = Ranging(event), constraint == nil || ranging.constraint == constraint else {
          return []
        }
        return ranging.sensings(decidedAt: event.decidedAt, ordinal: event.ordinal)
      }
    }
  }

  private func sensings(_ isWanted: @escaping @Sendable (Sensing) -> Bool) -> EventPublisher<Sensing, Never> {
    sensed.stream { $0.filter(isWanted) }
  }
}

extension Ranging {
  /// Each beacon that was heard in the second, as a level at its end.
  fileprivate func sensings(decidedAt: Timestamp, ordinal: UInt64) -> [Sensing] {
    beacons.filter { $0.samples > 0 }
      .map { reading in
        Sensing(
          observer: observer,
          time: time,
          decidedAt: decidedAt,
          ordinal: ordinal,
          body: .beacon(
            reading.beacon,
            address: reading.beacon.address,
            rssi: RSSI(dBm: Int8(clamping: Int(reading.rssi.rounded()))),
            accuracy: reading.accuracy >= 0 ? Meters(reading.accuracy) : nil
          )
        )
      }
  }
}
