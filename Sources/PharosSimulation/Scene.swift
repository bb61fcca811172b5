package import PharosAdvertising
package import PharosPlaces
package import PharosReports

/// What happens somewhere: who is there, what transmits, who hears it, what stands in the way, what goes wrong.
///
/// A scene says nothing by chance; together with a seed it becomes a ``Simulation``.
package struct Scene: Hashable, Sendable {
  /// A piece of the floor whose comings and goings belong to the truth.
  package struct Area: Hashable, Sendable {
    /// Its name in the truth.
    package var name: String
    /// What belongs to it.
    package var shape: Polygon

    /// Makes an area.
    package init(name: String, shape: Polygon) {
      self.name = name
      self.shape = shape
    }
  }

  /// A name of one word, as on a command line.
  package var name: String
  /// What happens, in a sentence.
  package var summary: String
  /// When it begins.
  package var start: Timestamp
  /// How long it lasts; for ever if that is asked for, since memory does not grow with time.
  package var duration: TimeSpan
  /// What radio passes through.
  package var walls: Walls
  /// The areas that the truth tells about.
  package var areas: [Area]
  /// What advertises, each name once.
  package var transmitters: [Transmitter]
  /// Who listens, each identity once.
  package var observers: [Observer]
  /// How radio spreads.
  package var radio: Radio
  /// What a site would declare to make something of it.
  package var site: Site
  /// The same site as a commented `site.yaml`; empty if there is none.
  package var siteYAML: String

  /// 2026-01-01 09:00:00 UTC: when scenes begin unless they say otherwise.
  package static let defaultStart = Timestamp(seconds: 1_767_258_000)

  /// Makes a scene.
  package init(
    name: String,
    summary: String = "",
    start: Timestamp = Scene.defaultStart,
    duration: TimeSpan,
    walls: Walls = [],
    areas: [Area] = [],
    transmitters: [Transmitter],
    observers: [Observer],
    radio: Radio = Radio(),
    site: Site = Site(),
    siteYAML: String = ""
  ) {
    self.name = name
    self.summary = summary
    self.start = start
    self.duration = duration
    self.walls = walls
    self.areas = areas
    self.transmitters = transmitters
    self.observers = observers
    self.radio = radio
    self.site = site
    self.siteYAML = siteYAML
  }

  /// The scenes that Pharos brings along.
  package static var builtIn: [Scene] { [.museumVisit, .gatewayOutage, .noisyDoorway, .busyHall, .demo] }

  /// The scene of that name among those that Pharos brings along, or nil.
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

/// From one time of a scene until another, the end left out.
package struct TimeWindow: Hashable, Sendable {
  /// When it begins, counted from the scene's begin.
  package var from: TimeSpan
  /// When it ends, counted from the scene's begin.
  package var until: TimeSpan

  /// Makes a window.
  package init(from: TimeSpan = .zero, until: TimeSpan = .forever) {
    self.from = from
    self.until = until
  }

  /// The whole scene.
  package static let always = TimeWindow()

  /// Whether a time lies in it.
  package func contains(_ time: TimeSpan) -> Bool { from <= time && time < until }
}

extension Scene {
  /// Who listens: a fixed gateway, or a handset that somebody carries about.
  package struct Observer: Hashable, Sendable {
    /// What it tells of what it hears.
    package enum Reporting: Hashable, Sendable {
      /// Every advert, as gateways do.
      case adverts
      /// For each beacon a mean level since its last datagram, as the platforms of handsets allow.
      case rangedBeacons
    }

    /// How it tells that it lives.
    package struct Heartbeats: Hashable, Sendable {
      /// The time from one to the next.
      package var period: TimeSpan
      /// Whether they tell how the radio fares: adverts heard, scan duty, drops.
      package var tellsStatistics: Bool

      /// Makes heartbeats.
      package init(period: TimeSpan, tellsStatistics: Bool = true) {
        self.period = period
        self.tellsStatistics = tellsStatistics
      }
    }

    /// When its radio listens: for `window` out of each `interval`, on one of three channels in turn.
    package struct Scan: Hashable, Sendable {
      /// The time from one window to the next.
      package var interval: TimeSpan
      /// How long it listens of that.
      package var window: TimeSpan

      /// Makes a scan pattern.
      package init(interval: TimeSpan = .milliseconds(100), window: TimeSpan = .milliseconds(100)) {
        self.interval = interval
        self.window = window
      }

      /// The share of time that the radio listens.
      package var duty: Double { interval > .zero ? window / interval : 0 }
    }

    /// Who it says it is.
    package var id: ObserverID
    /// Where its datagrams come from: a host as text.
    package var sourceAddress: String
    /// The UDP port that its datagrams come from.
    package var sourcePort: UInt16
    /// Where it is.
    package var path: Path
    /// What it tells.
    package var reporting: Reporting
    /// How often it sends what it heard, which has an age by then; zero means at once.
    package var batchPeriod: TimeSpan
    /// How it tells that it lives, or nil for never.
    package var heartbeats: Heartbeats?
    /// When its radio listens.
    package var scan: Scan
    /// The scan state that it reports whenever it starts, or nil for none.
    package var scanState: ScanState?
    /// What its antenna adds to every level.
    ///
    /// - Units: dB.
    package var gain: Double
    /// The error of each level that it reports.
    ///
    /// - Units: dB, one standard deviation.
    package var noise: Double
    /// The level at which it receives every second advert.
    ///
    /// - Units: dBm.
    package var sensitivity: Double
    /// How fast its clock runs against true time: ages and up-time are counted with it.
    ///
    /// - Units: parts per million; crystals lie within ±50.
    package var clockDrift: Double
    /// The boot id of its first start; each restart uses the next one.
    package var bootID: UInt32
    /// What the body of its carrier takes from the level straight behind them.
    ///
    /// - Units: dB.
    package var bodyLoss: Double
    /// When its display is turned on.
    package var displayOn: [TimeSpan]
    /// The network between it and the server.
    package var network: Network
    /// What goes wrong with it.
    package var faults: [Fault]

    /// Makes an observer.
    package init(
      id: ObserverID,
      sourceAddress: String,
      sourcePort: UInt16 = 50_001,
      path: Path,
      reporting: Reporting = .adverts,
      batchPeriod: TimeSpan = .milliseconds(200),
      heartbeats: Heartbeats? = Heartbeats(period: .seconds(5)),
      scan: Scan = Scan(),
      scanState: ScanState? = nil,
      gain: Double = 0,
      noise: Double = 0.5,
      sensitivity: Double = -92,
      clockDrift: Double = 0,
      bootID: UInt32 = 1,
      bodyLoss: Double = 0,
      displayOn: [TimeSpan] = [],
      network: Network = Network(),
      faults: [Fault] = []
    ) {
      self.id = id
      self.sourceAddress = sourceAddress
      self.sourcePort = sourcePort
      self.path = path
      self.reporting = reporting
      self.batchPeriod = batchPeriod
      self.heartbeats = heartbeats
      self.scan = scan
      self.scanState = scanState
      self.gain = gain
      self.noise = noise
      self.sensitivity = sensitivity
      self.clockDrift = clockDrift
      self.bootID = bootID
      self.bodyLoss = bodyLoss
      self.displayOn = displayOn
      self.network = network
      self.faults = faults
    }

    /// Whether a fault of a kind holds at a time.
    package func has(_ kind: Fault.Kind, at time: TimeSpan) -> Bool {
      faults.contains { $0.kind == kind && $0.window.contains(time) }
    }
  }
}

extension Scene {
  /// Something that advertises: a fixed beacon, or a tag that somebody carries about.
  package struct Transmitter: Hashable, Sendable {
    /// Its name in the truth.
    package var name: String
    /// Who it says it is.
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
    package var pdu: Advert.PDU
    /// Where it is.
    package var path: Path
    /// The level that it really has at one metre.
    ///
    /// - Units: dBm.
    package var power: Double
    /// The time from one advert to the next, before the random delay.
    package var interval: TimeSpan
    /// The maximum of the random delay that is drawn for each interval and added to it.
    ///
    /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.2.1: 0 to 10 ms.
    package var advertDelay: TimeSpan
    /// The interval at rest of a tag that advertises fast only when moved; nil if rest changes nothing.
    package var stillInterval: TimeSpan?
    /// How long it must rest before it counts as still.
    package var stillAfter: TimeSpan
    /// What the body of its carrier takes from the level straight behind them; in front it takes nothing.
    ///
    /// - Units: dB.
    package var bodyLoss: Double
    /// When it advertises at all.
    package var onAir: TimeWindow

    /// Makes a transmitter from the bytes of its adverts.
    package init(
      name: String,
      beacon: BeaconID,
      payloads: [[UInt8]],
      measuredPower: Int8?,
      address: DeviceAddress,
      pdu: Advert.PDU = .nonConnectable,
      path: Path,
      power: Double = -59,
      interval: TimeSpan,
      advertDelay: TimeSpan = .milliseconds(10),
      stillInterval: TimeSpan? = nil,
      stillAfter: TimeSpan = .seconds(5),
      bodyLoss: Double = 0,
      onAir: TimeWindow = .always
    ) {
      self.name = name
      self.beacon = beacon
      self.payloads = payloads
      self.measuredPower = measuredPower
      self.address = address
      self.pdu = pdu
      self.path = path
      self.power = power
      self.interval = interval
      self.advertDelay = advertDelay
      self.stillInterval = stillInterval
      self.stillAfter = stillAfter
      self.bodyLoss = bodyLoss
      self.onAir = onAir
    }

    /// When the advert behind the one at a time is sent, before the random delay.
    ///
    /// A tag at rest that is picked up advertises at once.
    func nextAdvert(after time: TimeSpan) -> TimeSpan {
      guard let stillInterval, isStill(at: time) else { return time + interval }
      guard let departure = path.nextDeparture(after: time) else { return time + stillInterval }
      return min(time + stillInterval, departure)
    }

    /// Whether it has rested long enough to count as still.
    func isStill(at time: TimeSpan) -> Bool {
      guard let stillness = path.stillness(at: time) else { return true }
      return stillness >= stillAfter
    }
  }
}

extension Scene.Transmitter {
  /// Makes a transmitter from the frames that it advertises in turn.
  ///
  /// Its identity is that of the first frame that has one, otherwise its address.
  package init(
    name: String,
    frames: [Frame],
    address: DeviceAddress,
    path: Path,
    power: Double = -59,
    interval: TimeSpan,
    stillInterval: TimeSpan? = nil,
    stillAfter: TimeSpan = .seconds(5),
    bodyLoss: Double = 0,
    onAir: TimeWindow = .always
  ) {
    self.init(
      name: name,
      beacon: frames.lazy.compactMap(\.beacon).first ?? .address(address),
      payloads: frames.map(\.legacyPayload),
      measuredPower: frames.lazy.compactMap(\.measuredPower).first,
      address: address,
      path: path,
      power: power,
      interval: interval,
      stillInterval: stillInterval,
      stillAfter: stillAfter,
      bodyLoss: bodyLoss,
      onAir: onAir
    )
  }
}

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
