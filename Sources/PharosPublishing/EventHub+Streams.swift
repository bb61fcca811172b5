public import PharosEvents
public import PharosReports

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

  /// What observers range once a second, for one constraint or for all.
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

/// What one observer ranged in one second.
public struct Ranging: Hashable, Sendable {
  /// The observer that ranged.
  public let observer: ObserverID
  /// What was asked for.
  public let constraint: BeaconConstraint
  /// The application that asked.
  public let application: String
  /// The beacons, nearest first, unknown last.
  public let beacons: [RangedReading]
  /// The end of the second.
  public let time: Timestamp

  /// A ranging event's content, or nil for any other event.
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
