package import PharosModel
import PharosSimulation

/// An ordinary installation, drawn from a seed: rooms with gateways of every kind, and tags at rest, carried and gone.
///
/// Nothing in it is hard: between the room of a tag and the next one lie 22 dB. What is drawn is all that differs between
/// sites: heartbeats or none, uploads at once or each minute, times by age, by the gateway's clock or none, clocks that are set,
/// intervals from 0.1 to 60 s, losses, one to three gateways a room, outages of 5 s to an hour, once and again.
package struct Installation: Sendable {
  /// The start of every installation.
  static let start = Timestamp(seconds: 1_767_225_600)

  /// How a gateway tells the times of its adverts.
  package enum Timing: CaseIterable, Sendable {
    case none
    case age
    case clock
  }

  /// A gateway.
  package struct Gateway: Sendable {
    package var id: ObserverID
    /// The room that it stands in.
    package var room: Int
    /// The period of its heartbeats, or nil.
    package var heartbeat: Int64?
    /// The time between two uploads, or nil if it sends each advert at once.
    package var upload: Int64?
    package var timing: Timing
    /// The times at which its clock is set, and by how much.
    var steps: [(time: Int64, by: Int64)]
    /// The spans in which it is without power.
    package var outages: [Range<Int64>]
    /// Untracked devices around it, by the interval of each.
    var passersBy: [Int64]
    var gain: Double

    func isOut(_ time: Int64) -> Bool { outages.contains { $0.contains(time) } }
  }

  /// A tag.
  package struct Tag: Sendable {
    /// The interval at rest, and while it is carried.
    package var interval: Int64
    var carriedInterval: Int64
    /// The room from each time on, nil once it has left.
    package var rooms: [(from: Int64, room: Int?)]
    /// The share of its adverts that each gateway loses.
    var losses: [Double]
    var power: Double

    package func room(at time: Int64) -> Int? { rooms.last { $0.from <= time }?.room }
    func isCarried(at time: Int64) -> Bool {
      rooms.dropFirst().contains { ($0.from - 10 * second..<$0.from + 2 * second).contains(time) }
    }
  }

  package var seed: UInt64
  package var length: Int64 = 3_600 * second
  package var roomCount: Int
  package var gateways: [Gateway] = []
  package var tags: [Tag] = []

  static let second: Int64 = 1_000_000_000
  /// The level that a tag has in its own room, and what each room between takes of it.
  static let levels = (own: -58.0, wall: 22.0)

  /// What is drawn: all, or one kind of difficulty alone.
  package enum Kind: String, CaseIterable, Sendable {
    /// Live gateways and outages, tags at rest.
    case outages
    /// Gateways that upload in batches, no outage.
    case uploads
    /// Everything.
    case all
  }

  /// Draws an installation.
  package init(seed: UInt64, kind: Kind) {
    self.seed = seed
    var random = RandomStream(seed: seed, 77)
    roomCount = 2 + Int(random.uniform() * 4)
    let hasUploads = kind != .outages
    let hasOutages = kind != .uploads
    for room in 0..<roomCount {
      let count = random.pick([1, 1, 1, 2, 3])
      for _ in 0..<count {
        gateways.append(
          Installation.gateway(
            gateways.count,
            in: room,
            hasUploads: hasUploads,
            hasOutages: hasOutages,
            length,
            &random
          )
        )
      }
    }
    for room in 0..<roomCount {
      for _ in 0..<(1 + Int(random.uniform() * 6)) {
        tags.append(tag(in: room, moves: kind == .all, &random))
      }
    }
  }

  private static func gateway(
    _ number: Int,
    in room: Int,
    hasUploads: Bool,
    hasOutages: Bool,
    _ length: Int64,
    _ random: inout RandomStream
  ) -> Gateway {
    let heartbeat: Int64? = random.chance(0.5) ? nil : random.pick([1, 10, 30, 60]) * second
    let upload: Int64? =
      hasUploads && random.chance(0.5) ? random.pick([1, 2, 5, 10, 15, 20, 30, 45, 60]) * second : nil
    let timing = random.pick(Timing.allCases)
    var steps: [(time: Int64, by: Int64)] = []
    if timing == .clock, random.chance(0.3) {
      let sign: Int64 = random.chance(0.5) ? 1 : -1
      steps.append(
        (Int64(random.uniform(300, 3_300) * 1e9), sign * Int64(random.logarithmic(1, 3_600) * 1e9))
      )
    }
    var outages: [Range<Int64>] = []
    if hasOutages, random.chance(0.5) {
      let span = Int64(random.logarithmic(5, 3_600) * 1e9)
      let isRepeated = random.chance(0.5)
      var time = Int64(random.uniform(200, 1_200) * 1e9)
      repeat {
        let end = min(length, time + span)
        outages.append(time..<end)
        time = end + Int64(random.uniform(60, 600) * 1e9)
      } while isRepeated && time < length - 60 * second && outages.count < 6
    }
    let passers = random.pick([0, 0, 0, 1, 3])
    return Gateway(
      id: .eui48(0xAC23_3FA0_0000 + UInt64(number)),
      room: room,
      heartbeat: heartbeat,
      upload: upload,
      timing: timing,
      steps: steps,
      outages: outages,
      passersBy: (0..<passers).map { _ in Int64(random.logarithmic(0.2, 10) * 1e9) },
      gain: random.uniform(-2, 2)
    )
  }

  private func tag(in room: Int, moves: Bool, _ random: inout RandomStream) -> Tag {
    let interval = Int64(random.pick([0.1, 0.2, 0.5, 1, 1, 1, 2, 3, 5, 10, 30, 60]) * 1e9)
    let isModal = random.chance(0.2) && interval > 2 * Installation.second
    var rooms: [(from: Int64, room: Int?)] = [(Int64(random.uniform(0, 30) * 1e9), room)]
    if moves, random.chance(0.3) {
      var present = room
      var time = Int64(random.uniform(400, 1_500) * 1e9)
      while time < length - 400 * Installation.second {
        present = (present + 1 + Int(random.uniform() * Double(roomCount - 1))) % roomCount
        rooms.append((time, present))
        time += Int64(random.uniform(400, 1_500) * 1e9)
      }
      if random.chance(0.3) { rooms.append((length - 350 * Installation.second, nil)) }
    }
    let base = random.pick([0, 0.02, 0.12, 0.3])
    return Tag(
      interval: interval,
      carriedInterval: isModal ? interval / 10 : interval,
      rooms: rooms,
      losses: gateways.map { _ in base * random.uniform(0.5, 1.3) },
      power: random.uniform(-4, 4)
    )
  }

  /// The level of a tag in a room at a gateway, or nil if it is out of reach.
  func level(of tag: Tag, in room: Int, at gateway: Gateway) -> Double? {
    let level =
      Installation.levels.own + tag.power + gateway.gain
      - Installation.levels.wall * Double((room - gateway.room).magnitude)
    return level < -90 ? nil : level
  }
}

extension RandomStream {
  mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int(uniform() * Double(elements.count))]
  }

  /// A number between two bounds, each tenfold as likely as the next.
  mutating func logarithmic(_ low: Double, _ high: Double) -> Double {
    low * RadioMath.powerOfTwo(uniform() * RadioMath.binaryLog(high / low))
  }
}
