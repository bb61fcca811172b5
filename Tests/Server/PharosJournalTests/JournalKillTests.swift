import Foundation
import PharosJournal
import PharosModel
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("Killed while it writes")
struct JournalKillTests {
  private static let group = 25

  /// Appends group after group and notes what was acknowledged, until another thread kills the process.
  private static func writeUntilKilled(_ folder: String, seed: UInt64) throws {
    let journal = try Journal.open(.folder(folder), stream: Timeline.stream, blocks: Blocks(bits: 6))
    var timeline = Timeline(seed: 42)
    _ = timeline.events(Int(journal.head))
    var random = Timeline(seed: seed)
    let last = random.number(2...30)
    let spins = random.number(0...400_000)
    let flag = KillSwitch()
    Thread.detachNewThread {
      while !flag.isNear.load(ordering: .acquiring) { sched_yield() }
      for _ in 0..<spins { _ = flag.isNear.load(ordering: .acquiring) }
      kill(getpid(), SIGKILL)
    }
    let acknowledged = open(folder + "/acknowledged", O_RDWR | O_CREAT, 0o600)
    for round in 0... {
      if round == last { flag.isNear.store(true, ordering: .releasing) }
      _ = try journal.append(timeline.events(group).map { .init(event: $0) })
      var head = journal.head
      pwrite(acknowledged, &head, 8, 0)
      if round % 7 == 3 {
        try journal.save(
          checkpoint: Array(repeating: 1, count: 600_000),
          instant: Timestamp(seconds: head),
          through: head
        )
      }
    }
  }

  private final class KillSwitch: Sendable {
    let isNear = Atomic<Bool>(false)
  }

  @Test("acknowledged groups survive each kill, whole and in one sequence")
  func killed() async throws {
    let folder = ScratchFolder()
    let path = folder.path
    var heads: [Int64] = []
    for seed in 1...6 as ClosedRange<UInt64> {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, seed = seed as UInt64] in
        try JournalKillTests.writeUntilKilled(path, seed: seed)
      }
      let journal = try Journal.open(.folder(path), stream: Timeline.stream, blocks: Blocks(bits: 6))
      let noted = try Data(contentsOf: URL(filePath: path + "/acknowledged"))
      let acknowledged = noted.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
      #expect(journal.head >= acknowledged)
      #expect(journal.head <= acknowledged + Int64(JournalKillTests.group))
      #expect(journal.head % Int64(JournalKillTests.group) == 0)
      var timeline = Timeline(seed: 42)
      var model = ModelJournal()
      model.append(timeline.events(Int(journal.head)).map { .init(event: $0) })
      #expect(try journal.events(after: 0, limit: .max).lines == model.committed.lines)
      #expect(try journal.publishedState() == model.rows)
      let filter = EventFilter(kinds: [.regionState])
      let expected = model.committed.filter { filter.matches($0.event) }
      #expect(try journal.events(after: 0, matching: filter, limit: .max).lines == expected.lines)
      if let checkpoint = try journal.latestCheckpoint() {
        #expect(checkpoint.bytes.count == 600_000)
        #expect(checkpoint.through <= journal.head)
      }
      heads.append(journal.head)
    }
    #expect(heads == heads.sorted())
    #expect((heads.last ?? 0) > 0)
  }
}
