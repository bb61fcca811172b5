import PharosDocuments
import PharosModel
import PharosSecurity
import PharosTestSupport
import PharosWire
import Testing

/// One gateway, one server and one disk on virtual time: the gateway sends, the network delays and repeats, the server is killed
/// or stopped at any moment, the disk writes late, and an attacker replays any datagram that was ever sent.
private struct Scene {
  struct Sent: Hashable {
    var bootID: UInt32
    var sequence: UInt32
    var uptime: TimeSpan
  }

  let name = SenderName(observer: .eui48(1), keyID: 7)
  var generator: SeededGenerator
  var now = Timestamp(seconds: 1_000_000)
  /// The server's R less the time, which a new wall clock may change when the machine restarts.
  var offset = TimeSpan.zero
  var machineStart = 1

  // The gateway.
  var bootID: UInt32 = 1
  var started = Timestamp(seconds: 999_000)
  var sequence: UInt32 = 0
  /// How much quicker its clock runs than the server's.
  var drift: Double
  var sent: [Sent] = []

  // The server.
  var window = SenderWindow()
  var lease = Timestamp.distantPast
  var runningSince = Timestamp(seconds: 1_000_000)
  var wasKilled = false
  /// What is on its way to the disk.
  var asked: SenderRecord?
  var writes: [(records: [SenderRecord], lease: SenderLease, done: Timestamp)] = []
  var held: [Sent] = []

  // The disk.
  var record: SenderRecord?
  var keptLease: SenderLease?

  // The truth.
  var accepted: Set<Sent> = []
  var repeated: [Sent] = []
  var refused: [(Sent, DatagramRefusal)] = []

  init(seed: Int) {
    generator = SeededGenerator(seed: UInt64(seed))
    drift = Double.random(in: -200e-6...200e-6, using: &generator)
  }

  var received: Timestamp { now + offset }

  mutating func send() -> Sent {
    let elapsed = (now - started) * (1 + drift)
    let uptime = TimeSpan.milliseconds(elapsed.nanoseconds / 1_000_000)
    let datagram = Sent(bootID: bootID, sequence: sequence, uptime: uptime)
    sequence &+= 1
    sent.append(datagram)
    return datagram
  }

  /// A datagram arrives; gives why it was refused.
  @discardableResult
  mutating func arrive(_ datagram: Sent) throws -> DatagramRefusal? {
    let head = try Datagrams.head(
      bootID: datagram.bootID,
      sequence: datagram.sequence,
      uptime: datagram.uptime
    )
    switch window.judge(head, received: received, lease: lease, of: name) {
    case .accepted: receive(datagram)
    case .acceptedToRecord(let record):
      receive(datagram)
      asked = record
      write()
    case .waits(let record):
      if let record { asked = record }
      if held.count < 64 { held.append(datagram) }
      write()
    case .refused(let reason): return reason
    }
    return nil
  }

  private mutating func receive(_ datagram: Sent) {
    if !accepted.insert(datagram).inserted { repeated.append(datagram) }
  }

  /// Begins a write unless one is under way.
  mutating func write() {
    guard writes.isEmpty else { return }
    let records = asked.map { [$0] } ?? []
    asked = nil
    let lease = SenderLease(
      until: received + SenderLease.length,
      written: received,
      steady: now - Timestamp(seconds: 0),
      machineStart: "\(machineStart)"
    )
    let uses = TimeSpan.milliseconds(Int64.random(in: 1...300, using: &generator))
    writes.append((records, lease, now + uses))
  }

  /// Lets time pass: writes end, the lease is renewed, what waited is asked about again.
  mutating func pass(_ span: TimeSpan) throws {
    let end = now + span
    while let write = writes.first, write.done <= end {
      now = max(now, write.done)
      writes.removeFirst()
      for record in write.records {
        self.record = record
        window.kept(record)
      }
      keptLease = write.lease
      lease = write.lease.until
      if asked != nil { self.write() }
      let waiting = held
      held = []
      for datagram in waiting { try arrive(datagram) }
    }
    now = end
    if lease - received < SenderLease.renewal { write() }
  }

  /// The process ends at once; a write that is under way may or may not have reached the disk.
  mutating func kill() {
    if let write = writes.first, Bool.random(using: &generator) {
      for record in write.records { self.record = record }
      keptLease = write.lease
    }
    writes = []
    asked = nil
    held = []
    wasKilled = true
  }

  /// The process ends in order.
  mutating func stop() {
    writes = []
    asked = nil
    held = []
    if let record = window.recordAtEnd(name) { self.record = record }
    wasKilled = false
  }

  /// The process starts again.
  mutating func start() {
    let end =
      keptLease?.end(steady: now - Timestamp(seconds: 0), machineStart: "\(machineStart)") ?? .distantPast
    window = SenderWindow(record, endedBy: end)
    if let record = window.recordAtStart(name) { self.record = record }
    lease = .distantPast
    write()
    runningSince = now
  }
}

@Suite("A replay window whose process is killed")
struct SenderWindowTests {
  @Test("a lease of an unknown boot ends no earlier than it says, as two unknown boots may differ")
  func unknownBoot() {
    let noon = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
    let known = SenderLease(until: noon + .seconds(60), written: noon, steady: .zero, machineStart: "a")
    let unknown = SenderLease(until: noon + .seconds(60), written: noon, steady: .zero, machineStart: "")
    #expect(known.end(steady: .seconds(5), machineStart: "a") == noon + .seconds(5))
    #expect(known.end(steady: .seconds(5), machineStart: "b") == known.until)
    #expect(unknown.end(steady: .seconds(5), machineStart: "") == unknown.until)
  }

  @Test(
    "nothing is ever taken twice, and a gateway that goes on is heard again at once",
    arguments: Seeds.drawn(0..<60)
  )
  func neverTwice(seed: Int) throws {
    var scene = Scene(seed: seed)
    var wronged: [String] = []
    for step in 0..<4_000 {
      try scene.pass(.milliseconds(Int64.random(in: 1...400, using: &scene.generator)))
      switch Int.random(in: 0..<1_000, using: &scene.generator) {
      case 0..<4:
        scene.kill()
        // Restarts of a process, and of the machine with a clock that may be wrong.
        if Int.random(in: 0..<4, using: &scene.generator) == 0 {
          scene.machineStart += 1
          scene.now = scene.now + .seconds(Double.random(in: 12...600, using: &scene.generator))
          scene.offset = .seconds(Double.random(in: -30...30, using: &scene.generator))
        } else {
          scene.now = scene.now + .seconds(Double.random(in: 0.001...30, using: &scene.generator))
        }
        scene.start()
      case 4..<8:
        scene.stop()
        scene.now = scene.now + .seconds(Double.random(in: 0.001...30, using: &scene.generator))
        scene.start()
      case 8..<10:
        scene.bootID += 1
        scene.started = scene.now
        scene.sequence = 0
      case 10..<14:
        // A minute without anything, so that a lease lapses and a period ends.
        try scene.pass(.seconds(70))
      case 14..<500:
        let datagram = scene.send()
        let fate = Int.random(in: 0..<10, using: &scene.generator)
        guard fate > 0 else { continue }
        let sentAt = scene.now
        if fate == 1 { try scene.pass(.milliseconds(Int64.random(in: 1...900, using: &scene.generator))) }
        if let reason = try scene.arrive(datagram) {
          // Behind a crash a margin, the jitter and some drift may be lost, and nothing else.
          let isFresh = sentAt - scene.runningSince > .milliseconds(200)
          if isFresh { wronged.append("step \(step): \(reason), \(datagram)") }
        }
      default:
        // An attacker replays: often the latest datagram, sometimes any.
        guard !scene.sent.isEmpty else { continue }
        let isRecent = Bool.random(using: &scene.generator)
        let first = isRecent ? max(0, scene.sent.count - 40) : 0
        let index = Int.random(in: first..<scene.sent.count, using: &scene.generator)
        let datagram = scene.sent[index]
        let wasAccepted = scene.accepted.contains(datagram)
        let refusal = try scene.arrive(datagram)
        if wasAccepted, refusal == nil, !scene.held.contains(datagram) {
          wronged.append("step \(step): a repeat was taken, \(datagram)")
        }
      }
    }
    #expect(scene.repeated.isEmpty)
    #expect(wronged.isEmpty)
    #expect(scene.accepted.count > 1_000)
  }

  private let name = SenderName(observer: .eui48(1), keyID: 7)
  private let noon = Timestamp(seconds: 1_000)

  /// A window that has taken numbers 0 to 9 of boot 1, one each second, with its record on the disk.
  private func running() throws -> (window: SenderWindow, record: SenderRecord) {
    var window = SenderWindow()
    let first = try Datagrams.head(bootID: 1, sequence: 0, uptime: .seconds(5))
    guard case .waits(let asked?) = window.judge(first, received: noon, lease: .distantFuture, of: name)
    else {
      throw TestFailure()
    }
    #expect(window.judge(first, received: noon, lease: .distantFuture, of: name) == .waits(nil))
    window.kept(asked)
    for number in 0..<10 as Range<UInt32> {
      let head = try Datagrams.head(bootID: 1, sequence: number, uptime: .seconds(5 + Double(number)))
      let received = noon + .seconds(Double(number))
      #expect(window.judge(head, received: received, lease: .distantFuture, of: name) == .accepted)
    }
    return (window, asked)
  }

  private struct TestFailure: Error {}

  @Test("the first datagram of a boot waits for its record, and of a lease that is over for the next one")
  func waits() throws {
    var (window, _) = try running()
    let boot = try Datagrams.head(bootID: 2, sequence: 0, uptime: .zero)
    let received = noon + .seconds(20)
    let record = SenderRecord(sender: name, bootID: 2, startedAt: received)
    #expect(window.judge(boot, received: received, lease: .distantFuture, of: name) == .waits(record))
    // While that is on its way, the boot before is still taken.
    let late = try Datagrams.head(bootID: 1, sequence: 10, uptime: .seconds(15))
    #expect(window.judge(late, received: noon + .seconds(10.1), lease: .distantFuture, of: name) == .accepted)
    window.kept(record)
    #expect(window.judge(boot, received: received, lease: noon, of: name) == .waits(nil))
    #expect(window.judge(boot, received: received, lease: received, of: name) == .accepted)
    #expect(window.judge(boot, received: received, lease: received, of: name) == .refused(.replayed))
    #expect(window.judge(late, received: received, lease: received, of: name) == .refused(.olderBoot))
  }

  @Test("after an orderly end all is known number by number")
  func orderlyEnd() throws {
    let (window, _) = try running()
    var next = SenderWindow(window.recordAtEnd(name), endedBy: noon + .seconds(60))
    let known = try Datagrams.head(bootID: 1, sequence: 9, uptime: .seconds(14))
    #expect(
      next.judge(known, received: noon + .seconds(70), lease: .distantFuture, of: name) == .refused(.replayed)
    )
    // One that was overtaken across the restart is not lost.
    let new = try Datagrams.head(bootID: 1, sequence: 10, uptime: .seconds(14.5))
    guard
      case .waits(let asked?) = next.judge(
        new,
        received: noon + .seconds(70),
        lease: .distantFuture,
        of: name
      )
    else { throw TestFailure() }
    #expect(asked.floor == .seconds(14))
    next.kept(asked)
    #expect(next.judge(new, received: noon + .seconds(70), lease: .distantFuture, of: name) == .accepted)
  }

  @Test("after a kill what has an uptime of before the end is refused, what has a later one is not")
  func kill() throws {
    let (_, record) = try running()
    // The record says that it started at 995 s; the end was at 1,009.2 s at the latest: uptime 14.2 s and the margin.
    var window = SenderWindow(record, endedBy: noon + .seconds(9.2))
    for (uptime, isRefused) in [(14.0, true), (14.25, true), (14.251, false), (20, false)] {
      let head = try Datagrams.head(bootID: 1, sequence: 100, uptime: .seconds(uptime))
      let judgement = window.judge(head, received: noon + .seconds(15), lease: .distantFuture, of: name)
      #expect((judgement == .refused(.replayed)) == isRefused, "\(uptime)")
    }
    let atStart = try #require(window.recordAtStart(name))
    #expect(atStart.floor == .seconds(14.25))
    #expect(atStart.startedAt == nil)
    // A second kill needs to know nothing of the first end.
    var again = SenderWindow(atStart, endedBy: .distantPast)
    let head = try Datagrams.head(bootID: 1, sequence: 100, uptime: .seconds(14.25))
    #expect(again.judge(head, received: noon, lease: .distantFuture, of: name) == .refused(.replayed))
  }

  @Test("a kill at the very moment of the first datagram lets it through no second time")
  func killAtOnce() throws {
    let head = try Datagrams.head(bootID: 1, sequence: 0, uptime: .zero)
    let record = SenderRecord(sender: name, bootID: 1, startedAt: noon)
    for early in [TimeSpan.zero, .milliseconds(49), SenderWindow.margin] {
      var window = SenderWindow(record, endedBy: noon - early)
      #expect(window.judge(head, received: noon, lease: .distantFuture, of: name) == .refused(.replayed))
    }
    // Had the run ended before all that the record covers, nothing was taken.
    var window = SenderWindow(record, endedBy: noon - .milliseconds(51))
    window.kept(record)
    #expect(window.judge(head, received: noon, lease: .distantFuture, of: name) == .accepted)
  }

  @Test("a lease ends with itself, or with the present where the steady clock still tells it")
  func lease() {
    let lease = SenderLease(
      until: noon + .seconds(10),
      written: noon,
      steady: .seconds(50),
      machineStart: "a"
    )
    #expect(lease.end(steady: .seconds(52), machineStart: "a") == noon + .seconds(2))
    #expect(lease.end(steady: .seconds(90), machineStart: "a") == noon + .seconds(10))
    #expect(lease.end(steady: .seconds(52), machineStart: "b") == noon + .seconds(10))
    #expect(lease.end(steady: .seconds(49), machineStart: "a") == noon + .seconds(10))
  }

  @Test("records and leases are read back as they were written, and nothing from cut bytes")
  func bytes() throws {
    let window = ReplayWindow(bootID: 1, sequence: 2, uptime: .seconds(3))
    let records = [
      SenderRecord(sender: name, bootID: 1),
      SenderRecord(sender: name, bootID: 1, floor: .seconds(2), startedAt: noon, window: window),
    ]
    for record in records {
      var writer = FieldWriter()
      record.write(to: &writer)
      var reader = FieldReader(writer.bytes[...])
      #expect(try SenderRecord(from: &reader) == record)
      for length in 0..<writer.bytes.count {
        var short = FieldReader(writer.bytes[..<length])
        #expect(throws: FieldError.self) { try SenderRecord(from: &short) }
      }
    }
  }
}
