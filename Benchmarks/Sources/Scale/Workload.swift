import PharosReports

/// A site and its traffic: observers that each hear their own beacons about once a second.
///
/// A hundred applications have twenty regions each: one for their UUID and nineteen for a major under it, so that every
/// beacon is asked about by two. One advert in ten is lost, levels are noisy, intervals have their advDelay, and
/// datagrams of 24 adverts come from one observer after the other.
struct Workload {
  /// How many applications there are, and regions of each.
  static let applications = 100
  /// Regions of each application.
  static let regions = 20
  /// Adverts in a datagram.
  static let advertsPerDatagram = 24
  /// Datagrams that are handed over together: what one drain of a socket gives.
  static let datagramsPerBatch = 64

  /// How many observers there are.
  let observers: Int
  /// How many beacons each of them hears.
  let beacons: Int
  /// Whether one application in ten asks for ranging.
  let hasRanging: Bool

  private(set) var batch = ReportBatch()
  private var random: UInt64 = 0x2545_F491_4F6C_DD1D
  private static let template: [UInt8] =
    [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 0, count: 20) + [0xC5]

  init(observers: Int, beacons: Int, hasRanging: Bool) {
    self.observers = observers
    self.beacons = beacons
    self.hasRanging = hasRanging
  }

  /// How many tracks there are in the end.
  var tracks: Int { observers * beacons }

  /// The UUID of an application's beacons.
  static func uuid(of application: Int) -> UUID128 {
    UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_0000_0000 | UInt64(application))
  }

  /// The regions of an application.
  static func regions(of application: Int) -> [Region] {
    let uuid = uuid(of: application)
    return [Region(identifier: "all", constraint: .proximity(uuid))]
      + (1..<regions).map {
        Region(identifier: "area-\($0)", constraint: .proximity(uuid, major: UInt16($0)))
      }
  }

  /// What the site's file would say.
  var site: Site {
    Site(
      applications: (0..<Workload.applications).map { number in
        Application(
          identifier: "application-\(number)",
          regions: Workload.regions(of: number),
          ranging: hasRanging && number % 10 == 0
            ? [RangingRequest(constraint: .proximity(Workload.uuid(of: number)))] : []
        )
      }
    )
  }

  /// How many batches a second's adverts make.
  var batchesPerSecond: Int {
    let datagrams = observers * ((beacons + Workload.advertsPerDatagram - 1) / Workload.advertsPerDatagram)
    return (datagrams + Workload.datagramsPerBatch - 1) / Workload.datagramsPerBatch
  }

  /// Fills the batch with the adverts of one part of a second.
  mutating func fill(batch number: Int, ofSecond second: Int) {
    batch.removeAll()
    var payload = Workload.template
    let rounds = (beacons + Workload.advertsPerDatagram - 1) / Workload.advertsPerDatagram
    let first = number * Workload.datagramsPerBatch
    let last = min(first + Workload.datagramsPerBatch, observers * rounds)
    let begin = 1_420_070_400_000_000_000 + Int64(second) * 1_000_000_000
    for datagram in first..<last {
      let received = Timestamp(
        nanoseconds: begin + Int64(datagram) * 1_000_000_000 / Int64(observers * rounds)
      )
      fill(datagram / observers, of: datagram % observers, at: received, &payload)
    }
  }

  private mutating func fill(
    _ round: Int,
    of observer: Int,
    at received: Timestamp,
    _ payload: inout [UInt8]
  ) {
    let place = batch.index(of: .eui48(0xAC23_3F00_0000 | UInt64(observer)))
    let first = round * Workload.advertsPerDatagram
    for beacon in first..<min(first + Workload.advertsPerDatagram, beacons) {
      let dice = next()
      guard dice % 10 != 0 else { continue }
      let number = observer * beacons + beacon
      // An observer hears what belongs to one application in every hundred of its beacons.
      let application = (observer + beacon / 100) % Workload.applications
      let uuid = Workload.uuid(of: application)
      Workload.write(uuid.high, at: 9, into: &payload)
      Workload.write(uuid.low, at: 17, into: &payload)
      let identity = UInt32(beacon % 19 + 1) << 16 | UInt32(truncatingIfNeeded: beacon)
      for byte in 0..<4 { payload[25 + byte] = UInt8(truncatingIfNeeded: identity >> UInt32(24 - 8 * byte)) }
      // Steps of 4 dB at most to either side of the beacon's own level.
      let level = -55 - Int(number % 30) - Int(dice >> 8 & 3) + Int(dice >> 10 & 3)
      let range = batch.append(payload: payload.span.bytes)
      let advert = Advert(
        address: DeviceAddress(bits: 0x1000_0000_0000 | UInt64(number), kind: .public),
        rssi: RSSI(dBm: Int8(level)),
        pdu: .nonConnectable,
        payload: range
      )
      batch.append(
        Report(
          observer: place,
          received: received,
          timing: .age(.microseconds(Int64(dice >> 16 & 0x3FFF) + 2_000)),
          body: .advert(advert)
        )
      )
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
