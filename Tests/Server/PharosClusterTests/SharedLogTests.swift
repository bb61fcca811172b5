import Foundation
import Logging
import PharosCluster
import PharosModel
import PharosPipeline
import PharosTerminal
import PharosTestSupport
import Synchronization
import Testing

@Suite("The log that a node publishes to", .timeLimit(.minutes(5)))
struct SharedLogTests {
  private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func batch(_ number: UInt32, length: Int = 40, start: UInt32 = 1) -> (BatchID, [UInt8]) {
    let id = BatchID(publisher: "node/0", start: start, number: number)
    let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 9)
    let input = LoggedInput.datagram(
      [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length),
      from: source,
      to: source,
      at: .wallClock
    )
    return (id, InputBatch(id: id, inputs: [input]).encoded)
  }

  private func wait(until isTrue: () -> Bool) async {
    while !isTrue() { await Task.yield() }
  }

  @Test("stores each batch, though answers and messages are lost and the broker is away for a while")
  func stored() async throws {
    let folder = try TemporaryFolder()
    let broker = MemoryBroker()
    let bus = MemoryBus(broker, losing: 97, forgetting: 61)
    let log = SharedLog(bus: bus, spool: BatchSpool(folder: folder.path(".")), logger: quiet)
    log.read(behind: 0) { _ in }
    var expected: Set<String> = []
    for number in 0..<600 as Range<UInt32> {
      if number == 200 { bus.cut(true) }
      if number == 500 {
        #expect(log.standing.waiting > 100)
        bus.cut(false)
      }
      let (id, bytes) = batch(number)
      expected.insert(id.description)
      log.publish(id, bytes)
    }
    await wait { log.standing.stored == 600 }
    #expect(Set(broker.stored) == expected)
    let standing = log.standing
    #expect(standing.waiting == 0 && standing.failures > 0 && standing.missed > 0)
    #expect(standing.lost == 0 && standing.problem == nil)
    log.close()
  }

  @Test(
    "batches that are not stored at the end go to a file, and are stored behind the next start before all else"
  )
  func spooled() async throws {
    let folder = try TemporaryFolder()
    let broker = MemoryBroker()
    let away = MemoryBus(broker)
    away.cut(true)
    let first = SharedLog(bus: away, spool: BatchSpool(folder: folder.path(".")), logger: quiet)
    let batches = (0..<50 as Range<UInt32>).map { batch($0, length: 5_000) }
    for (id, bytes) in batches { first.publish(id, bytes) }
    // A tick says nothing later.
    let tick = BatchID(publisher: "node/0", start: 1, number: 99)
    first.publish(tick, InputBatch(id: tick, inputs: []).encoded)
    first.close()
    #expect(broker.entries.isEmpty)
    let second = SharedLog(bus: MemoryBus(broker), spool: BatchSpool(folder: folder.path(".")), logger: quiet)
    let later = batch(0, start: 2)
    second.publish(later.0, later.1)
    second.read(behind: 0) { _ in }
    await wait { second.standing.stored == 51 }
    second.close()
    #expect(broker.entries.prefix(50).map(\.bytes) == batches.map(\.1))
    #expect(broker.entries.count == 51)
    let third = SharedLog(bus: MemoryBus(broker), spool: BatchSpool(folder: folder.path(".")), logger: quiet)
    #expect(third.standing.waiting == 0, "what was stored has left the file")
    third.close()
  }

  @Test("a file that a crash has cut off gives its whole records")
  func cutOff() async throws {
    let folder = try TemporaryFolder()
    let away = MemoryBus(MemoryBroker())
    away.cut(true)
    let log = SharedLog(bus: away, spool: BatchSpool(folder: folder.path(".")), logger: quiet)
    for number in 0..<5 as Range<UInt32> {
      let (id, bytes) = batch(number, length: 100)
      log.publish(id, bytes)
    }
    log.close()
    let path = folder.path("cluster-spool")
    let whole = try #require(FileManager.default.contents(atPath: path))
    for length in stride(from: whole.count, through: 0, by: -1) {
      _ = FileManager.default.createFile(atPath: path, contents: whole.prefix(length))
      let broker = MemoryBroker()
      let again = SharedLog(
        bus: MemoryBus(broker),
        spool: BatchSpool(folder: folder.path(".")),
        logger: quiet
      )
      let expected = length * 5 / whole.count
      again.read(behind: 0) { _ in }
      await wait { again.standing.stored == UInt64(expected) }
      #expect(broker.entries.count == expected, "of \(length) bytes")
      again.close()
    }
  }

  @Test("reads on from where it was when the connection comes back, each message once")
  func readsOn() async throws {
    let broker = MemoryBroker()
    let (writing, reading) = (MemoryBus(broker), MemoryBus(broker))
    let writer = SharedLog(bus: writing, spool: BatchSpool(folder: nil), logger: quiet)
    let reader = SharedLog(bus: reading, spool: BatchSpool(folder: nil), logger: quiet)
    let read = Mutex<[UInt64]>([])
    reader.read(behind: 0) { entries in read.withLock { $0 += entries.map(\.position) } }
    for number in 0..<300 as Range<UInt32> {
      if number == 100 { reading.cut(true) }
      if number == 200 { reading.cut(false) }
      let (id, bytes) = batch(number)
      writer.publish(id, bytes)
    }
    await wait { read.withLock(\.count) >= 300 }
    #expect(read.withLock { $0 } == Array(1...300))
    writer.close()
    reader.close()
  }
}
