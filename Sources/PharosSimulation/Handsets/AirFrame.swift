import PharosAdvertising
package import PharosReports

/// What a beacon or a tag sends: always the same frame from the same address.
package struct AirFrame: Sendable {
  let beacon: BeaconID
  package let address: DeviceAddress
  let payload: [UInt8]

  /// The frame of an identity that claims a level at one metre; what has no frame of its own sends a maker's data.
  package init(_ beacon: BeaconID, power: Double) {
    self.beacon = beacon
    let claimed = Int8(max(-127, min(20, power.rounded())))
    let words = beacon.words
    // Static random addresses begin with two ones.
    let made = 0xC000_0000_0000 | (words.high ^ words.low ^ words.tail &* 0x9E37_79B9) & 0x3FFF_FFFF_FFFF
    address =
      beacon.address.map { DeviceAddress(bits: $0.bits, kind: .random) }
      ?? DeviceAddress(bits: made, kind: .random)
    if let uuid = beacon.uuid, let major = beacon.major, let minor = beacon.minor {
      let frame = IBeacon(uuid: uuid, major: major, minor: minor, measuredPower: claimed)
      payload = Frame.iBeacon(frame).legacyPayload
    } else if let namespace = beacon.namespace, let instance = beacon.instance {
      // Eddystone claims the level at no distance, 41 dB above that at a metre.
      let frame = EddystoneUID(
        namespace: namespace,
        instance: instance,
        transmitPower: Int8(max(-100, min(20, power.rounded() + 41)))
      )
      payload = Frame.eddystoneUID(frame).legacyPayload
    } else {
      payload = [0x05, 0xFF, 0xFF, 0xFF, 0x01, 0x00]
    }
  }
}

/// When something advertises: every interval, each time a little late by chance.
package struct AdvertRhythm: Sendable {
  private let interval: TimeSpan
  private let phase: TimeSpan
  private let delays: NoiseField

  /// Half of the longest random delay of 10 ms.
  ///
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.2.1.
  private static let delay = TimeSpan.milliseconds(5)

  package init(interval: TimeSpan, seed: UInt64, number: Int) {
    var random = RandomStream(seed: seed, 22, UInt64(number))
    self.interval = interval
    phase = interval * random.uniform()
    delays = NoiseField(seed: random.next(), 0, length: 1)
  }

  /// The times of the adverts from one time until another, the end left out.
  package func times(from start: TimeSpan, until end: TimeSpan) -> [TimeSpan] {
    var found: [TimeSpan] = []
    var number = max(0, (start - phase).nanoseconds / max(1, interval.nanoseconds) - 1)
    while true {
      let nominal = phase + TimeSpan(nanoseconds: number * interval.nanoseconds)
      if nominal >= end { return found }
      let late = AdvertRhythm.delay * max(0, min(2, 1 + delays.value(at: Double(number)) / 2))
      let time = nominal + late
      if time >= start, time < end { found.append(time) }
      number += 1
    }
  }
}
