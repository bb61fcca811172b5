import CPharos
import Glibc
import PharosDocuments
package import PharosIngest
package import PharosLab
package import PharosModel
import PharosService
import PharosSite
import PharosTerminal
import Synchronization

/// The output of a replay: a socket, or an array in a test.
package protocol ReplaySender {
  /// Sends datagrams that lie one behind the other in some bytes, and returns the number that were taken.
  func send(_ bytes: [UInt8], ranges: ArraySlice<Range<Int>>) throws(SendError) -> Int
  /// Waits a moment for room.
  func waitUntilWritable()
}

extension DatagramSender: ReplaySender {}

/// Sends what a replay plays, each datagram when it is due.
///
/// Deadlines are absolute, so that no lateness adds up. Datagrams that are due together go to the system in one
/// call, and so does a backlog.
struct ReplayPlayer<Sender: ReplaySender> {
  private let sender: Sender
  private let clock: any PacingClock
  private let pace: ReplayPace
  private let clones: Int
  private var multiplier = DatagramMultiplier()
  private var started: TimeSpan?
  private var queued: [UInt8] = []
  private var ranges: [Range<Int>] = []
  private var deadlines: [TimeSpan] = []
  private var count = 0
  private(set) var summary = ReplaySummary()

  /// The most datagrams handed over in one call: enough for trains of 64 of one length to form among several senders', few
  /// enough that they fit the socket's buffer.
  private static var largestBatch: Int { 512 }
  /// The minimum delay behind its deadlines at which a replay gathers a batch rather than sends at once.
  private static var backlog: TimeSpan { .milliseconds(1) }

  init(sender: Sender, clock: any PacingClock, pace: ReplayPace, clones: Int) {
    self.sender = sender
    self.clock = clock
    self.pace = pace
    self.clones = clones
  }

  /// Indicates whether the user asked to stop.
  var isInterrupted: Bool { clock.isInterrupted }

  /// Sends a datagram and its copies at their time.
  mutating func play(_ payload: ArraySlice<UInt8>, at offset: TimeSpan, loop: Int, shift: TimeSpan) {
    let start = started ?? clock.now()
    started = start
    for clone in 0..<clones {
      let variant = DatagramVariant(clone: clone, loop: loop, shift: shift)
      var datagram = payload
      if clone > 0 || loop > 0 {
        guard let made = multiplier.variant(variant, of: Array(payload)) else {
          summary.notCloned += 1
          continue
        }
        datagram = made[...]
      }
      if let due = pace.due(number: count, offset: offset + shift) {
        let deadline = start + due
        if deadline > clock.now() {
          flush()
          clock.wait(until: deadline)
          guard !clock.isInterrupted else { return }
        }
        deadlines.append(deadline)
      }
      count += 1
      queued.append(contentsOf: datagram)
      ranges.append(queued.count - datagram.count..<queued.count)
      if ranges.count == ReplayPlayer.largestBatch { flush() }
    }
    if let last = deadlines.last, clock.now() - last < ReplayPlayer.backlog { flush() }
  }

  /// Sends what is queued and ends the summary.
  mutating func finish() {
    flush()
    summary.isInterrupted = clock.isInterrupted
    summary.elapsed = clock.now() - (started ?? clock.now())
  }

  /// Notes that one loop was played to its end.
  mutating func endLoop() { summary.loops += 1 }

  private mutating func flush() {
    guard !ranges.isEmpty else { return }
    let now = clock.now()
    for deadline in deadlines { summary.lateness.record(now - deadline) }
    var rest = ranges[...]
    while !rest.isEmpty {
      do throws(SendError) {
        let accepted = try sender.send(queued, ranges: rest)
        summary.sent += accepted
        summary.bytes += rest.prefix(accepted).reduce(0) { $0 + $1.count }
        rest = rest.dropFirst(accepted)
        if accepted == 0 { sender.waitUntilWritable() }
      } catch {
        // The error belongs to the first one, or to an earlier datagram that a machine refused: on with the rest.
        summary.errors += 1
        summary.lastError = error.description
        rest = rest.dropFirst()
      }
      guard !clock.isInterrupted else { break }
    }
    queued.removeAll(keepingCapacity: true)
    ranges.removeAll(keepingCapacity: true)
    deadlines.removeAll(keepingCapacity: true)
  }
}

/// The pace of a replay: the time at which each datagram is due.
package enum ReplayPace: Hashable, Sendable {
  /// As in the capture, faster or slower by a factor.
  case captured(speed: Double)
  /// So many datagrams a second, whatever the capture's times.
  case rate(Double)
  /// As fast as the system takes them.
  case unlimited

  /// Returns the time at which a datagram is due, counted from the start; nil if at once.
  ///
  /// - Parameters:
  ///   - number: the number of datagrams sent before it.
  ///   - offset: the time from the first packet of the capture to the datagram, loops included.
  /// - Returns: the time.
  func due(number: Int, offset: TimeSpan) -> TimeSpan? {
    switch self {
    case .captured(let speed): offset * (1 / speed)
    case .rate(let rate): .seconds(Double(number) / rate)
    case .unlimited: nil
    }
  }
}

/// The result of a replay.
package struct ReplaySummary: Sendable {
  /// Datagrams that the system took.
  package var sent = 0
  /// Their bytes.
  package var bytes = 0
  /// Datagrams that it refused.
  package var errors = 0
  /// The last error that the system reported.
  package var lastError: String?
  /// Datagrams of which no copy for another observer could be made.
  package var notCloned = 0
  /// The duration of sending.
  package var elapsed = TimeSpan.zero
  /// The number of loops that were played to their end.
  package var loops = 0
  /// Indicates whether the user stopped the replay.
  package var isInterrupted = false
  /// The delays with which datagrams were handed to the system.
  package var lateness = LatenessHistogram()

  /// Starts with nothing sent.
  package init() {}
}

/// A clock that paces a replay: a parameter, so that tests play an hour in no time.
package protocol PacingClock: Sendable {
  /// The time since some fixed point.
  func now() -> TimeSpan
  /// Waits until a time; returns early if the user asked to stop.
  func wait(until deadline: TimeSpan)
  /// Indicates whether the user asked to stop.
  var isInterrupted: Bool { get }
}

/// The machine's monotonic clock; Ctrl-C asks to stop.
package struct SystemPacingClock: PacingClock {
  private static let interrupted = Atomic<Bool>(false)

  /// Reads the machine's clock; from now on SIGINT asks to stop instead of ending the process.
  package init() {
    // Relaxed: nothing else is handed over with the flag.
    signal(SIGINT) { _ in SystemPacingClock.interrupted.store(true, ordering: .relaxed) }
  }

  /// The time since the machine started.
  package func now() -> TimeSpan { TimeSpan(nanoseconds: pharos_clock_monotonic()) }

  /// Sleeps until a time, woken early by a signal only.
  package func wait(until deadline: TimeSpan) {
    while !isInterrupted {
      let rest = (deadline - now()).nanoseconds
      guard rest > 0 else { return }
      pharos_wait(rest)
    }
  }

  /// Indicates whether SIGINT came.
  package var isInterrupted: Bool { SystemPacingClock.interrupted.load(ordering: .relaxed) }
}

extension ReplaySummary {
  /// The summary as lines for people, or as one JSON object.
  func lines(in format: ReplayRunner.Format, clones: Int) -> [String] {
    switch format {
    case .jsonl: [json(clones: clones)]
    case .table: table(clones: clones)
    }
  }

  private func table(clones: Int) -> [String] {
    var lines = [
      row("sent", "\(sent) datagrams, \(bytes) bytes in \(elapsed.rounded.written)\(rate)"),
      row("loops", "\(loops)\(isInterrupted ? ", then interrupted" : "")"),
    ]
    if clones > 1 { lines.append(row("copies", "\(clones) of each observer")) }
    if notCloned > 0 { lines.append(row("not copied", "\(notCloned) that do not decode")) }
    lines.append(row("errors", errors == 0 ? "0" : "\(errors), the last: \(lastError ?? "")"))
    guard lateness.count > 0 else { return lines }
    let percentiles = ReplaySummary.percentiles.map { label, percent in
      "\(label) \(lateness.percentile(percent).written)"
    }
    lines.append(row("lateness", percentiles.joined(separator: ", ")))
    return lines.map { PlainText.cut($0, to: TextTable.widest) }
  }

  private var rate: String {
    guard elapsed.seconds > 0.001 else { return "" }
    return ", \(Int((Double(sent) / elapsed.seconds).rounded())) a second"
  }

  private func row(_ name: String, _ value: String) -> String { name.padded(to: 11) + value }

  /// The percentiles of the lateness that a summary shows.
  private static let percentiles: KeyValuePairs<StaticString, Double> = [
    "p50": 50, "p90": 90, "p99": 99, "p99.9": 99.9, "max": 100,
  ]

  private func json(clones: Int) -> String {
    JSONText.object { json in
      json.member("sent", sent)
      json.member("bytes", bytes)
      json.member("errors", errors)
      json.member("lastError", ifPresent: lastError)
      json.member("notCloned", notCloned)
      json.member("clones", clones)
      json.member("loops", loops)
      json.member("interrupted", isInterrupted)
      json.member("seconds", elapsed.seconds, decimals: 6)
      if lateness.count > 0 {
        json.openObject("latenessMilliseconds")
        for (label, percent) in ReplaySummary.percentiles {
          json.member(label, lateness.percentile(percent).milliseconds, decimals: 3)
        }
        json.closeObject()
      }
    }
  }
}

extension TimeSpan {
  /// To the millisecond, for people.
  fileprivate var rounded: TimeSpan { .milliseconds(Int64(milliseconds.rounded())) }
}
