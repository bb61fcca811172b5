import PharosModel
import PharosPresence
import Traffic

/// One application that asks for one UUID, ten observers, and adverts that find their track, miss it, or make it.
struct Lookups {
  /// Whose adverts come next.
  enum Order {
    /// Known beacons one after the other.
    case inOrder
    /// Known beacons in an order that no prefetcher guesses.
    case shuffled
    /// Beacons with a UUID of no region, each heard for the first time.
    case passersBy
    /// Beacons that are asked about, each heard for the first time.
    case new
  }

  private static let observers = 10
  private static let advertsEach = 1_000
  private static let asked = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private static let foreign = UUID128(high: 0xFDA5_0693_A4E2_4FB1, low: 0xAFCF_C6EB_0764_7825)

  private let beacons: Int
  private var engine: MonitoringEngine
  private var output = StageOutput()
  private var batch = ReportBatch()
  private var count = 0
  private var time = Workload.start(ofSecond: 0)

  init(beacons: Int) {
    self.beacons = beacons
    let region = Region(identifier: "all", constraint: .proximity(Lookups.asked))
    engine = MonitoringEngine(
      site: Site(applications: [Application(identifier: "default", regions: [region])])
    )
    // Every beacon is heard often enough to be inside, in the order in which its place is then looked up.
    for _ in 0..<(8 * beacons / Lookups.advertsEach) {
      next(.inOrder)
      _ = look()
    }
  }

  /// Fills the batch with the next thousand adverts.
  mutating func next(_ order: Order) {
    batch.removeAll()
    // A second is what it takes to hear all of them once.
    let step = TimeSpan.microseconds(1_000_000 / Int64(max(beacons, 1_000)))
    for _ in 0..<Lookups.advertsEach {
      time = time + step
      append(number(of: count, order), order == .passersBy ? Lookups.foreign : Lookups.asked)
      count += 1
    }
  }

  /// Has the engine hear the batch.
  mutating func look() -> Int {
    engine.ingest(batch, into: &output)
    output.removeAll()
    return batch.reports.count
  }

  private func number(of count: Int, _ order: Order) -> Int {
    switch order {
    case .inOrder: count % beacons
    // A step that has no factor in common with the number of beacons meets each once a round.
    case .shuffled: count % beacons * 61_803 % beacons
    case .passersBy, .new: count
    }
  }

  private mutating func append(_ number: Int, _ uuid: UUID128) {
    let place = batch.index(of: Workload.observer(number / 100 % Lookups.observers))
    var payload: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    for shift in stride(from: 56, through: 0, by: -8) {
      payload.append(UInt8(uuid.high >> UInt64(shift) & 0xFF))
    }
    for shift in stride(from: 56, through: 0, by: -8) {
      payload.append(UInt8(uuid.low >> UInt64(shift) & 0xFF))
    }
    for shift in [24, 16, 8, 0] { payload.append(UInt8(number >> shift & 0xFF)) }
    payload.append(0xC5)
    let advert = Advert(
      address: DeviceAddress(bits: 0x1000_0000_0000 | UInt64(number), kind: .public),
      rssi: RSSI(dBm: -60),
      pdu: .nonConnectable,
      payload: batch.append(payload: payload)
    )
    batch.append(Report(observer: place, received: time, timing: .received, body: .advert(advert)))
  }
}
