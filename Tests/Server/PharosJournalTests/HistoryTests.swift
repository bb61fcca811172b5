import Foundation
import GRDB
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

@Suite("The summaries of minutes in a journal")
struct HistoryTests {
  private static let hall = HistoryPlace(application: "gallery", identifier: "hall")
  private static let everything = HistoryMinute(0)...HistoryMinute(.max)

  private static func journal(
    _ location: Journal.Location = .memory,
    _ settings: JournalSettings = JournalSettings(maximumAge: nil, maximumBytes: .max)
  ) throws -> Journal {
    try Journal.open(location, stream: Timeline.stream, settings: settings, blocks: Blocks(bits: 6))
  }

  /// A minute of a small site as it might be, the same for the same seed.
  private static func sample(
    _ minute: Int64,
    subjects: [SubjectID] = Timeline.beacons.map { .beacon($0) },
    _ random: inout SeededGenerator
  ) -> HistorySample {
    var sample = HistorySample(minute: HistoryMinute(minute))
    for subject in subjects where Int.random(in: 0..<8, using: &random) > 0 {
      sample.subjects[subject] = SubjectMinute(
        zone: ["hall", "café", nil].randomElement(using: &random) ?? nil,
        state: [.inside, .outside, .unmonitored, .unknown].randomElement(using: &random) ?? .unknown,
        nearest: [.observer(Timeline.observers[0]), .observer(.name("front desk")), .none]
          .randomElement(using: &random) ?? .none,
        rssi: Bool.random(using: &random) ? Int.random(in: -110...(-30), using: &random) : nil,
        position: Bool.random(using: &random) ? position(&random) : nil
      )
    }
    for observer in Timeline.observers {
      sample.observers[observer] = ObserverMinute(
        adverts: .random(in: 0...90_000, using: &random),
        isUp: .random(using: &random)
      )
    }
    for place in [hall, .zone("hall"), .zone("lobby")] {
      sample.places[place] = PlaceMinute(
        inside: .random(in: 0...900, using: &random),
        unmonitored: .random(in: 0...9, using: &random)
      )
    }
    return sample
  }

  /// A position in the steps that are stored: around a museum, or far away and outdoors.
  private static func position(_ random: inout SeededGenerator) -> SubjectMinute.Position {
    let isFar = Int.random(in: 0..<10, using: &random) == 0
    func degrees(_ origin: Int, _ reach: Int) -> Double {
      Double(origin + Int.random(in: -reach...reach, using: &random)) / 1e6
    }
    return SubjectMinute.Position(
      venue: "museum",
      building: isFar ? "" : "main",
      level: isFar ? 0 : Int.random(in: -2...30, using: &random),
      latitude: degrees(52_520_000, isFar ? 30_000_000 : 900),
      longitude: degrees(-179_990_000, isFar ? 9_000 : 1_500),
      accuracy: Double(Int.random(in: 3...900, using: &random)) / 10
    )
  }

  /// A position in a building of two floors.
  private static func walk(_ minute: Int64, _ random: inout SeededGenerator) -> SubjectMinute.Position {
    var position = position(&random)
    position.building = "main"
    position.level = Int(minute / 30 % 2)
    position.latitude = 52.52 + Double.random(in: -0.0004...0.0004, using: &random)
    return position
  }

  private static func subjects(
    of journal: Journal,
    at minute: HistoryMinute
  ) throws -> [(subject: SubjectID, summary: SubjectMinute)] {
    try #require(try journal.history(at: [minute]).first).subjects
  }

  /// The size of the pages in use.
  private static func bytes(_ journal: Journal) throws -> Int64 {
    try journal.read { database in
      let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
      return ((try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0) - free) * 4_096
    }
  }

  @Test("minutes are read back as they were written, also after a restart, however often they are written")
  func roundTrip() throws {
    let folder = ScratchFolder()
    var random = SeededGenerator(seed: 27)
    var expected: [Int64: HistorySample] = [:]
    var journal = try Self.journal(.folder(folder.path))
    for minute in Array(29_000_050...29_000_130 as ClosedRange<Int64>) + [29_000_400, 29_000_119] {
      let sample = Self.sample(minute, &random)
      try journal.record(sample)
      // What an earlier write of the minute said of others stays.
      expected[minute, default: HistorySample(minute: sample.minute)].subjects
        .merge(sample.subjects) { $1 }
      expected[minute]?.observers = sample.observers
      expected[minute]?.places = sample.places
    }
    for isRestarted in [false, true] {
      if isRestarted {
        journal.leave()
        journal = try Self.journal(.folder(folder.path))
      }
      let minutes = expected.keys.sorted()
      for beacon in Timeline.beacons {
        let found = try journal.history(of: .beacon(beacon), in: Self.everything)
        let wanted = minutes.filter { expected[$0]?.subjects[.beacon(beacon)] != nil }
        #expect(found.map(\.minute.number) == wanted)
        for (minute, summary) in found {
          #expect(summary == expected[minute.number]?.subjects[.beacon(beacon)])
        }
      }
      let some = HistoryMinute(29_000_061)...HistoryMinute(29_000_119)
      for observer in Timeline.observers {
        let found = try journal.history(of: observer, in: some)
        #expect(found.map(\.minute.number) == Array(29_000_061...29_000_119))
        #expect(found.map(\.summary) == found.map { expected[$0.minute.number]?.observers[observer] })
      }
      let places = try journal.historyPlaces()
      #expect(places.map(\.key) == [.zone("hall"), .zone("lobby"), Self.hall])
      for place in places.map(\.key) {
        let found = try journal.history(of: place, in: Self.everything)
        #expect(found.map(\.minute.number) == minutes)
        #expect(found.map(\.summary) == found.map { expected[$0.minute.number]?.places[place] })
      }
      let frames = try journal.history(at: minutes.map { HistoryMinute($0) })
      #expect(frames.map(\.minute.number) == minutes)
      #expect(frames.map { $0.subjects.count } == minutes.map { expected[$0]?.subjects.count })
      for minute in minutes {
        let found = try Self.subjects(of: journal, at: HistoryMinute(minute))
        #expect(found.map(\.subject) == expected[minute]?.subjects.keys.sorted())
        for (subject, summary) in found { #expect(summary == expected[minute]?.subjects[subject]) }
      }
      #expect(try journal.historySubjects().map(\.key) == Timeline.beacons.map { .beacon($0) }.sorted())
      #expect(try journal.historyObservers().map(\.key) == Timeline.observers.sorted())
      #expect(try journal.historyObservers().first?.first.number == 29_000_040)
      #expect(try journal.historyObservers().first?.last.number == 29_000_459)
    }
    #expect(try journal.history(of: .zone("nowhere"), in: Self.everything).isEmpty)
    #expect(try journal.history(of: .observer(.name("unknown")), in: Self.everything).isEmpty)
    #expect(try Self.subjects(of: journal, at: HistoryMinute(1)).isEmpty)
  }

  @Test("invalid levels and places are left out, and values above the limit are capped")
  func limits() throws {
    let journal = try Self.journal()
    var sample = HistorySample(minute: HistoryMinute(60))
    let beacon = SubjectID.beacon(Timeline.beacons[0])
    var position = SubjectMinute.Position(
      venue: "museum",
      building: "main",
      level: 1,
      latitude: 90,
      longitude: 180,
      accuracy: .infinity
    )
    sample.subjects[beacon] = SubjectMinute(rssi: -900, position: position)
    try journal.record(sample)
    let read = try #require(try Self.subjects(of: journal, at: sample.minute).first?.summary)
    #expect(read.rssi == -128)
    #expect(read.position?.accuracy == 6_553.5)
    #expect(read.position?.latitude == 90)
    position.latitude = .nan
    sample.subjects[beacon]?.position = position
    try journal.record(sample)
    #expect(try Self.subjects(of: journal, at: sample.minute).first?.summary.position == nil)
    #expect(HistoryMinute(-5).number == 0)
    #expect(HistoryMinute(containing: .distantFuture).hour > 2_000_000)
  }

  @Test("hours that are too old go, with the series and names that nothing else mentions")
  func age() throws {
    let journal = try Self.journal(.memory, JournalSettings(maximumAge: .minutes(600), maximumBytes: .max))
    var random = SeededGenerator(seed: 5)
    for hour in 0..<20 as Range<Int64> {
      let early: [SubjectID] = [.observer(.name("early"))]
      try journal.record(
        Self.sample(hour * 60 + 7, subjects: hour < 3 ? early : [.observer(.name("late"))], &random)
      )
    }
    #expect(try journal.prune(now: HistoryMinute(600).start).hours == 0)
    let pruned = try journal.prune(now: HistoryMinute(20 * 60).start)
    #expect(pruned.hours == 10)
    #expect(pruned.names == 1)
    #expect(try journal.historySubjects().map(\.key) == [.observer(.name("late"))])
    #expect(try journal.historyObservers().first?.first.number == 600)
    #expect(try journal.history(of: Self.hall, in: Self.everything).map(\.minute.hour) == Array(10..<20))
    let names = try journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM names") }
    #expect(try journal.prune(now: HistoryMinute(900_000).start).hours == 10)
    #expect(try journal.historySubjects().isEmpty)
    #expect(try journal.historyBytes() == 0)
    let left = try journal.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM names") }
    #expect(names ?? 0 > 5)
    #expect(left == 0)
  }

  @Test("summaries take half of the size limit at most: the oldest hours go first, events stay")
  func size() throws {
    let journal = try Self.journal(.memory, JournalSettings(maximumAge: nil, maximumBytes: 400_000))
    var timeline = Timeline(seed: 3)
    _ = try journal.append(timeline.events(200).map { .init(event: $0) })
    var random = SeededGenerator(seed: 6)
    let subjects = (0..<40).map { SubjectID.observer(.name("handset \($0)")) }
    for minute in stride(from: 0, to: 60 * 24, by: 4) as StrideTo<Int64> {
      try journal.record(Self.sample(minute, subjects: subjects, &random))
    }
    #expect(try journal.historyBytes() > 200_000)
    let pruned = try journal.prune(now: HistoryMinute(60 * 24).start)
    #expect(pruned.hours > 5)
    #expect(try journal.historyBytes() <= 200_000)
    #expect(try journal.historyBytes() > 150_000)
    let stored = try journal.read {
      try Int64.fetchOne($0, sql: "SELECT sum(length(minutes) + 24) FROM history")
    }
    #expect(try journal.historyBytes() == stored)
    #expect(try journal.historyHours().last == 23)
    #expect(journal.statistics().events == 200)
  }

  @Test(
    "an erased subject has no summaries, the summaries of others do not name it, and no byte of it is left",
    arguments: ["front desk", "ac:23:3f:a0:00:00", "mac:c0:ff:ee:00:00:01"]
  )
  func erases(text: String) throws {
    let folder = ScratchFolder()
    let traces = try #require(SubjectTraces(text))
    let journal = try Self.journal(.folder(folder.path))
    var random = SeededGenerator(seed: 8)
    let subjects = Timeline.beacons.map { SubjectID.beacon($0) } + [.observer(.name("front desk"))]
    for minute in stride(from: 29_000_000, to: 29_000_400, by: 7) as StrideTo<Int64> {
      try journal.record(Self.sample(minute, subjects: subjects, &random))
    }
    let minute = HistoryMinute(29_000_007)
    let before = try Self.subjects(of: journal, at: minute)
    let erased = try journal.erase(traces)
    #expect(erased.history > 5)
    #expect(erased.names == 1)
    let placeholder = SubjectID.observer(Journal.erasedObserver)
    let after = try Self.subjects(of: journal, at: minute)
    #expect(after.map(\.subject) == before.map(\.subject).filter { !traces.contains($0) })
    for (subject, summary) in after {
      var expected = try #require(before.first { $0.subject == subject }).summary
      if traces.contains(expected.nearest) { expected.nearest = placeholder }
      #expect(summary == expected)
    }
    #expect(try !journal.historySubjects().contains { traces.contains($0.key) })
    #expect(try !journal.historyObservers().contains { traces.contains($0.key) })
    if text == "front desk" {
      #expect(try journal.history(of: .name(text), in: Self.everything).isEmpty)
      let file = try Data(contentsOf: URL(filePath: folder.database))
      #expect(file.range(of: Data(text.utf8)) == nil)
    }
    let stored = try journal.read {
      try Int64.fetchOne($0, sql: "SELECT sum(length(minutes) + 24) FROM history")
    }
    // A row that names the placeholder is as long as before.
    #expect(try journal.historyBytes() == stored)
    #expect(try journal.erase(traces).isEmpty)
  }

  @Test(
    "a day of a tag that is located every minute takes at most 26 KB, one that is not 13 KB",
    arguments: [true, false]
  )
  func bytesOfADay(isLocated: Bool) throws {
    let journal = try Self.journal()
    let empty = try Self.bytes(journal)
    var random = SeededGenerator(seed: 9)
    let subjects = (0..<20).map { SubjectID.observer(.name("tag \($0)")) }
    for minute in 0..<360 as Range<Int64> {
      var sample = HistorySample(minute: HistoryMinute(minute))
      for (index, subject) in subjects.enumerated() {
        sample.subjects[subject] = SubjectMinute(
          zone: "zone \((Int(minute) / 20 + index) % 9)",
          state: .inside,
          nearest: .observer(Timeline.observers[(Int(minute) / 10 + index) % 6]),
          rssi: Int.random(in: -90...(-50), using: &random),
          position: isLocated ? Self.walk(minute, &random) : nil
        )
      }
      try journal.record(sample)
    }
    let perDay = (try Self.bytes(journal) - empty) * 4 / Int64(subjects.count)
    #expect(perDay <= (isLocated ? 26_000 : 13_000), "\(perDay) bytes")
    #expect(try journal.history(of: subjects[3], in: Self.everything).count == 360)
  }

  @Test(
    "series whose hours are damaged are listed, recorded, pruned and erased without a trap",
    arguments: [
      (Int64.max, Int64.max), (.min, .max), (.max, .min), (-1, 1 << 62),
    ]
  )
  func damagedSeries(first: Int64, last: Int64) throws {
    let journal = try Self.journal()
    var random = SeededGenerator(seed: 9)
    try journal.record(Self.sample(10, &random))
    try journal.write { database in
      try database.execute(sql: "UPDATE history_series SET first = ?, last = ?", arguments: [first, last])
      try database.execute(
        sql: "INSERT INTO history_hours (hour, bytes) VALUES (?, 1)",
        arguments: [Int64.max]
      )
    }
    #expect(try !journal.historySubjects().isEmpty)
    #expect(try !journal.historyPlaces().isEmpty)
    for subject in Timeline.beacons { _ = try? journal.history(of: .beacon(subject), in: Self.everything) }
    try journal.record(Self.sample(70, &random))
    let traces = try #require(SubjectTraces("\(Timeline.beacons[0])"))
    _ = try? journal.erase(traces)
    _ = try? journal.prune(now: .distantFuture)
  }

  @Test("a journal of the version before is brought up to date")
  func migrates() throws {
    let folder = ScratchFolder()
    do {
      let journal = try Self.journal(.folder(folder.path))
      var timeline = Timeline(seed: 3)
      _ = try journal.append(timeline.events(20).map { .init(event: $0) })
      try journal.write { database in
        for table in ["history", "history_series", "history_hours"] {
          try database.execute(sql: "DROP TABLE \(table)")
        }
        try database.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = 'journal 2'")
      }
      journal.leave()
    }
    let journal = try Self.journal(.folder(folder.path))
    #expect(journal.head == 20)
    var random = SeededGenerator(seed: 1)
    try journal.record(Self.sample(10, &random))
    #expect(try journal.historyPlaces().count == 3)
  }
}
