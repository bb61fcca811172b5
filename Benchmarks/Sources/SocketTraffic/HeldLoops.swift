import CSocketMeter
import Dispatch

/// What a ``HeldClock`` knows of the loops that call it: who they are, what they have done, and whether they are done.
///
/// A loop is done when no socket holds anything, it has slept, and four further readings of its clock brought no work: two ticks.
/// Its work ends before that sleep, or at the last reading behind which it worked more than a tick of nothing costs.
struct HeldLoops {
  /// What an idle tick takes at most of a thread: 5 to 10 µs were measured, and 40 where others throw out its caches.
  ///
  /// - Units: nanoseconds.
  private static let idleTick: Int64 = 100_000
  /// How long a thread must have been off its core to count as sleeping.
  ///
  /// - Units: nanoseconds.
  private static let sleep: Int64 = 100_000
  /// How long a loop may work without being looked at closely.
  ///
  /// - Units: nanoseconds.
  private static let glance: Int64 = 200_000
  /// How many readings without work end it.
  private static let patience = 4
  /// How many readings behind the last datagram end it in any case: where a machine is so busy with other things that an idle
  /// tick takes long, some fifty ticks are charged as work.
  private static let maximumPatience = 100

  /// One loop.
  private struct Loop {
    let thread: UInt64
    let clock: Int32
    let door = DispatchSemaphore(value: 0)
    var calls = 0
    var startWall: Int64 = 0
    var startThread: Int64 = 0
    /// The last reading, and the last close look.
    var lastCall: Int64 = 0
    var lastWall: Int64?
    var lastThread: Int64 = 0
    /// Where its work ended, as far as one knows.
    var endWall: Int64 = 0
    var endThread: Int64 = 0
    var hasSlept = false
    var quiet = 0
    /// How many close looks have found the sockets empty.
    var empty = 0
    var isHeld = false

    var isDone: Bool { quiet >= HeldLoops.patience || empty >= HeldLoops.maximumPatience }
  }

  private let expected: Int
  private let sockets: [MeterSocket]
  private var loops: [Loop] = []
  /// How many readings of each loop certainly have work behind them.
  private var carefree = 0
  private var isClosing = false
  private var waiter: (@Sendable () -> Void)?

  init(loops: Int, sockets: [MeterSocket]) {
    expected = loops
    self.sockets = sockets
  }

  /// Whether every loop waits.
  var isHeld: Bool { loops.count == expected && loops.allSatisfy(\.isHeld) }
  /// When time stopped.
  var heldSince: Int64 { loops.map(\.lastCall).max() ?? meter_now() }
  /// Where the loops wait.
  var doors: [DispatchSemaphore] { loops.map(\.door) }
  /// The clocks of the loops' threads.
  var clocks: [Int32] { loops.map(\.clock) }

  /// What each loop has done since it was let go.
  var work: [HeldClock.Work] {
    let start = loops.map(\.startWall).min() ?? 0
    return loops.map { HeldClock.Work(thread: $0.endThread - $0.startThread, wall: $0.endWall - start) }
  }

  /// Begins to watch for the end of the work.
  ///
  /// - Parameter datagrams: how many the sockets hold: so many less a tenth are taken before one looks closely.
  mutating func begin(datagrams: Int) {
    isClosing = false
    carefree = datagrams / 64 / expected * 9 / 10
    for index in loops.indices {
      loops[index].calls = 0
      loops[index].lastWall = nil
      loops[index].hasSlept = false
      loops[index].quiet = 0
      loops[index].empty = 0
      loops[index].isHeld = false
    }
  }

  /// Stores the callback for the time when all loops are held; returns false if they already are.
  mutating func wait(_ waiter: @escaping @Sendable () -> Void) -> Bool {
    guard !isHeld else { return false }
    self.waiter = waiter
    return true
  }

  /// Removes and returns the callback, once all loops are held.
  mutating func removeWaiter() -> (@Sendable () -> Void)? {
    guard isHeld else { return nil }
    defer { waiter = nil }
    return waiter
  }

  /// A loop reads its clock: gives the door that it waits at if there is nothing left to do.
  mutating func call(pinning core: Int32?) -> DispatchSemaphore? {
    guard let index = index(pinning: core) else { return nil }
    let now = meter_now()
    let gap = now - loops[index].lastCall
    loops[index].calls += 1
    loops[index].lastCall = now
    if !isClosing {
      guard loops[index].calls > carefree || gap > HeldLoops.glance else { return nil }
      look(at: index, now)
      isClosing = loops.count == expected && loops.allSatisfy(\.isDone)
    }
    guard isClosing else { return nil }
    loops[index].isHeld = true
    return loops[index].door
  }

  /// A loop that waited goes on.
  mutating func go() {
    guard let index = index(pinning: nil) else { return }
    loops[index].startWall = meter_now()
    loops[index].lastCall = loops[index].startWall
    loops[index].startThread = meter_thread_nanoseconds()
    loops[index].endWall = loops[index].startWall
    loops[index].endThread = loops[index].startThread
  }

  private mutating func look(at index: Int, _ now: Int64) {
    let thread = meter_thread_nanoseconds()
    let worked = thread - loops[index].lastThread
    let before = loops[index].lastWall
    loops[index].lastWall = now
    loops[index].lastThread = thread
    let isFirst = before == nil
    let passed = now - (before ?? now)
    let isEmpty = sockets.allSatisfy(\.isEmpty)
    loops[index].empty = isEmpty ? loops[index].empty + 1 : 0
    let isBusy = isFirst || !isEmpty || worked > HeldLoops.idleTick
    if isBusy || !loops[index].hasSlept {
      loops[index].endThread = thread
      loops[index].endWall = isFirst ? now : min(now, now - passed + worked)
    }
    if isBusy {
      loops[index].hasSlept = false
      loops[index].quiet = 0
    }
    if passed - worked > HeldLoops.sleep { loops[index].hasSlept = true }
    if loops[index].hasSlept, !isBusy { loops[index].quiet += 1 }
  }

  /// Finds the calling loop, which is entered if there is room: the first that call are the loops.
  private mutating func index(pinning core: Int32?) -> Int? {
    let thread = meter_thread()
    if let index = loops.firstIndex(where: { $0.thread == thread }) { return index }
    guard loops.count < expected else { return nil }
    if let core { meter_pin(core) }
    loops.append(Loop(thread: thread, clock: meter_thread_clock()))
    return loops.count - 1
  }
}
