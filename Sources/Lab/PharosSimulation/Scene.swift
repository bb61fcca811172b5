package import PharosModel
package import PharosSpace

/// The description of a simulated place: its transmitters, observers, walls, radio and faults.
///
/// A scene contains no randomness; together with a seed it becomes a ``Simulation``.
package struct Scene: Hashable, Sendable {
  /// An area of the floor; the truth contains its entries and exits.
  package struct Area: Hashable, Sendable {
    /// Its name in the truth.
    package var name: String
    /// The outline of the area.
    package var shape: Polygon

    /// Makes an area.
    package init(name: String, shape: Polygon) {
      self.name = name
      self.shape = shape
    }
  }

  /// A name of one word, as on a command line.
  package var name: String
  /// A description of the scene, in one sentence.
  package var summary = ""
  /// The start time.
  package var start = Scene.defaultStart
  /// The duration, which may be `.forever`, since memory does not grow with time.
  package var duration: TimeSpan
  /// The walls that attenuate radio.
  package var walls: Walls = []
  /// The areas whose entries and exits the truth contains.
  package var areas: [Area] = []
  /// The transmitters, each name once.
  package var transmitters: [Transmitter]
  /// The observers, each identity once.
  package var observers: [Observer]
  /// The radio propagation model.
  package var radio = Radio()
  /// The site configuration that fits the scene, as a commented `site.yaml`; empty if there is none.
  package var siteYAML = ""

  /// The default start time of scenes: 2026-01-01 09:00:00 UTC.
  package static let defaultStart = Timestamp(seconds: 1_767_258_000)

  /// The built-in scenes.
  package static var builtIn: [Scene] { [.museumVisit, .gatewayOutage, .noisyDoorway, .busyHall, .demo] }

  /// Returns the built-in scene of a name, or nil if there is none.
  package static func builtIn(named name: String) -> Scene? { builtIn.first { $0.name == name } }

  /// The level that is expected of a transmitter at an observer: distance and walls, nothing by chance.
  ///
  /// - Units: dBm.
  package func expectedLevel(of transmitter: Transmitter, at observer: Observer, time: TimeSpan) -> Double {
    let from = transmitter.path.position(at: time)
    let to = observer.path.position(at: time)
    return transmitter.power + observer.gain - radio.pathLoss(distance: from.distance(to: to))
      - walls.attenuation(between: from, and: to)
  }
}

extension Scene {
  /// Makes a scene without walls, areas and a site.
  package init(
    name: String,
    duration: TimeSpan,
    transmitters: [Transmitter],
    observers: [Observer],
    radio: Radio
  ) {
    self.init(
      name: name,
      duration: duration,
      transmitters: transmitters,
      observers: observers,
      radio: radio,
      siteYAML: ""
    )
  }
}

extension Scene.Observer {
  /// Makes an observer of the usual kind.
  package init(id: ObserverID, sourceAddress: String, path: Path) {
    self.init(id: id, sourceAddress: sourceAddress, path: path, faults: [])
  }
}

extension Scene.Transmitter {
  /// Makes a transmitter of the usual kind.
  package init(
    name: String,
    address: DeviceAddress,
    payloads: [[UInt8]],
    path: Path,
    interval: TimeSpan
  ) {
    self.init(
      name: name,
      beacon: .address(address),
      payloads: payloads,
      address: address,
      path: path,
      interval: interval
    )
  }
}

/// A half-open period of a scene.
package struct TimeWindow: Hashable, Sendable {
  /// The start, relative to the start of the scene.
  package var from: TimeSpan
  /// The end, which is excluded, relative to the start of the scene.
  package var until: TimeSpan

  /// Makes a window.
  package init(from: TimeSpan = .zero, until: TimeSpan = .forever) {
    self.from = from
    self.until = until
  }

  /// The whole scene.
  package static let always = TimeWindow()

  /// Returns whether a time lies in the window.
  package func contains(_ time: TimeSpan) -> Bool { from <= time && time < until }
}

extension Scene {
  /// An observer: a fixed gateway, or a handset that a person carries about.
  package struct Observer: Hashable, Sendable {
    /// The kind of data that an observer reports about received adverts.
    package enum Reporting: Hashable, Sendable {
      /// Every advert, as gateways do.
      case adverts
      /// For each beacon a mean level since its last datagram, as the platforms of handsets allow.
      case rangedBeacons
    }

    /// The heartbeats of an observer.
    package struct Heartbeats: Hashable, Sendable {
      /// The time from one to the next.
      package var period: TimeSpan
      /// Indicates whether they contain radio statistics: adverts heard, scan duty, drops.
      package var includesStatistics: Bool

      /// Makes heartbeats.
      package init(period: TimeSpan, includesStatistics: Bool = true) {
        self.period = period
        self.includesStatistics = includesStatistics
      }
    }

    /// A scan pattern: the radio listens for `window` out of each `interval`, on one of three channels in turn.
    package struct Scan: Hashable, Sendable {
      /// The time from one window to the next.
      package var interval: TimeSpan
      /// The time within each interval during which it listens.
      package var window: TimeSpan

      /// Makes a scan pattern.
      package init(interval: TimeSpan = .milliseconds(100), window: TimeSpan = .milliseconds(100)) {
        self.interval = interval
        self.window = window
      }

      /// The share of time that the radio listens.
      package var duty: Double { interval > .zero ? window / interval : 0 }
    }

    /// Its identity.
    package var id: ObserverID
    /// The host that its datagrams come from, as text.
    package var sourceAddress: String
    /// The UDP port that its datagrams come from.
    package var sourcePort: UInt16 = 50_001
    /// Its position over time.
    package var path: Path
    /// The kind of data that it reports.
    package var reporting = Reporting.adverts
    /// The period at which it sends received adverts, with their ages; zero means at once.
    package var batchPeriod = TimeSpan.milliseconds(200)
    /// Its heartbeats, or nil for none.
    package var heartbeats: Heartbeats? = Heartbeats(period: .seconds(5))
    /// Its scan pattern.
    package var scan = Scan()
    /// The scan state that it reports whenever it starts, or nil for none.
    package var scanState: ScanState?
    /// The gain of its antenna.
    ///
    /// - Units: dB.
    package var gain = 0.0
    /// The error of each level that it reports.
    ///
    /// - Units: dB, one standard deviation.
    package var noise = 0.5
    /// The level at which it receives every second advert.
    ///
    /// - Units: dBm.
    package var sensitivity = -92.0
    /// The drift of its clock against true time; ages and up-time are counted with this clock.
    ///
    /// - Units: parts per million; crystals lie within ±50.
    package var clockDrift = 0.0
    /// The boot id of its first start; each restart uses the next one.
    package var bootID: UInt32 = 1
    /// The attenuation by its carrier's body straight behind the carrier.
    ///
    /// - Units: dB.
    package var bodyLoss = 0.0
    /// The times at which its display is turned on.
    package var displayOn: [TimeSpan] = []
    /// The network between it and the server.
    package var network = Network()
    /// Its faults.
    package var faults: [Fault] = []

    /// Returns whether a fault of a kind is active at a time.
    package func has(_ kind: Fault.Kind, at time: TimeSpan) -> Bool {
      faults.contains { $0.kind == kind && $0.window.contains(time) }
    }
  }
}

extension Scene {
  /// A transmitter: a fixed beacon, or a tag that a person carries about.
  package struct Transmitter: Hashable, Sendable {
    /// Its name in the truth.
    package var name: String
    /// Its identity.
    package var beacon: BeaconID
    /// The AD structures of its adverts, sent in turn: an Eddystone beacon sends UID, URL and TLM so.
    package var payloads: [[UInt8]]
    /// The level at one metre that its frames claim, or nil if they claim none.
    ///
    /// - Units: dBm.
    package var measuredPower: Int8?
    /// The address that it advertises with.
    package var address: DeviceAddress
    /// The PDU that it advertises with.
    package var pdu = Advert.PDU.nonConnectable
    /// Its position over time.
    package var path: Path
    /// The level that it really has at one metre.
    ///
    /// - Units: dBm.
    package var power = -59.0
    /// The time from one advert to the next, before the random delay.
    package var interval: TimeSpan
    /// The maximum of the random delay that is drawn for each interval and added to it.
    ///
    /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.2.1: 0 to 10 ms.
    package var advertDelay = TimeSpan.milliseconds(10)
    /// The interval at rest of a tag that advertises fast only when moved; nil if rest changes nothing.
    package var stillInterval: TimeSpan?
    /// The time that it must rest before it counts as still.
    package var stillAfter = TimeSpan.seconds(5)
    /// The attenuation by its carrier's body straight behind the carrier; in front there is none.
    ///
    /// - Units: dB.
    package var bodyLoss = 0.0
    /// The window during which it advertises.
    package var onAir = TimeWindow.always

    /// Returns the time of the next advert after the one at a time, before the random delay.
    ///
    /// A tag at rest that is picked up advertises at once.
    func nextAdvert(after time: TimeSpan) -> TimeSpan {
      guard let stillInterval, isStill(at: time) else { return time + interval }
      guard let departure = path.nextDeparture(after: time) else { return time + stillInterval }
      return min(time + stillInterval, departure)
    }

    /// Returns whether it has rested long enough to count as still.
    func isStill(at time: TimeSpan) -> Bool {
      guard let stillness = path.stillness(at: time) else { return true }
      return stillness >= stillAfter
    }
  }
}

/// A temporary fault of an observer.
package struct Fault: Hashable, Sendable {
  /// The kind of fault.
  package enum Kind: String, Hashable, Sendable {
    /// It has no power: it hears nothing and sends nothing, and restarts with the next boot id and sequence 0.
    case power
    /// It has no network: it hears and sends, but nothing arrives, and its sequence numbers go on.
    case network
    /// Its radio is deaf: it sends heartbeats that say that it heard nothing.
    case radio
  }

  /// The kind of fault.
  package var kind: Kind
  /// The window during which the fault is active.
  package var window: TimeWindow

  /// Makes a fault.
  package init(_ kind: Kind, from: TimeSpan, until: TimeSpan) {
    self.kind = kind
    window = TimeWindow(from: from, until: until)
  }

  /// A restart: without power for as long as a gateway takes to boot.
  package static func restart(at time: TimeSpan, receiving span: TimeSpan = .seconds(2)) -> Fault {
    Fault(.power, from: time, until: time + span)
  }
}

/// The network that datagrams pass through on their way to the server.
package struct Network: Hashable, Sendable {
  /// The shortest time that a datagram takes.
  package var delay: TimeSpan
  /// The mean of the exponentially distributed delay that queues add to it.
  package var jitter: TimeSpan
  /// The share of datagrams that are lost.
  package var loss: Double
  /// The share of datagrams that arrive twice.
  package var duplication: Double
  /// The share of datagrams that take a detour, so that later ones overtake them.
  package var reordering: Double
  /// The maximum delay that a detour adds.
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

  /// Returns the times at which a datagram sent at a time arrives: none, one or two.
  func arrivals(sentAt time: TimeSpan, random: inout RandomStream) -> [TimeSpan] {
    guard !random.chance(loss) else { return [] }
    var first = time + delay + .seconds(random.exponential(mean: jitter.seconds))
    if random.chance(reordering) { first = first + detour * random.uniform() }
    guard random.chance(duplication) else { return [first] }
    return [first, first + delay + .seconds(random.exponential(mean: jitter.seconds))]
  }
}
