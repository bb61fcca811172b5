import PharosModel
import PharosTestSupport

/// One input of a world before it is put into batches.
enum WorldInput {
  case report(observer: Int, received: Timestamp, timing: ReportTiming, WorldBody)
  case change(RegionChange, Timestamp)

  var instant: Timestamp {
    switch self {
    case .report(_, let instant, _, _), .change(_, let instant): instant
    }
  }
}

/// What a report says, without a batch to point into.
enum WorldBody {
  case advert(World.Tag, level: Int8?, isRanged: Bool)
  case heartbeat(UInt32?)
  case displayOn
  case transmission(bootID: UInt32, sequence: UInt32)
  case scanState(ScanState)
}

/// Makes a world's inputs: tags come, stay and go; adverts are lost, come late or in floods; observers die, restart, hang
/// and stop scanning; applications change their minds.
struct WorldTraffic {
  var random: SeededGenerator
  let tags: [World.Tag]
  private var made: [WorldInput] = []

  init(random: SeededGenerator, tags: [World.Tag]) {
    self.random = random
    self.tags = tags
  }

  /// All inputs in order of R.
  mutating func inputs() -> [WorldInput] {
    for observer in World.observers.indices { observe(observer) }
    for _ in 0..<Int.random(in: 0...14, using: &random) { change() }
    return made.enumerated()
      .sorted { ($0.element.instant, $0.offset) < ($1.element.instant, $1.offset) }
      .map(\.element)
  }

  /// All that one observer reports.
  private mutating func observe(_ observer: Int) {
    let outages = spans(Int.random(in: 0...3, using: &random), maximum: 40)
    let hangs = spans(Int.random(in: 0...1, using: &random), maximum: 30)
    // What it hears in such a span it reports at the end: an uplink that was gone.
    let jams = spans(Int.random(in: 0...2, using: &random), maximum: 6)
    let shift = TimeSpan.minutes(Bool.random(using: &random) ? 15 : 0)
    for tag in tags where Int.random(in: 0..<3, using: &random) > 0 {
      receive(tag, by: observer, outages + hangs, jams, shift)
    }
    if Bool.random(using: &random) {
      let givesCount = Bool.random(using: &random)
      for second in stride(from: 0, to: World.length, by: 2) where !contains(outages, second) {
        put(observer, second, .heartbeat(givesCount ? (contains(hangs, second) ? 0 : 9) : nil))
      }
    }
    if Bool.random(using: &random) { number(observer, outages) }
    for span in spans(Int.random(in: 0...2, using: &random), maximum: 30) {
      put(observer, span.lowerBound, .scanState(Bool.random(using: &random) ? .off : .windowed))
      put(observer, span.upperBound, .scanState(.foreground))
    }
    for _ in 0..<3 { put(observer, Double.random(in: 0..<World.length, using: &random), .displayOn) }
  }

  /// A tag at one observer: a few visits, with a level that wanders and adverts that get lost.
  private mutating func receive(
    _ tag: World.Tag,
    by observer: Int,
    _ deaf: [ClosedRange<Double>],
    _ jams: [ClosedRange<Double>],
    _ shift: TimeSpan
  ) {
    let loss = Double.random(in: 0...0.6, using: &random)
    let isRanged = observer == 3 && Bool.random(using: &random)
    for visit in spans(Int.random(in: 1...3, using: &random), maximum: 70) {
      var level = Double.random(in: -90 ... -55, using: &random)
      var time = visit.lowerBound
      while time < visit.upperBound {
        time += tag.interval + Double.random(in: 0...0.01, using: &random)
        level = min(max(level + Double.random(in: -4...4, using: &random), -99), -40)
        guard Double.random(in: 0..<1, using: &random) >= loss, !contains(deaf, time) else { continue }
        let committed = jams.first { $0.contains(time) }?.upperBound ?? time
        let rssi: Int8? = Int.random(in: 0..<30, using: &random) == 0 ? nil : Int8(level)
        var age = committed - time
        if Int.random(in: 0..<20, using: &random) == 0 { age += Double.random(in: 0...3, using: &random) }
        put(observer, time + age, .advert(tag, level: rssi, isRanged: isRanged), age: age, shift: shift)
      }
    }
  }

  /// Numbers an observer's datagrams, some of which get lost; it restarts after each outage.
  private mutating func number(_ observer: Int, _ outages: [ClosedRange<Double>]) {
    var (boot, sequence): (UInt32, UInt32) = (1, 0)
    var wasOut = false
    for second in stride(from: 0.5, to: World.length, by: 3) {
      guard !contains(outages, second) else {
        wasOut = true
        continue
      }
      if wasOut {
        (boot, sequence) = (boot + 1, 0)
        wasOut = false
      }
      sequence += UInt32(Int.random(in: 0..<10, using: &random) == 0 ? 4 : 1)
      put(observer, second, .transmission(bootID: boot, sequence: sequence))
    }
  }

  /// An application changes its mind about a region of a family, about one more, or about its tree.
  private mutating func change() {
    let time = World.start + .seconds(Double.random(in: 1..<World.length, using: &random))
    let number = Int.random(in: 0..<3, using: &random)
    let level = Int.random(in: 0..<3, using: &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0:
      made.append(
        .change(.stopMonitoring(application: "gallery", identifier: "family\(number).\(level)"), time)
      )
    case 1:
      // The whole family under another policy or about others, one instant after the other.
      for (index, region) in World.family(number, &random).enumerated() {
        let instant = time + TimeSpan(nanoseconds: Int64(index))
        made.append(.change(.startMonitoring(application: "gallery", region), instant))
      }
    case 2: made.append(.change(.setRotation(application: "museum", World.tree(&random)), time))
    case 3:
      let region = World.family(number + 10, &random)[level]
      made.append(.change(.startMonitoring(application: "gallery", region, assuming: .inside), time))
    case 4:
      let tag = tags.randomElement(using: &random) ?? tags[0]
      let beacon = BeaconID.proximity(World.uuid, major: tag.major, minor: tag.minor)
      let observer = World.observers.randomElement(using: &random) ?? World.observers[0]
      for subject in [SubjectID.beacon(beacon), .observer(observer)] {
        let identifier = "family\(number).\(level)"
        made.append(
          .change(.requestState(application: "gallery", identifier: identifier, subject: subject), time)
        )
      }
    case 5:
      let request = RangingRequest(constraint: .proximity(World.uuid, major: 2))
      made.append(.change(.startRanging(application: "museum", request), time))
    default: made.append(.change(.stopRanging(application: "museum", .proximity(World.uuid, major: 2)), time))
    }
  }

  private mutating func put(
    _ observer: Int,
    _ second: Double,
    _ body: WorldBody,
    age: Double? = nil,
    shift: TimeSpan = .zero
  ) {
    let received = World.start + .seconds(second)
    let timing: ReportTiming =
      switch age {
      case nil: .received
      case .some(let age) where shift > .zero: .sent(received - .seconds(age) + shift)
      case .some(let age): .age(.seconds(age))
      }
    made.append(.report(observer: observer, received: received, timing: timing, body))
  }

  private mutating func spans(_ count: Int, maximum: Double) -> [ClosedRange<Double>] {
    (0..<count).map { _ in
      let begin = Double.random(in: 0..<(World.length - 5), using: &random)
      return begin...min(World.length, begin + Double.random(in: 2...maximum, using: &random))
    }
  }

  private func contains(_ spans: [ClosedRange<Double>], _ second: Double) -> Bool {
    spans.contains { $0.contains(second) }
  }
}
