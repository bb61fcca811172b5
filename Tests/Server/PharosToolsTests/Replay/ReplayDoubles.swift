import PharosIngest
import PharosModel
import PharosTools
import Synchronization

/// A clock on which an hour passes in no time: waiting moves it.
final class VirtualClock: PacingClock {
  private struct State {
    var now = TimeSpan.seconds(1_000)
    var oversleep: TimeSpan
    var interruptAt: TimeSpan
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - oversleep: by how much each wait takes too long.
  ///   - interruptAfter: the time of the request to stop.
  init(oversleep: TimeSpan = .zero, interruptAfter: TimeSpan = .forever) {
    state = Mutex(State(oversleep: oversleep, interruptAt: .seconds(1_000) + interruptAfter))
  }

  func now() -> TimeSpan { state.withLock { $0.now } }

  func wait(until deadline: TimeSpan) {
    state.withLock { $0.now = min(max($0.now, deadline + $0.oversleep), $0.interruptAt) }
  }

  var isInterrupted: Bool { state.withLock { $0.now >= $0.interruptAt } }
}

/// Keeps what is sent, with the time on a clock.
final class RecordingSender: ReplaySender {
  private let clock: VirtualClock
  private(set) var sent: [(at: TimeSpan, payload: [UInt8])] = []
  private(set) var calls = 0
  /// What the system refuses: every so many-th call.
  var refuseEvery = Int.max
  /// How many datagrams the system takes in one call.
  var room = Int.max

  init(clock: VirtualClock) { self.clock = clock }

  func send(_ bytes: [UInt8], ranges: ArraySlice<Range<Int>>) throws(SendError) -> Int {
    calls += 1
    guard calls % refuseEvery != 0 else { throw SendError(errno: 111) }
    for range in ranges.prefix(room) {
      sent.append((clock.now() - .seconds(1_000), Array(bytes[range])))
    }
    return min(room, ranges.count)
  }

  func waitUntilWritable() {}
}
