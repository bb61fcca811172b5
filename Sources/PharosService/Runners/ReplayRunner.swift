import PharosCaptures
import PharosFiles
package import PharosReports

/// `pharos replay`: sends a capture again, to a server under test.
package struct ReplayRunner: Sendable {
  /// How a summary is written.
  package enum Format: String, CaseIterable, Sendable {
    /// Lines for people.
    case table
    /// One JSON object.
    case jsonl
  }

  /// What is sent, and how.
  package struct Options: Sendable {
    /// The capture.
    package var capture: String
    /// When each datagram is due.
    package var pace: ReplayPace
    /// How often the capture is played, one behind the other.
    package var loops: Int
    /// How many observers each observer of the capture becomes.
    package var clones: Int
    /// Who heard what a Bluetooth capture holds; nil for the file's name.
    package var observer: ObserverID?
    /// How the summary is written.
    package var format: Format

    /// Makes options with the defaults of the command.
    package init(
      capture: String,
      pace: ReplayPace = .captured(speed: 1),
      loops: Int = 1,
      clones: Int = 1,
      observer: ObserverID? = nil,
      format: Format = .table
    ) {
      self.capture = capture
      self.pace = pace
      self.loops = loops
      self.clones = clones
      self.observer = observer
      self.format = format
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Sends the capture and ends with a summary.
  ///
  /// - Returns: 0; 1 if the capture is damaged or nothing could be sent.
  package func run(
    sender: some ReplaySender,
    clock: any PacingClock,
    console: Console
  ) -> CommandStatus {
    console.run {
      guard options.capture != "-" || options.loops == 1 else {
        throw CommandFailure("standard input can be played once: leave --loop out.", status: .usage)
      }
      var player = ReplayPlayer(
        sender: sender,
        clock: clock,
        pace: options.pace,
        clones: options.clones
      )
      let damage = try play(on: &player, console: console)
      player.finish()
      let summary = player.summary
      for line in summary.lines(in: options.format, clones: options.clones) { try console.print(line) }
      try console.output.flush()
      if let damage { throw CommandFailure("\(options.capture): \(damage)") }
      guard summary.sent > 0 else {
        throw CommandFailure(
          summary.lastError ?? "\(options.capture) holds nothing that can be sent. `pharos inspect` shows it."
        )
      }
      return .success
    }
  }

  /// Sends the capture over UDP at the machine's own pace.
  ///
  /// - Returns: 0; 1 if the address is none, the capture is damaged or nothing could be sent.
  package func run(to destination: HostPort, console: Console) -> CommandStatus {
    console.run {
      let endpoint = try destination.endpoint()
      do {
        let sender = try SocketSender(to: endpoint)
        return run(sender: sender, clock: SystemPacingClock(), console: console)
      } catch {
        throw CommandFailure("\(destination): \(error)")
      }
    }
  }

  /// Plays all loops; gives what is wrong with the capture, if anything is.
  private func play<Sender: ReplaySender>(
    on player: inout ReplayPlayer<Sender>,
    console: Console
  ) throws -> String? {
    var shift = TimeSpan.zero
    for loop in 0..<options.loops where !player.isInterrupted {
      let pass = try pass(loop, shift: shift, on: &player, console: console)
      if !player.isInterrupted { player.endLoop() }
      if let damage = pass.damage { return damage }
      shift = shift + pass.period
    }
    return nil
  }

  /// How one loop went: how long after its start the next one begins, and what is wrong with the capture.
  private struct Pass {
    var period: TimeSpan
    var damage: String?
  }

  private func pass<Sender: ReplaySender>(
    _ loop: Int,
    shift: TimeSpan,
    on player: inout ReplayPlayer<Sender>,
    console: Console
  ) throws -> Pass {
    var chunks: FileChunks
    do {
      chunks = try FileChunks(path: options.capture)
    } catch {
      throw CommandFailure("\(error)")
    }
    var reader = CaptureReader()
    var source = ReplaySource(observer: options.observer ?? ObserverID.ofCapture(at: options.capture))
    var count = 0
    var end = TimeSpan.zero
    var damage: String?
    let label = options.loops == 1 ? options.capture : "\(options.capture), loop \(loop + 1)"
    var bar = ProgressBar(label, on: console)
    var position = ReplayPosition()
    do {
      while !player.isInterrupted, let chunk = try chunks.next() {
        position.enter(chunk: chunk.count, of: chunks.progress, at: reader.offset)
        reader.append(chunk)
        while !player.isInterrupted, let packet = try reader.nextPacket() {
          source.forEachDatagram(in: packet) { offset, payload in
            count += 1
            end = offset
            player.play(payload, at: offset, loop: loop, shift: shift)
          }
          bar.show(position.read(at: reader.offset), of: position.total)
        }
      }
      if !player.isInterrupted { try reader.finish() }
    } catch {
      damage = "\(error)"
    }
    bar.clear()
    return Pass(period: ReplayRunner.period(end: end, count: count), damage: damage)
  }

  /// The capture's length and one mean gap, so that the last and the first datagram do not fall together.
  static func period(end: TimeSpan, count: Int) -> TimeSpan {
    guard count > 1 else { return .seconds(1) }
    return end + max(.milliseconds(1), end * (1 / Double(count - 1)))
  }
}
