public import PharosEvents
package import PharosIngest
public import PharosPublishing
public import PharosReports

extension PharosServer {
  /// Every decision, one by one.
  public var events: EventPublisher<Event, Never> { hub.events }

  /// Every decision in the batches it was made in.
  public var batches: EventPublisher<[Event], Never> { hub.batches }

  /// Decisions in Core Location's words.
  public var regionEvents: EventPublisher<RegionEvent, Never> { hub.regionEvents }

  /// Decisions about one region.
  ///
  /// - Parameters:
  ///   - region: the region's identifier.
  ///   - application: the application that registered it.
  /// - Returns: the stream.
  public func events(in region: String, application: String = "default") -> EventPublisher<Event, Never> {
    hub.events(in: region, application: application)
  }

  /// Decisions of some kinds.
  public func events(of kinds: Set<EventKind>) -> EventPublisher<Event, Never> { hub.events(of: kinds) }

  /// What observers range once a second, for one constraint or for all.
  public func ranging(_ constraint: BeaconConstraint? = nil) -> EventPublisher<Ranging, Never> {
    hub.ranging(constraint)
  }

  /// Where somebody is, or everybody: the newest fix of each subject, as far as the subscriber asks.
  ///
  /// - Parameter subject: a handset or a tag, or nil for all of them.
  /// - Returns: the stream.
  public func fixes(for subject: SubjectID? = nil) -> EventPublisher<Fix, Never> {
    hub.fixes(for: subject)
  }

  /// What handsets sense, where the server was made to publish it: for who locates them in a way of their own.
  public var sensings: EventPublisher<Sensing, Never> { hub.sensings }

  /// An application's regions in the words of `CLMonitor`.
  public func monitor(application: String = "default") -> RegionMonitor {
    RegionMonitor(application: application, hub: hub, control: self)
  }
}

extension ListenAddress: ExpressibleByStringLiteral {
  /// Reads `HOST:PORT`; traps on anything else, since a literal is the programmer's own.
  public init(stringLiteral text: String) {
    guard let address = ListenAddress(text) else {
      preconditionFailure("\"\(text)\" is no HOST:PORT, such as 127.0.0.1:50001 or [::1]:50001")
    }
    self = address
  }
}
