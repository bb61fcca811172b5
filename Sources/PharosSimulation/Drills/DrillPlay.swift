import PharosReports

/// A drill as it is played: its items in order of time.
package struct DrillPlay: IteratorProtocol, Sendable {
  private let end: Int64
  private let subjectCount: Int
  private var subjects: [DrillSubject]
  private var happenings: [DrillSubject.Happening] = []
  private var queue = DrillQueue()
  private var strangers: [(random: RandomStream, next: Int64, level: Double)]
  private var observer: DrillObserver

  init(_ drill: Drill, seed: UInt64) {
    precondition(
      drill.length <= Drill.longest && drill.subjects + drill.strangers <= Drill.mostSubjects,
      "drill \(drill.name): at most \(Drill.longest.seconds) s and \(Drill.mostSubjects) subjects"
    )
    end = drill.length.nanoseconds
    subjectCount = drill.subjects
    subjects = (0..<drill.subjects).map { DrillSubject(drill, seed: seed, number: $0) }
    strangers = (0..<drill.strangers).map { number in
      var random = RandomStream(seed: seed, 13, UInt64(number))
      return (random, Int64(random.uniform() * 1e9), random.uniform(-85, -65))
    }
    observer = DrillObserver(drill, random: RandomStream(seed: seed, 14))
    for number in subjects.indices {
      happenings.append(subjects[number].advance())
      queue.insert(time: happenings[number].time, number: number)
    }
    for number in strangers.indices {
      queue.insert(time: strangers[number].next, number: subjectCount + number)
    }
  }

  /// The next item, or nil once the drill is over.
  package mutating func next() -> DrillItem? {
    while true {
      let first = queue.first
      let due = observer.nextTime
      if due <= first?.time ?? .max {
        guard due <= end else { return nil }
        if let item = observer.next() { return item }
      } else if let first {
        guard first.time <= end else { return nil }
        if let item = take(first.number) { return item }
      }
    }
  }

  /// What one whose turn it is does; nil if the observer does not notice.
  private mutating func take(_ number: Int) -> DrillItem? {
    guard number < subjectCount else { return takeStranger(number) }
    let happening = happenings[number]
    let next = subjects[number].advance()
    happenings[number] = next
    queue.replaceFirst(time: next.time, number: number)
    let time = Timestamp(nanoseconds: Drill.start.nanoseconds + happening.time)
    switch happening.kind {
    case .came: return .came(subject: Int32(number), time: time)
    case .left: return .left(subject: Int32(number), time: time)
    case .advert:
      guard observer.hears() else { return nil }
      return .advert(
        subject: Int32(number),
        observer: 0,
        time: time,
        level: DrillPlay.rounded(happening.level)
      )
    }
  }

  private mutating func takeStranger(_ number: Int) -> DrillItem? {
    let index = number - subjectCount
    let sent = strangers[index].next
    let delay = 1_000_000_000 + Int64(strangers[index].random.uniform() * 10_000_000)
    strangers[index].next = sent + delay
    queue.replaceFirst(time: strangers[index].next, number: number)
    let level = strangers[index].level + 2 * strangers[index].random.bell()
    guard observer.hears() else { return nil }
    return .advert(
      subject: Int32(number),
      observer: 0,
      time: Timestamp(nanoseconds: Drill.start.nanoseconds + sent),
      level: DrillPlay.rounded(level)
    )
  }

  /// A level as a radio reports it: whole dBm, never one of the values that mean "not available".
  static func rounded(_ level: Double) -> RSSI { RSSI(dBm: Int8(min(-1, max(-126, level.rounded())))) }
}
