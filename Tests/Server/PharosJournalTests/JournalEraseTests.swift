import Foundation
import PharosJournal
import PharosModel
import PharosTestSupport
import Testing

@Suite("Erasing a subject from the journal")
struct JournalEraseTests {
  /// A journal on the disk with events of all subjects, deliveries that failed, and checkpoints that hold the
  /// subject's bytes.
  private static func fill(_ folder: ScratchFolder, seed: UInt64) throws -> (Journal, ModelJournal) {
    let settings = JournalSettings(maximumAge: nil, maximumBytes: .max)
    let journal = try Journal.open(
      .folder(folder.path),
      stream: Timeline.stream,
      settings: settings,
      blocks: Blocks(bits: 6)
    )
    var timeline = Timeline(seed: seed)
    var model = ModelJournal()
    for _ in 0..<30 {
      let entries = timeline.events(40).map { Journal.Entry(event: $0, isPublished: !timeline.chance(6)) }
      model.append(entries)
      _ = try journal.append(entries)
    }
    var update = DeliveryUpdate(receiver: "hook", cursor: 3, delivered: 0)
    let subjects = Timeline.observers.map { SubjectID.observer($0) } + Timeline.beacons.map { .beacon($0) }
    update.lanes = subjects.map { DeliveryLedger.Lane(topic: DeliveryTopic($0), after: 3) }
    update.dead = model.committed.prefix(400).map {
      DeadLetter(
        sequence: $0.sequence,
        event: $0.event,
        diedAt: Timestamp(seconds: 1),
        attempts: 3,
        reason: "refused"
      )
    }
    try journal.save([update], deadLimit: 1_000)
    let snapshot = model.committed.flatMap { EventRecord($0.event).encoded }
    for instant in [10, 20, 30] as [Int64] {
      try journal.save(checkpoint: snapshot, instant: Timestamp(seconds: instant), through: 5)
    }
    return (journal, model)
  }

  /// The ways in which a subject may stand in a file.
  private static func words(_ traces: SubjectTraces) -> [[UInt8]] {
    var words: [[UInt8]] = []
    func add(_ bits: UInt64, _ count: Int) {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
      words += [bytes, bytes.reversed()]
    }
    if let observer = traces.observer {
      words.append(Array(observer.description.utf8))
      if case .eui48(let bits) = observer { add(bits, 6) }
    }
    if let beacon = traces.beacon {
      words.append(Array(beacon.description.utf8))
      if let address = beacon.address {
        words.append(Array(address.description.utf8))
        add(address.bits, 6)
      }
    }
    return words
  }

  /// How often a word stands in the files of a folder.
  private static func count(_ words: [[UInt8]], in folder: ScratchFolder) throws -> Int {
    var count = 0
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let data = try Data(contentsOf: URL(filePath: "\(folder.path)/\(file)"))
      for word in words {
        var start = data.startIndex
        while let range = data.range(of: Data(word), in: start..<data.endIndex) {
          count += 1
          start = range.lowerBound + 1
        }
      }
    }
    return count
  }

  /// Returns an event after the erasure of a subject: nil, itself, or without the subject.
  private static func left(of event: Event, _ traces: SubjectTraces) throws -> Event? {
    guard !traces.contains(event.subject) else { return nil }
    let record = EventRecord(event)
    let names =
      record.names.map { name in
        switch name {
        case .observer(let observer) where traces.contains(observer): .observer(Journal.erasedObserver)
        case .beacon(let beacon) where traces.contains(beacon): .beacon(Journal.erasedBeacon)
        default: name
        }
      } as [EventName]
    return try EventRecord(names: names, body: record.body).event()
  }

  @Test(
    "nothing of it is left, not in the bytes of the files either; all else is as it was, by any filter",
    arguments: ["front desk", "ac:23:3f:a0:00:03", "mac:c0:ff:ee:00:00:01", "c0:ff:ee:00:00:01"]
  )
  func erases(text: String) throws {
    let folder = ScratchFolder()
    let traces = try #require(SubjectTraces(text))
    let words = Self.words(traces)
    var (journal, model) = try Self.fill(folder, seed: 17)
    #expect(try Self.count(words, in: folder) > 100, "there is something to erase")
    let erased = try journal.erase(traces)
    let committed = try model.committed.compactMap { entry in
      try Self.left(of: entry.event, traces).map { JournaledEvent(sequence: entry.sequence, event: $0) }
    }
    #expect(erased.events == model.committed.count - committed.count)
    #expect(erased.events > 20)
    #expect(erased.mentions > 5)
    #expect(erased.rows > 0)
    #expect(erased.names == 1)
    #expect(erased.postings > 0)
    #expect(erased.deliveries == 1)
    #expect(erased.deadLetters > 10)
    #expect(erased.checkpoints == 2)
    #expect(try Self.count(words, in: folder) == 0)
    #expect(try journal.erase(traces).isEmpty, "a second time there is nothing")
    for turn in 0..<2 {
      #expect(journal.head == Int64(model.committed.count))
      #expect(try journal.events(after: 0, limit: .max).lines == committed.lines)
      #expect(try journal.events(before: .max, limit: .max).reversed().lines == committed.lines)
      var timeline = Timeline(seed: 5)
      for _ in 0..<60 {
        var filter = timeline.filter(over: model.committed.count)
        // Who filters by what stands for the erased may find nothing; all others find what there is.
        filter.observers = filter.observers?.filter { !traces.contains($0) }
        let expected = committed.filter { filter.matches($0.event) }
        #expect(try journal.events(after: 0, matching: filter, limit: .max).lines == expected.lines)
        #expect(
          try journal.events(before: .max, matching: filter, limit: 7).lines
            == expected.reversed().prefix(7).lines
        )
      }
      let rows = try journal.publishedState()
      #expect(!rows.regions.contains { traces.contains($0.subject) })
      #expect(!rows.regions.contains { $0.observer.map(traces.contains) ?? false })
      #expect(!rows.regions.contains { $0.refinement.map(traces.contains) ?? false })
      #expect(rows.regions.count == model.rows.regions.count { !traces.contains($0.subject) })
      #expect(rows.zones.count == model.rows.zones.count { !traces.contains($0.beacon) })
      #expect(rows.observers.count == model.rows.observers.count { !traces.contains($0.observer) })
      #expect(try journal.latestCheckpoint() == nil)
      guard turn == 0 else { break }
      journal.leave()
      journal = try Journal.open(
        .folder(folder.path),
        stream: Timeline.stream,
        settings: journal.settings,
        blocks: Blocks(bits: 6)
      )
    }
  }

  @Test("a stream resumes after any number, also an erased one, and no number is used again")
  func resumes() throws {
    let folder = ScratchFolder()
    var (journal, model) = try Self.fill(folder, seed: 23)
    // The last event of all is the subject's, so that the head itself is erased.
    let traces = try #require(SubjectTraces("front desk"))
    var others = Timeline(seed: 99)
    let last = others.events(400).last { $0.subject == .observer(.name("front desk")) }
    let entry = Journal.Entry(event: try #require(last))
    model.append([entry])
    let head = try #require(try journal.append([entry])[0])
    _ = try journal.erase(traces)
    let left = model.committed.filter { !traces.contains($0.event.subject) }.map(\.sequence)
    #expect(left.last != head)
    for sequence in stride(from: Int64(0), through: head, by: 7) {
      let page = try journal.events(after: sequence, limit: 5).map(\.sequence)
      #expect(page == Array(left.filter { $0 > sequence }.prefix(5)))
      #expect(try journal.event(sequence).map(\.sequence) == (left.contains(sequence) ? sequence : nil))
    }
    journal.leave()
    journal = try Journal.open(
      .folder(folder.path),
      stream: Timeline.stream,
      settings: journal.settings,
      blocks: Blocks(bits: 6)
    )
    #expect(journal.head == head)
    #expect(try journal.append([entry]) == [head + 1])
    #expect(try journal.events(after: head, limit: 5).map(\.sequence) == [head + 1])
  }

  @Test("events that come while it works are all kept, and their names are found")
  func concurrent() async throws {
    let folder = ScratchFolder()
    let (journal, model) = try Self.fill(folder, seed: 29)
    let traces = try #require(SubjectTraces("ac:23:3f:a0:00:03"))
    let more = await withTaskGroup(of: [Event].self) { group in
      group.addTask {
        var timeline = Timeline(seed: 31)
        var all: [Event] = []
        for _ in 0..<60 {
          let events = timeline.events(20)
          guard (try? journal.append(events.map { Journal.Entry(event: $0) })) != nil else { break }
          all += events
        }
        return all
      }
      _ = try? journal.erase(traces)
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(more.count == 1_200)
    #expect(journal.head == Int64(model.committed.count + more.count))
    _ = try journal.erase(traces)
    let expected = more.filter { !traces.contains($0.subject) }.count
    #expect(try journal.events(after: Int64(model.committed.count), limit: .max).count == expected)
    #expect(try Self.count(Self.words(traces), in: folder) == 0)
  }

  @Test("a checkpoint that was taken after the subject was forgotten stays")
  func newerCheckpoint() throws {
    let folder = ScratchFolder()
    let (journal, _) = try Self.fill(folder, seed: 37)
    let traces = try #require(SubjectTraces("front desk"))
    try journal.save(checkpoint: [1, 2, 3], instant: Timestamp(seconds: 50), through: 9)
    let erased = try journal.erase(traces, keepingCheckpointsFrom: Timestamp(seconds: 40))
    #expect(erased.checkpoints == 1)
    #expect(try journal.latestCheckpoint()?.bytes == [1, 2, 3])
    #expect(try Self.count(Self.words(traces), in: folder) == 0)
  }

  @Test("documents that name it are counted by kind, since they are an operator's rules")
  func documents() throws {
    let journal = try Journal.open(.memory, stream: Timeline.stream)
    let traces = try #require(SubjectTraces("ac:23:3f:a0:00:03"))
    try journal.put(Array(#"{"subjects":["AC:23:3F:A0:00:03"]}"#.utf8), kind: "hook", key: "a")
    try journal.put([1], kind: "key", key: "ac:23:3f:a0:00:03")
    try journal.put(Array("another one".utf8), kind: "hook", key: "b")
    #expect(try journal.documents(naming: traces) == ["hook": 1, "key": 1])
    #expect(try journal.documents(naming: try #require(SubjectTraces("unknown"))).isEmpty)
  }

  @Test("a rewritten file holds its rows and nothing between them")
  func rewrites() throws {
    let folder = ScratchFolder()
    let (journal, model) = try Self.fill(folder, seed: 41)
    let traces = try #require(SubjectTraces("front desk"))
    _ = try journal.erase(traces)
    try journal.rewrite()
    let left = model.committed.filter { !traces.contains($0.event.subject) }
    #expect(try journal.events(after: 0, limit: .max).map(\.sequence) == left.map(\.sequence))
    #expect(try Self.count(Self.words(traces), in: folder) == 0)
  }
}
