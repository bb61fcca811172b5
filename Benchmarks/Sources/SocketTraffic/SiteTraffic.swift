package import PharosModel
import PharosWire

/// A site of 23,744 tracks and its datagrams, a second of traffic after the other.
///
/// 224 observers hear 106 beacons each, once a second; of those, chance loses ten, so that 96 adverts are in an even number of
/// datagrams. A hundred applications have twenty regions each, so that two ask about every beacon; one application in ten
/// asks for ranging as well. Levels are noisy and ages differ. All datagrams with so many adverts are of one length.
package struct SiteTraffic: Sendable {
  /// How many observers there are.
  package static let observers = 224
  /// How many beacons each of them hears.
  package static let beacons = 106
  /// How many adverts of them arrive in a second.
  package static let heard = 96
  /// How many tracks there are in the end.
  package static let tracks = observers * beacons
  /// How many applications there are.
  package static let applications = 100
  /// How many regions each of them has.
  package static let regions = 20
  /// Where the number of a datagram stands in it (the article "The Pharos datagram, version 1" of PharosWire).
  static let sequenceOffset = 16

  private var encoders: [PharosDatagramEncoder]
  private var batch = ReportBatch()
  private var datagram: [UInt8] = []
  private var second: Int64 = 0
  private var random: UInt64 = 0x2545_F491_4F6C_DD1D
  private static let template: [UInt8] =
    [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 0, count: 20) + [0xC5]

  /// Begins the traffic.
  package init() {
    encoders = (0..<SiteTraffic.observers).map {
      PharosDatagramEncoder(observer: SiteTraffic.observer($0), bootID: 1)
    }
  }

  /// The identity of an observer by its number.
  package static func observer(_ number: Int) -> ObserverID { .eui48(0xAC23_3F00_0000 | UInt64(number)) }

  /// What the site's file would say.
  ///
  /// - Parameter hasRanging: whether one application in ten asks for ranging.
  /// - Returns: the site.
  package static func site(hasRanging: Bool = true) -> Site {
    Site(
      applications: (0..<applications).map { number in
        Application(
          identifier: "application-\(number)",
          regions: regions(of: number),
          ranging: hasRanging && number % 10 == 0
            ? [RangingRequest(constraint: .proximity(uuid(of: number)))] : []
        )
      }
    )
  }

  /// How many datagrams a second's traffic has.
  package static func datagrams(adverts: Int) -> Int { observers * heard / adverts }

  /// The datagrams of the next second, one behind the other: the first of each observer, then the second of each.
  ///
  /// - Parameter adverts: how many adverts a datagram has; a divisor of 96, at most 24.
  /// - Returns: their bytes and the length of each.
  package mutating func nextSecond(adverts: Int) -> (bytes: [UInt8], length: Int) {
    precondition(SiteTraffic.heard.isMultiple(of: adverts) && adverts <= 24)
    second += 1
    let chosen = (0..<SiteTraffic.observers).map { _ in choose() }
    var bytes: [UInt8] = []
    for round in 0..<SiteTraffic.heard / adverts {
      for observer in 0..<SiteTraffic.observers {
        append(chosen[observer][round * adverts..<(round + 1) * adverts], of: observer)
        bytes.append(contentsOf: datagram)
      }
    }
    return (bytes, datagram.count)
  }

  /// Which beacons an observer receives in a second.
  ///
  /// - Source: Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S.
  private mutating func choose() -> [Int] {
    var chosen: [Int] = []
    for beacon in 0..<SiteTraffic.beacons {
      let left = UInt64(SiteTraffic.beacons - beacon)
      if next() % left < UInt64(SiteTraffic.heard - chosen.count) { chosen.append(beacon) }
    }
    return chosen
  }

  private mutating func append(_ beacons: ArraySlice<Int>, of observer: Int) {
    batch.removeAll()
    let place = batch.index(of: SiteTraffic.observer(observer))
    let now = Timestamp(seconds: 1_420_070_400 + second)
    for beacon in beacons {
      let dice = next()
      let number = observer * SiteTraffic.beacons + beacon
      // Steps of 3 dB at most to either side of the beacon's own level.
      let level = -55 - number % 30 - Int(dice >> 8 & 3) + Int(dice >> 10 & 3)
      let payload = SiteTraffic.payload(
        of: SiteTraffic.uuid(of: observer % SiteTraffic.applications),
        major: UInt16(beacon % 19 + 1),
        minor: UInt16(beacon)
      )
      let advert = Advert(
        address: DeviceAddress(bits: 0x1000_0000_0000 | UInt64(number), kind: .public),
        rssi: RSSI(dBm: Int8(level)),
        pdu: .nonConnectable,
        payload: batch.append(payload: payload.span.bytes)
      )
      let age = TimeSpan.microseconds(Int64(dice >> 16 & 0x3FFF) + 2_000)
      batch.append(Report(observer: place, received: now, timing: .age(age), body: .advert(advert)))
    }
    for report in batch.reports {
      let fits = encoders[observer].append(report, from: batch)
      precondition(fits, "24 adverts of 30 bytes fit a datagram")
    }
    encoders[observer].finish(uptime: .milliseconds(second * 1_000), into: &datagram)
  }

  /// The bytes of an iBeacon advert.
  static func payload(of uuid: UUID128, major: UInt16, minor: UInt16) -> [UInt8] {
    var payload = template
    write(uuid.high, at: 9, into: &payload)
    write(uuid.low, at: 17, into: &payload)
    let identity = UInt32(major) << 16 | UInt32(minor)
    for byte in 0..<4 { payload[25 + byte] = UInt8(truncatingIfNeeded: identity >> UInt32(24 - 8 * byte)) }
    return payload
  }

  /// The UUID of an application's beacons.
  static func uuid(of application: Int) -> UUID128 {
    UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_0000_0000 | UInt64(application))
  }

  private static func regions(of application: Int) -> [Region] {
    let uuid = uuid(of: application)
    return [Region(identifier: "all", constraint: .proximity(uuid))]
      + (1..<regions).map {
        Region(identifier: "area-\($0)", constraint: .proximity(uuid, major: UInt16($0)))
      }
  }

  private static func write(_ word: UInt64, at offset: Int, into payload: inout [UInt8]) {
    for byte in 0..<8 { payload[offset + byte] = UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * byte)) }
  }

  /// - Source: Marsaglia, "Xorshift RNGs", with Vigna's multiplication.
  private mutating func next() -> UInt64 {
    random ^= random >> 12
    random ^= random << 25
    random ^= random >> 27
    return (random &* 0x2545_F491_4F6C_DD1D) >> 16
  }
}
