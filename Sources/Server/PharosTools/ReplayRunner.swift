import CPharos
import Glibc
import PharosCaptures
import PharosDocuments
import PharosFiles
import PharosIngest
import PharosLab
package import PharosModel
import PharosService
package import PharosTerminal
import PharosWire

/// `pharos replay`: sends a capture again, to a server under test.
package struct ReplayRunner: Sendable {
  /// The format of a summary.
  package enum Format: String, CaseIterable, Sendable {
    /// Lines for people.
    case table
    /// One JSON object.
    case jsonl
  }

  /// The options of `pharos replay`.
  package struct Options: Sendable {
    /// The capture.
    package var capture: String
    /// The pace of the replay.
    package var pace: ReplayPace
    /// The number of times that the capture is played, one after the other.
    package var loops = 1
    /// The number of observers that each observer of the capture becomes.
    package var clones = 1
    /// The observer that heard a Bluetooth capture; nil for one named after the file.
    package var observer: ObserverID?
    /// The format of the summary.
    package var format: Format = .table

    /// Makes options with the defaults of the command for all else.
    package init(capture: String, pace: ReplayPace = .captured(speed: 1)) {
      (self.capture, self.pace) = (capture, pace)
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
      sayDuration(on: console)
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
        let sender = try DatagramSender(to: endpoint, sendBuffer: DatagramSender.batchBuffer)
        return run(sender: sender, clock: SystemPacingClock(), console: console)
      } catch {
        throw CommandFailure("\(destination): \(error)")
      }
    }
  }

  /// Reports how long a replay at the capture's own pace takes, if that is a minute or more.
  private func sayDuration(on console: Console) {
    guard case .captured(let speed) = options.pace, options.capture != "-", let span = captureSpan() else {
      return
    }
    let duration = span * (Double(options.loops) / speed)
    guard duration >= .minutes(1) else { return }
    console.say(
      "\(options.capture) covers \(span.written). The replay takes \(duration.written); --speed plays it faster."
    )
  }

  /// Returns the time between the first and the last packet of the capture, or nil if it cannot be read.
  private func captureSpan() -> TimeSpan? {
    guard var chunks = try? FileChunks(named: options.capture) else { return nil }
    var reader = CaptureReader()
    var times: (first: Timestamp, last: Timestamp)?
    // What can be read of a damaged capture is played.
    while let chunk = try? chunks.next() {
      reader.append(chunk)
      while let packet = try? reader.nextPacket() {
        guard let time = packet.time else { continue }
        times = (times?.first ?? time, max(times?.last ?? time, time))
      }
    }
    return times.map { $0.last - $0.first }
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

  /// The result of one loop: the time from its start to the start of the next one, and the damage of the capture.
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
    var chunks = try FileChunks(named: options.capture)
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
    if loop == 0, !reader.foreign.isEmpty { console.say("\(options.capture): \(reader.foreign).") }
    return Pass(period: ReplayRunner.period(end: end, count: count), damage: damage)
  }

  /// The capture's length and one mean gap, so that the last and the first datagram do not fall together.
  static func period(end: TimeSpan, count: Int) -> TimeSpan {
    guard count > 1 else { return .seconds(1) }
    return end + max(.milliseconds(1), end * (1 / Double(count - 1)))
  }
}

/// Turns the packets of a capture into the datagrams that a gateway sent, or would have sent.
///
/// UDP datagrams come out as they were captured. Adverts of Bluetooth captures are put into Pharos datagrams of the
/// given observer, the reports of one packet together.
struct ReplaySource {
  private var assembler = DatagramAssembler()
  private var extractor = AdvertExtractor()
  private var encoder: PharosDatagramEncoder
  /// The time of the capture's first packet that brought something.
  private(set) var first: Timestamp?
  /// The latest time so far; packets never go back behind it.
  private(set) var latest: Timestamp?

  /// A number that was never in use before: senders count their starts from 1.
  private static let bootID: UInt32 = 1

  init(observer: ObserverID) {
    encoder = PharosDatagramEncoder(observer: observer, bootID: ReplaySource.bootID)
  }

  /// Hands over each datagram of a packet with the time since the first one.
  mutating func forEachDatagram(
    in packet: Packet,
    _ body: (TimeSpan, ArraySlice<UInt8>) throws -> Void
  ) rethrows {
    if packet.linkType.carriesAdverts {
      for datagram in encoded(packet) { try body(offset(of: packet), datagram[...]) }
    } else if let datagram = assembler.add(packet), !datagram.isSnapped {
      try body(offset(of: packet), datagram.payload)
    }
  }

  private mutating func offset(of packet: Packet) -> TimeSpan {
    let time = max(packet.time ?? latest ?? Timestamp(nanoseconds: 0), latest ?? .distantPast)
    latest = time
    let first = first ?? time
    self.first = first
    return time - first
  }

  private mutating func encoded(_ packet: Packet) -> [[UInt8]] {
    let time = packet.time ?? latest ?? Timestamp(nanoseconds: 0)
    var found = ReportBatch()
    let observer = encoder.observer
    extractor.forEachReport(in: packet) { $0.append(to: &found, observer: observer, received: time) }
    var datagrams: [[UInt8]] = []
    let uptime = time - (first ?? time)
    for report in found.reports where !encoder.append(report, from: found) {
      if !encoder.isEmpty { datagrams.append(encoder.finish(uptime: uptime)) }
      // A payload that no datagram can hold is left out: extended adverts reach 1,650 bytes.
      _ = encoder.append(report, from: found)
    }
    if !encoder.isEmpty { datagrams.append(encoder.finish(uptime: uptime)) }
    return datagrams
  }
}

extension HostPort {
  /// Looks the host up and returns its first address.
  ///
  /// - Throws: `CommandFailure` that names the host and the remedy.
  fileprivate func endpoint() throws(CommandFailure) -> Endpoint {
    var address = pharos_address()
    let count = pharos_look_up(host, port, 0, &address, 1)
    guard count >= 0 else {
      throw CommandFailure(
        "cannot send to \(self): host \"\(host)\": \(Wording.clause(String(cString: gai_strerror(count)))). "
          + "Give an address or a known name."
      )
    }
    guard count > 0 else {
      throw CommandFailure("cannot send to \(self): \"\(host)\" has no IPv4 or IPv6 address.")
    }
    return Endpoint(address)
  }
}

/// The position of a replay in a file, packet by packet, since the contents of a chunk may take minutes to send.
struct ReplayPosition {
  /// The length of the file in bytes, or nil if it is unknown.
  private(set) var total: Int?
  /// The bytes of the file that the chunks before this one took.
  private var before: UInt64 = 0
  /// The bytes of the file that this chunk and those before it took.
  private var behind: UInt64 = 0
  /// The offset in the capture at which this chunk begins; in a compressed capture it is not the offset in the file.
  private var start: UInt64 = 0
  private var length: UInt64 = 1

  /// Starts on a chunk of so many bytes of the capture.
  mutating func enter(chunk count: Int, of progress: FileChunks.Progress, at offset: UInt64) {
    before = behind
    behind = progress.read
    total = progress.total.map { Int(clamping: $0) }
    start = offset
    length = UInt64(max(1, count))
  }

  /// Returns the number of bytes of the file that correspond to an offset in the capture.
  func read(at offset: UInt64) -> Int {
    let share = min(1, Double(offset - min(offset, start)) / Double(length))
    return Int(clamping: before + UInt64(Double(behind - min(before, behind)) * share))
  }
}
