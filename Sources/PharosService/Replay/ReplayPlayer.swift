package import PharosIngest
import PharosReports

/// What a replay sends with: a socket, or an array in a test.
package protocol ReplaySender {
  /// Sends datagrams that lie one behind the other in some bytes and says how many were taken.
  func send(_ bytes: [UInt8], ranges: ArraySlice<Range<Int>>) throws(SendError) -> Int
  /// Waits a moment for room.
  func waitUntilWritable()
}

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
  /// How far behind its times a replay must be for it to gather a batch rather than send at once.
  private static var backlog: TimeSpan { .milliseconds(1) }

  init(sender: Sender, clock: any PacingClock, pace: ReplayPace, clones: Int) {
    self.sender = sender
    self.clock = clock
    self.pace = pace
    self.clones = clones
  }

  /// Whether somebody asked to stop.
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
        let taken = try sender.send(queued, ranges: rest)
        summary.sent += taken
        summary.bytes += rest.prefix(taken).reduce(0) { $0 + $1.count }
        rest = rest.dropFirst(taken)
        if taken == 0 { sender.waitUntilWritable() }
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
