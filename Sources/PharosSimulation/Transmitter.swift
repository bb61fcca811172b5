package import PharosPlaces
package import PharosReports

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
