import PharosComparators
import PharosModel

/// What a rule made of a timeline, one decision a line: `enter 0.0`, `exit 31.9`, `room 2 3.5`.
struct Playback {
  var rule: any Comparator
  private(set) var verdicts: [Verdict] = []

  static let start = Timestamp(seconds: 1_700_000_000)

  init(_ rule: some Comparator) { self.rule = rule }

  init(any rule: any Comparator) { self.rule = rule }

  mutating func receive(
    observer: Int32 = 0,
    beacon: Int32 = 0,
    at seconds: Double,
    level: Double = -60,
    measuredPower: Double = -59
  ) {
    rule.heard(
      Sighting(
        observer: observer,
        beacon: beacon,
        time: Playback.start + .seconds(seconds),
        level: level,
        measuredPower: measuredPower
      ),
      into: &verdicts
    )
  }

  mutating func advance(to seconds: Double) {
    rule.advance(to: Playback.start + .seconds(seconds), into: &verdicts)
  }

  /// Plays a picture: each column is a step, `x` an advert, anything else silence.
  mutating func play(_ picture: String, step: Double) {
    for (column, mark) in picture.enumerated() where mark == "x" { receive(at: Double(column) * step) }
    advance(to: Double(picture.count) * step)
  }

  /// The decisions about one beacon, with seconds to the tenth.
  func lines(beacon: Int32 = 0) -> [String] {
    verdicts.filter { $0.beacon == beacon }.map { verdict in
      let tenths = Int(((verdict.time - Playback.start).seconds * 10).rounded())
      let time = "\(tenths / 10).\(tenths % 10)"
      switch verdict.change {
      case .enter: return "enter \(time)"
      case .exit: return "exit \(time)"
      case .room(let room): return "room \(room.map { "\($0)" } ?? "none") \(time)"
      }
    }
  }

  /// The rooms in their order, without times.
  var rooms: [Int32?] {
    verdicts.compactMap { verdict in
      guard case .room(let room) = verdict.change else { return nil }
      return .some(room)
    }
  }

  func count(_ isCounted: (Verdict.Change) -> Bool) -> Int { verdicts.filter { isCounted($0.change) }.count }

  /// The number of exits that the rule reported.
  var exits: Int {
    count { if case .exit = $0 { true } else { false } }
  }
}
