package import PharosPlaces
package import PharosReports

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
