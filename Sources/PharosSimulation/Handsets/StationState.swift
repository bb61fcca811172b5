import PharosPlaces
import PharosReports

/// What an observer that hangs in the house has done so far.
struct StationState: Sendable {
  /// How often an observer sends what it heard.
  static let period = TimeSpan.milliseconds(200)
  /// Every how many periods it says that it lives: every five seconds.
  private static let heartbeatEvery: UInt64 = 25

  private let number: Int
  private let tags: [(frame: AirFrame, rhythm: AdvertRhythm)]
  private var random: RandomStream
  private var sender: IndoorSender
  private var periods: UInt64 = 0

  init(number: Int, in house: IndoorHouse, scene: IndoorScene, seed: UInt64) {
    self.number = number
    tags = scene.tags.enumerated().map { index, tag in
      (
        AirFrame(tag.beacon, power: tag.power),
        AdvertRhythm(interval: tag.interval, seed: seed ^ 0x7A67, number: index)
      )
    }
    random = RandomStream(seed: seed, 52, UInt64(number))
    sender = IndoorSender(
      observer: house.observers[number].id,
      sourceAddress: "192.0.2.\(100 + number % 100)"
    )
  }

  /// What it sends at the end of a period.
  mutating func datagrams(
    from start: TimeSpan,
    until end: TimeSpan,
    in house: IndoorHouse
  ) -> [SimulatedDatagram] {
    let observer = house.observers[number]
    var writer = DatagramWriter(observer: observer.id)
    var heard: [(time: TimeSpan, tag: Int, level: Double)] = []
    for (index, tag) in house.scene.tags.enumerated() {
      for time in tags[index].rhythm.times(from: start, until: end) {
        let level = house.level(
          from: observer.station,
          number: observer.number,
          power: tag.power,
          at: tag.journey.place(at: time),
          facing: tag.journey.heading(at: time),
          bodyLoss: tag.bodyLoss
        )
        guard let level, let read = house.air.reading(of: level, &random) else { continue }
        heard.append((time, index, max(-126, min(-1, read.rounded()))))
      }
    }
    heard.sort { ($0.time, $0.tag) < ($1.time, $1.tag) }
    for entry in heard {
      let frame = tags[entry.tag].frame
      let advert = Advert(
        address: frame.address,
        rssi: RSSI(dBm: Int8(entry.level)),
        pdu: .nonConnectable,
        payload: 0..<0
      )
      writer.append(advert, payload: frame.payload, age: end - entry.time)
    }
    if periods % StationState.heartbeatEvery == 0 { writer.append(.heartbeat(Heartbeat()), age: .zero) }
    periods += 1
    return sender.send(writer, at: end, of: house.scene, &random)
  }
}
