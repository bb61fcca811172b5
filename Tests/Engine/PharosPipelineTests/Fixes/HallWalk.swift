import PharosModel
import PharosSpace
import PharosTestSupport

/// What handsets and gateways report while people and tags move through a hall: one report a batch, in order of receipt.
struct HallWalk {
  /// A report by itself, and when it is received.
  typealias Input = (received: Timestamp, batch: ReportBatch)

  let hall: Hall
  private(set) var inputs: [Input] = []
  private var random: SeededGenerator

  init(_ hall: Hall = Hall(), seed: UInt64) {
    self.hall = hall
    random = SeededGenerator(seed: seed)
  }

  static func handset(_ index: Int) -> ObserverID { .name("phone-\(index)") }

  /// Returns the position of a subject: up and down the middle of the hall at 1.2 m/s, each with its own start.
  static func place(of index: Int, at seconds: Double) -> Point {
    let length = Hall.size.width - 8
    var way = (seconds * 1.2 + Double(index) * 17).truncatingRemainder(dividingBy: length * 2)
    if way > length { way = length * 2 - way }
    return Point(x: 4 + way, y: 12 + Double(index % 3) * 2)
  }

  /// Has so many people walk for some seconds: a scan every 2.5 s, of which some entries are old, two adverts a second of each
  /// beacon, and steps; all of it up to 0.8 s late.
  mutating func walk(people: Range<Int>, from start: Double = 0, seconds: Double) {
    for person in people {
      var time = start + 0.1 * Double(person % 7)
      var step = 0
      while time < start + seconds {
        if step % 5 == 0 { scan(person, at: time) }
        for index in [1, 6] { receive(index, by: person, at: time + 0.2) }
        stride(person, at: time + 0.45)
        step += 1
        time += 0.5
      }
    }
    inputs.sort { $0.received < $1.received }
  }

  /// Has tags be carried about, or lie where their way begins, heard twice a second by all gateways.
  mutating func carry(tags: Range<Int>, seconds: Double, atRest: Bool = false) {
    for tag in tags {
      for half in 0..<Int(seconds * 2) {
        let time = Double(half) / 2
        for index in Hall.posts.indices {
          let level = Hall.level(
            from: HallWalk.place(of: tag, at: atRest ? 0 : time),
            to: Hall.posts[index],
            &random
          )
          advert(Hall.tag(tag), level, by: hall.gateway(index), at: time, lateBy: 0.05)
        }
      }
    }
    inputs.sort { $0.received < $1.received }
  }

  // MARK: Reports

  private mutating func scan(_ person: Int, at time: Double) {
    var batch = ReportBatch()
    var points: [AccessPoint] = []
    for index in Hall.posts.indices {
      let age = Double.random(in: 0...4, using: &random)
      let there = HallWalk.place(of: person, at: max(0, time - age))
      points.append(
        AccessPoint(
          bssid: hall.accessPoint(index),
          rssi: Hall.level(from: there, to: Hall.posts[index], &random),
          frequency: 5_180,
          lastHeard: .seconds(age)
        )
      )
    }
    let range = batch.append(accessPoints: points)
    add(.wifiScan(range), to: &batch, by: HallWalk.handset(person), at: time)
  }

  private mutating func receive(_ index: Int, by person: Int, at time: Double) {
    let level = Hall.level(from: HallWalk.place(of: person, at: time), to: Hall.posts[index], &random)
    advert(hall.beacon(index), level, by: HallWalk.handset(person), at: time, lateBy: 0.8)
  }

  private mutating func stride(_ person: Int, at time: Double) {
    let here = HallWalk.place(of: person, at: time)
    let before = HallWalk.place(of: person, at: max(0, time - 0.5))
    var batch = ReportBatch()
    let way = here.x - before.x
    let sample = MotionSample(
      kind: .step,
      age: .milliseconds(20),
      x: Float(abs(way)),
      y: way >= 0 ? .pi / 2 : -.pi / 2,
      z: 0
    )
    let range = batch.append(motionSamples: [sample])
    add(.motion(range), to: &batch, by: HallWalk.handset(person), at: time)
  }

  private mutating func advert(
    _ beacon: BeaconID,
    _ level: RSSI,
    by observer: ObserverID,
    at time: Double,
    lateBy late: Double
  ) {
    var bytes: [UInt8] = [0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    for word in [Hall.uuid.high, Hall.uuid.low] {
      for shift in Swift.stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    let (major, minor) = (beacon.major ?? 0, beacon.minor ?? 0)
    bytes += [UInt8(major >> 8), UInt8(major & 255), UInt8(minor >> 8), UInt8(minor & 255), 0xC5]
    var batch = ReportBatch()
    let payload = batch.append(payload: bytes)
    let address = DeviceAddress(bits: UInt64(major) << 16 | UInt64(minor), kind: .public)
    let body = ReportBody.advert(Advert(address: address, rssi: level, payload: payload))
    add(body, to: &batch, by: observer, at: time, lateBy: late)
  }

  /// Adds a report of something that happened at a time.
  mutating func add(
    _ body: ReportBody,
    to batch: inout ReportBatch,
    by observer: ObserverID,
    at time: Double,
    lateBy late: Double = 0.8
  ) {
    let age = TimeSpan.milliseconds(Int64.random(in: 0...Int64(late * 1_000), using: &random))
    let received = Hall.start + .seconds(time) + age
    let index = batch.index(of: observer)
    batch.append(Report(observer: index, received: received, timing: .age(age), body: body))
    inputs.append((received, batch))
  }
}
