package import PharosModel

/// A site and its traffic: observers that each hear their own beacons about once a second.
///
/// A hundred applications have twenty regions each: one for their UUID and nineteen for a major under it, so that every
/// beacon is asked about by two. One advert in ten is lost, levels are noisy, intervals have their advDelay, and
/// datagrams come from one observer after the other.
package struct Workload {
  /// How many applications there are, and regions of each.
  package static let applications = 100
  /// Regions of each application.
  package static let regions = 20
  /// Datagrams that are handed over together: what one drain of a socket gives.
  package static let datagramsPerBatch = 64
  /// When the first second begins.
  ///
  /// - Units: nanoseconds since 1970.
  package static let beginning: Int64 = 1_420_070_400_000_000_000

  /// How many observers there are.
  package let observers: Int
  /// How many beacons each of them hears.
  package let beacons: Int
  /// Whether one application in ten asks for ranging.
  package let hasRanging: Bool
  /// Adverts in a datagram, as many as are not lost of so many.
  package let advertsPerDatagram: Int
  /// Whether an observer's beacons are heard in an order that no prefetcher guesses.
  package var isShuffled = false
  /// How many reports of an advert there are: three from a gateway that reports each channel.
  package var channels = 1
  /// In how many seconds the beacons are heard first, so that what happens once in so many samples happens evenly.
  package var spread = 0

  /// The adverts of the part of a second that was filled in last.
  package private(set) var batch = ReportBatch()
  /// The datagrams of the part of a second that was filled in last.
  package private(set) var wire = WireBatch()
  private var random: UInt64 = 0x2545_F491_4F6C_DD1D
  private var payload: [UInt8] =
    [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15] + [UInt8](repeating: 0, count: 20) + [0xC5]

  /// Makes the traffic of so many observers with so many beacons each.
  package init(observers: Int, beacons: Int, hasRanging: Bool = false, advertsPerDatagram: Int = 24) {
    self.observers = observers
    self.beacons = beacons
    self.hasRanging = hasRanging
    self.advertsPerDatagram = advertsPerDatagram
  }

  /// How many tracks there are in the end.
  package var tracks: Int { observers * beacons }

  /// The UUID of an application's beacons.
  package static func uuid(of application: Int) -> UUID128 {
    UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_0000_0000 | UInt64(application))
  }

  /// The regions of an application.
  package static func regions(of application: Int) -> [Region] {
    let uuid = uuid(of: application)
    return [Region(identifier: "all", constraint: .proximity(uuid))]
      + (1..<regions).map {
        Region(identifier: "area-\($0)", constraint: .proximity(uuid, major: UInt16($0)))
      }
  }

  /// What the site's file would say.
  package var site: Site {
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

  /// Who an observer is.
  package static func observer(_ number: Int) -> ObserverID { .eui48(0xAC23_3F00_0000 | UInt64(number)) }

  /// The first instant of a second.
  package static func start(ofSecond second: Int) -> Timestamp {
    Timestamp(nanoseconds: beginning + Int64(second) * 1_000_000_000)
  }

  /// How many datagrams one observer sends in a second.
  private var rounds: Int { (beacons + advertsPerDatagram - 1) / advertsPerDatagram }

  /// How many batches a second's adverts make.
  package var batchesPerSecond: Int {
    (observers * rounds + Workload.datagramsPerBatch - 1) / Workload.datagramsPerBatch
  }

  /// Fills the batch with the adverts of one part of a second.
  package mutating func fill(batch number: Int, ofSecond second: Int) {
    batch.removeAll()
    for datagram in datagrams(ofBatch: number) {
      let place = batch.index(of: Workload.observer(datagram % observers))
      let received = received(datagram, ofSecond: second)
      forEachAdvert(ofDatagram: datagram, ofSecond: second) { workload, advert in
        workload.append(advert, of: place, at: received)
      }
    }
  }

  /// Fills ``wire`` with the same adverts as Pharos datagrams, whose ages are whole milliseconds.
  package mutating func fillWire(batch number: Int, ofSecond second: Int) {
    wire.removeAll()
    for datagram in datagrams(ofBatch: number) {
      let round = datagram / observers
      wire.begin(
        observer: UInt64(datagram % observers),
        sequence: UInt32(truncatingIfNeeded: second * rounds + round + 1),
        uptime: UInt64(second + 1) * 1_000,
        received: received(datagram, ofSecond: second)
      )
      forEachAdvert(ofDatagram: datagram, ofSecond: second) { workload, advert in
        workload.wire.append(advert, workload.payload)
      }
      wire.end()
    }
  }

  private func datagrams(ofBatch number: Int) -> Range<Int> {
    let first = number * Workload.datagramsPerBatch
    return first..<min(first + Workload.datagramsPerBatch, observers * rounds)
  }

  private func received(_ datagram: Int, ofSecond second: Int) -> Timestamp {
    let begin = Workload.beginning + Int64(second) * 1_000_000_000
    return Timestamp(nanoseconds: begin + Int64(datagram) * 1_000_000_000 / Int64(observers * rounds))
  }

  /// Makes the adverts of a datagram, as many as are not lost; the payload of each is in ``payload``.
  private mutating func forEachAdvert(
    ofDatagram datagram: Int,
    ofSecond second: Int,
    _ body: (inout Workload, SentAdvert) -> Void
  ) {
    let observer = datagram % observers
    let first = datagram / observers * advertsPerDatagram
    for turn in first..<min(first + advertsPerDatagram, beacons) {
      let beacon = isShuffled ? shuffled(turn) : turn
      let number = observer * beacons + beacon
      let dice = next()
      guard dice % 10 != 0, second >= firstSecond(of: number) else { continue }
      // An observer hears what belongs to one application in every hundred of its beacons.
      let uuid = Workload.uuid(of: (observer + beacon / 100) % Workload.applications)
      Workload.write(uuid.high, at: 9, into: &payload)
      Workload.write(uuid.low, at: 17, into: &payload)
      let identity = UInt32(beacon % 19 + 1) << 16 | UInt32(truncatingIfNeeded: beacon)
      for byte in 0..<4 { payload[25 + byte] = UInt8(truncatingIfNeeded: identity >> UInt32(24 - 8 * byte)) }
      // Steps of 4 dB at most to either side of the beacon's own level.
      let level = -55 - Int(number % 30) - Int(dice >> 8 & 3) + Int(dice >> 10 & 3)
      let age = Int64(dice >> 16 & 0x3FFF) + 2_000
      for channel in 0..<channels {
        body(
          &self,
          SentAdvert(
            address: 0x1000_0000_0000 | UInt64(number),
            level: Int8(level - channel),
            // The three channels follow one another within some milliseconds, the oldest first.
            age: .microseconds(age + Int64(channels - 1 - channel) * 3_000)
          )
        )
      }
    }
  }

  /// The beacon whose turn it is in an order that no prefetcher guesses; each keeps its time within the second.
  private func shuffled(_ turn: Int) -> Int {
    // The factor has none in common with a number of beacons that is one and zeros, or five and zeros.
    turn * 61_803 % beacons
  }

  /// When a beacon is heard first: all at once, or spread so that their counts of samples are.
  private func firstSecond(of number: Int) -> Int {
    guard spread > 0 else { return 0 }
    return Int((UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 33) % spread
  }

  private mutating func append(_ sent: SentAdvert, of place: UInt32, at received: Timestamp) {
    let bytes = payload
    let advert = Advert(
      address: DeviceAddress(bits: sent.address, kind: .public),
      rssi: RSSI(dBm: sent.level),
      pdu: .nonConnectable,
      payload: batch.append(payload: bytes.span.bytes)
    )
    batch.append(Report(observer: place, received: received, timing: .age(sent.age), body: .advert(advert)))
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
