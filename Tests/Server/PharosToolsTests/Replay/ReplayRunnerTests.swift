import Foundation
import PharosCaptures
import PharosModel
import PharosTerminal
import PharosTools
import Testing

@Suite("Replay")
struct ReplayRunnerTests {
  /// A capture of some payloads at some times, as a file that is removed at the end.
  private func withCapture(
    at times: [TimeSpan],
    cutBy cut: Int = 0,
    _ body: (String) throws -> Void
  ) throws {
    var writer = CaptureWriter()
    let gateway = Endpoint(IPAddress(v4: 0x0A00_0001), port: 4_000)
    let server = Endpoint(IPAddress(v4: 0x7F00_0001), port: 50_001)
    for (index, time) in times.enumerated() {
      let payload = Array(
        "{\"observer\":\"desk\",\"address\":\"c0:00:00:00:00:0\(index % 10)\",\"rssi\":-61}".utf8
      )
      try writer.write(
        payload: payload.span.bytes,
        from: gateway,
        to: server,
        at: Timestamp(seconds: 1_700_000_000) + time
      )
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "replay-\(UUID()).pcapng")
    try Data(writer.drainBytes().dropLast(cut)).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try body(file.path)
  }

  private let times: [TimeSpan] = [.zero, .milliseconds(100), .milliseconds(100), .milliseconds(400)]

  fileprivate struct Outcome {
    let status: CommandStatus
    let output: String
    let errors: String
  }

  private func play(
    _ options: ReplayRunner.Options,
    to sender: RecordingSender,
    on clock: VirtualClock
  ) -> Outcome {
    let output = MemorySink()
    let errors = MemorySink()
    let status = ReplayRunner(options).run(
      sender: sender,
      clock: clock,
      console: Console(output: output, errors: errors)
    )
    return Outcome(status: status, output: output.text, errors: errors.text)
  }

  @Test(
    "datagrams leave at the capture's times, times the speed, or at a rate",
    arguments: [
      (ReplayPace.captured(speed: 1), [0, 100, 100, 400]),
      (ReplayPace.captured(speed: 4), [0, 25, 25, 100]),
      (ReplayPace.rate(10), [0, 100, 200, 300]),
      (ReplayPace.unlimited, [0, 0, 0, 0]),
    ]
  )
  func paces(pace: ReplayPace, milliseconds: [Int]) throws {
    try withCapture(at: times) { path in
      let clock = VirtualClock()
      let sender = RecordingSender(clock: clock)
      let outcome = play(.init(capture: path, pace: pace), to: sender, on: clock)
      #expect(outcome.status == .success)
      #expect(sender.sent.map { Int($0.at.milliseconds.rounded()) } == milliseconds)
      #expect(outcome.output.contains("sent       4 datagrams"))
      #expect(outcome.output.contains("errors     0"))
      #expect(outcome.output.contains("lateness") == (pace != .unlimited))
      #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
  }

  @Test("deadlines are absolute: a clock that oversleeps loses nothing")
  func oversleeps() throws {
    try withCapture(at: (0..<100).map { .milliseconds($0 * 10) }) { path in
      let clock = VirtualClock(oversleep: .milliseconds(3))
      let sender = RecordingSender(clock: clock)
      var options = ReplayRunner.Options(capture: path)
      options.format = .jsonl
      let outcome = play(options, to: sender, on: clock)
      #expect(sender.sent.last.map { $0.at } == .milliseconds(993))
      #expect(outcome.output.contains("\"latenessMilliseconds\":{\"p50\":3"))
    }
  }

  @Test("a backlog is handed over in batches, and keeps its order")
  func backlog() throws {
    try withCapture(at: (0..<200).map { .milliseconds($0) }) { path in
      let clock = VirtualClock(oversleep: .seconds(1))
      let sender = RecordingSender(clock: clock)
      _ = play(.init(capture: path), to: sender, on: clock)
      #expect(sender.sent.count == 200)
      #expect(sender.calls <= 6)
    }
  }

  @Test("clones multiply the observers, loops the time")
  func clonesAndLoops() throws {
    try withCapture(at: times) { path in
      let clock = VirtualClock()
      let sender = RecordingSender(clock: clock)
      var options = ReplayRunner.Options(capture: path)
      (options.loops, options.clones) = (3, 5)
      let outcome = play(options, to: sender, on: clock)
      #expect(sender.sent.count == 4 * 3 * 5)
      let observers = try sender.sent.map { try DatagramVariantTests.decoded($0.payload).observers.first }
      #expect(Set(observers).count == 5)
      // 400 ms and a mean gap of 400/3 ms.
      #expect(sender.sent[20].at.milliseconds.rounded() == 533)
      #expect(outcome.output.contains("loops      3"))
    }
  }

  @Test("a full socket is waited for, and what is refused is counted")
  func troubles() throws {
    try withCapture(at: (0..<64).map { _ in .zero }) { path in
      let clock = VirtualClock()
      let sender = RecordingSender(clock: clock)
      sender.room = 10
      sender.refuseEvery = 3
      let outcome = play(.init(capture: path, pace: .unlimited), to: sender, on: clock)
      #expect(outcome.status == .success)
      #expect(sender.sent.count + outcome.errorCount == 64)
      #expect(outcome.errorCount > 0)
      #expect(outcome.output.contains("no process listens"))
    }
  }

  @Test("a damaged capture is played up to the damage, and the error names the offset")
  func damaged() throws {
    try withCapture(at: times, cutBy: 7) { path in
      let clock = VirtualClock()
      let sender = RecordingSender(clock: clock)
      let outcome = play(.init(capture: path, pace: .unlimited), to: sender, on: clock)
      #expect(outcome.status == .failure)
      #expect(sender.sent.count == 3)
      #expect(outcome.errors.contains(path))
      #expect(outcome.errors.contains("at byte "))
    }
  }

  @Test("on a terminal the bar moves with what is sent, not with what is read; elsewhere there is none")
  func progress() throws {
    try withCapture(at: (0..<40).map { .seconds(Double($0)) }) { path in
      for isTerminal in [true, false] {
        let clock = VirtualClock()
        let errors = MemorySink()
        let style = TerminalStyle(isTerminal: isTerminal, usesColor: false, width: 80)
        let status = ReplayRunner(.init(capture: path)).run(
          sender: RecordingSender(clock: clock),
          clock: clock,
          console: Console(output: MemorySink(), errors: errors, errorStyle: style)
        )
        #expect(status == .success)
        let shown = errors.text.split(separator: "\r").filter { $0.contains("%") }
        #expect(shown.count == (isTerminal ? 40 : 0))
        #expect(shown.first?.contains(" 100.0 %") != true)
      }
    }
  }

  @Test("a replay of a minute or more says first how long it takes")
  func duration() throws {
    try withCapture(at: [.zero, .seconds(172_800)]) { path in
      for (speed, said) in [(1.0, "takes 4d; --speed"), (48.0, "takes 2h; --speed"), (100_000, nil)] {
        let clock = VirtualClock()
        var options = ReplayRunner.Options(capture: path, pace: .captured(speed: speed))
        options.loops = 2
        let outcome = play(options, to: RecordingSender(clock: clock), on: clock)
        #expect(outcome.status == .success)
        if let said {
          #expect(outcome.errors.contains("covers 2d. The replay \(said)"))
        } else {
          #expect(!outcome.errors.contains("covers"))
        }
      }
    }
  }

  @Test("an interrupt prints the summary of what was sent")
  func interrupted() throws {
    try withCapture(at: times) { path in
      let clock = VirtualClock(interruptAfter: .milliseconds(200))
      let sender = RecordingSender(clock: clock)
      var options = ReplayRunner.Options(capture: path)
      options.loops = 9
      let outcome = play(options, to: sender, on: clock)
      #expect(sender.sent.count == 3)
      #expect(outcome.output.contains("interrupted"))
    }
  }

  @Test("a file that is missing is named")
  func missing() {
    let clock = VirtualClock()
    let outcome = play(.init(capture: "/nowhere/a.pcap"), to: RecordingSender(clock: clock), on: clock)
    #expect(outcome.status == .failure)
    #expect(outcome.errors.contains("/nowhere/a.pcap"))
  }
}

extension ReplayRunnerTests.Outcome {
  fileprivate var errorCount: Int {
    let line = output.split(separator: "\n").first { $0.hasPrefix("errors") } ?? ""
    return Int(line.dropFirst(11).prefix { $0.isNumber }) ?? 0
  }
}
