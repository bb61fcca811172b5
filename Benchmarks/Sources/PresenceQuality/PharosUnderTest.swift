import PharosModel
import PharosPipeline
import PharosSimulatedWorlds
import PharosSimulation
import PharosWire

/// The whole of Pharos, both stages, fed with what a drill's observers report.
struct PharosUnderTest {
  /// The application whose regions and zones decide.
  static let application = "quality"
  /// How many reports are handed over at once.
  private static let batchSize = 512

  private static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  private static let passersBy = UUID128(high: 0x5A4B_CFCE_174E_4BAC, low: 0xA814_092E_77F6_B7E5)

  private var pipeline: Pipeline
  private var batch = ReportBatch()
  private let observers: [ObserverID]
  private var indices: [UInt32] = []
  private var sequences: [UInt32]
  private var boots: [UInt32]
  private var booted: [Timestamp]
  private var payloads: [UInt8] = []
  private let ranges: [Range<UInt32>]

  /// Starts with regions about the drill's tags, all of the same beacons, each with a policy of its own.
  ///
  /// - Parameters:
  ///   - policies: the policies; a region's identifier is its place here.
  ///   - liveness: how the observers' silence is judged.
  ///   - observers: how many observers there are.
  ///   - subjects: how many tags and untracked devices there are.
  ///   - registered: how many of them the regions ask about.
  ///   - zones: makes the zones out of the observers' names.
  /// - Throws: the first refusal that the site meets, or what an advert has no room for.
  init(
    policies: [PresencePolicy],
    liveness: ObserverEntry.Liveness = .auto,
    observers: Int = 1,
    subjects: Int,
    registered: Int,
    zones: (_ observers: [ObserverID]) -> [Zone] = { _ in [] }
  ) throws {
    let names = (0..<observers).map { ObserverID.eui48(0xAC23_3FA0_0000 + UInt64($0)) }
    self.observers = names
    let regions = policies.enumerated().map { number, policy in
      Region(
        identifier: String(number),
        constraint: .proximity(PharosUnderTest.uuid),
        subject: .beacon(observers: nil),
        presence: policy
      )
    }
    let site = Site(
      applications: [Application(identifier: PharosUnderTest.application, regions: regions)],
      observers: names.map { ObserverEntry(id: $0, liveness: liveness) },
      zones: zones(names)
    )
    pipeline = try Pipeline(site: site)
    sequences = Array(repeating: 0, count: observers)
    boots = Array(repeating: 1, count: observers)
    booted = Array(repeating: Drill.start, count: observers)
    var ranges: [Range<UInt32>] = []
    for number in 0..<subjects {
      let payload = try PharosUnderTest.payload(of: number, isRegistered: number < registered)
      ranges.append(UInt32(payloads.count)..<UInt32(payloads.count + payload.count))
      payloads += payload
    }
    self.ranges = ranges
    begin()
  }

  /// Takes what an observer reports; nil until a batch is full, else the events that have become final.
  mutating func process(_ item: DrillItem) -> [Event]? {
    switch item {
    case .advert(let subject, let observer, let time, let level):
      let advert = Advert(
        address: DeviceAddress(bits: 0xC0_0000_0000 + UInt64(subject), kind: .public),
        rssi: level,
        pdu: .nonConnectable,
        payload: ranges[Int(subject)]
      )
      append(.advert(advert), of: observer, at: time)
    case .heartbeat(let observer, let time, let count):
      transmit(observer, at: time)
      append(.heartbeat(Heartbeat(advertsHeard: count, scanDuty: 1)), of: observer, at: time)
    case .boot(let observer, let time, let bootID):
      boots[Int(observer)] = bootID
      booted[Int(observer)] = time
      sequences[Int(observer)] = 0
      transmit(observer, at: time)
    case .came, .left, .room, .outage: return nil
    }
    return batch.reports.count >= PharosUnderTest.batchSize ? flush() : nil
  }

  /// Hands over what is left, lets time run on and gives the last events.
  mutating func finish(tail: TimeSpan) -> [Event] { flush() + pipeline.finish(tail: tail) }

  private mutating func flush() -> [Event] {
    let events = pipeline.ingest(batch)
    begin()
    return events
  }

  private mutating func begin() {
    batch.removeAll()
    indices.removeAll(keepingCapacity: true)
    for observer in observers { indices.append(batch.index(of: observer)) }
    _ = batch.append(payload: payloads)
  }

  private mutating func transmit(_ observer: Int32, at time: Timestamp) {
    let number = Int(observer)
    sequences[number] &+= 1
    let head = Transmission(
      bootID: boots[number],
      sequence: sequences[number],
      uptime: time - booted[number]
    )
    append(.transmission(head), of: observer, at: time)
  }

  private mutating func append(_ body: ReportBody, of observer: Int32, at time: Timestamp) {
    batch.append(Report(observer: indices[Int(observer)], received: time, timing: .received, body: body))
  }

  /// Whom an event is about, by number.
  static func subject(of event: Event) -> Int? {
    guard case .beacon(let beacon) = event.subject else { return nil }
    return beacon.minor.map { Int($0) }
  }

  private static func payload(of number: Int, isRegistered: Bool) throws -> [UInt8] {
    var builder = AdvertBuilder()
    let frame = IBeacon(
      uuid: isRegistered ? uuid : passersBy,
      major: 1,
      minor: UInt16(number),
      measuredPower: Int8(RoomDrill.measuredPower)
    )
    try builder.append(.iBeacon(frame))
    return builder.payload
  }
}
