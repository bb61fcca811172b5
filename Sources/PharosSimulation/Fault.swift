package import PharosReports

/// Something that goes wrong with an observer for a while.
package struct Fault: Hashable, Sendable {
  /// What goes wrong.
  package enum Kind: String, Hashable, Sendable {
    /// It has no power: it hears nothing and sends nothing, and restarts with the next boot id and sequence 0.
    case power
    /// It has no network: it hears and sends, but nothing arrives, and its sequence numbers go on.
    case network
    /// Its radio is deaf: it sends heartbeats that say that it heard nothing.
    case radio
  }

  /// What goes wrong.
  package var kind: Kind
  /// When.
  package var window: TimeWindow

  /// Makes a fault.
  package init(_ kind: Kind, from: TimeSpan, until: TimeSpan) {
    self.kind = kind
    window = TimeWindow(from: from, until: until)
  }

  /// A restart: without power for as long as a gateway takes to boot.
  package static func restart(at time: TimeSpan, taking span: TimeSpan = .seconds(2)) -> Fault {
    Fault(.power, from: time, until: time + span)
  }
}

/// What happens to datagrams on their way to the server.
package struct Network: Hashable, Sendable {
  /// The shortest time that a datagram takes.
  package var delay: TimeSpan
  /// What queues add to it in the mean; the chance of more falls off exponentially.
  package var jitter: TimeSpan
  /// The share of datagrams that are lost.
  package var loss: Double
  /// The share of datagrams that arrive twice.
  package var duplication: Double
  /// The share of datagrams that take a detour, so that later ones overtake them.
  package var reordering: Double
  /// How long a detour takes at most.
  package var detour: TimeSpan

  /// Makes a network; the defaults are those of a quiet cable.
  package init(
    delay: TimeSpan = .microseconds(400),
    jitter: TimeSpan = .microseconds(200),
    loss: Double = 0,
    duplication: Double = 0,
    reordering: Double = 0,
    detour: TimeSpan = .milliseconds(300)
  ) {
    self.delay = delay
    self.jitter = jitter
    self.loss = loss
    self.duplication = duplication
    self.reordering = reordering
    self.detour = detour
  }

  /// When a datagram arrives that is sent at a time: not at all, once, or twice.
  func arrivals(sentAt time: TimeSpan, random: inout RandomStream) -> [TimeSpan] {
    guard !random.chance(loss) else { return [] }
    var first = time + delay + .seconds(random.exponential(mean: jitter.seconds))
    if random.chance(reordering) { first = first + detour * random.uniform() }
    guard random.chance(duplication) else { return [first] }
    return [first, first + delay + .seconds(random.exponential(mean: jitter.seconds))]
  }
}
