import CSocketMeter
import Dispatch
package import PharosIngest
import PharosModel
import Synchronization

/// The clocks of a server that is measured: they hold its loops while a socket is filled, and leap from one second of
/// traffic to the next.
///
/// A loop reads its clock before each drain, so that a clock which does not return holds it. A saturated loop gets a second's
/// traffic of this site in a few milliseconds: within them time passes as it does, and the next second of traffic begins a
/// second later. So beacons are heard once a second, and whatever the server rations by time it rations as under such load.
package final class HeldClock: Sendable {
  /// What a loop did between being let go and having nothing left to do.
  package struct Work: Sendable {
    /// CPU time of its thread.
    ///
    /// - Units: nanoseconds.
    package var thread: Int64 = 0
    /// From when the first loop went to when it was done.
    ///
    /// - Units: nanoseconds.
    package var wall: Int64 = 0
  }

  /// A leap of the clock between two seconds of traffic.
  package static let second: Int64 = 1_000_000_000

  /// What is added to the system's clock.
  private let offset = Atomic<Int64>(0)
  private let holds = Atomic<Bool>(false)
  private let gate: Mutex<HeldLoops>
  private let core: Int32?

  /// Makes the clocks of a server.
  ///
  /// - Parameters:
  ///   - loops: how many loops it has.
  ///   - sockets: what they read.
  ///   - core: the core that its loop is kept on, or nil for any.
  package init(loops: Int, sockets: [MeterSocket], core: Int32? = nil) {
    gate = Mutex(HeldLoops(loops: loops, sockets: sockets))
    self.core = core
  }

  /// What the server is configured with.
  package var clock: IngestClock {
    IngestClock(
      steady: { TimeSpan(nanoseconds: self.now()) },
      // The first of January 2015, so that it is not mistaken for today.
      wall: { Timestamp(nanoseconds: 1_420_070_400_000_000_000 + self.now()) }
    )
  }

  /// Holds all loops as soon as they have nothing left to do; returns when it does.
  package func hold() async {
    gate.withLock { $0.begin(datagrams: 0) }
    holds.store(true, ordering: .releasing)
    await untilHeld()
  }

  /// Lets the loops take what the sockets hold, a leap later than before, and holds them when they have nothing left to do.
  ///
  /// - Parameters:
  ///   - datagrams: how many the sockets hold.
  ///   - leap: how much later, in nanoseconds.
  /// - Returns: what each loop did.
  package func release(datagrams: Int, leap: Int64) async -> [Work] {
    let doors = gate.withLock { gate in
      offset.add(leap - (meter_now() - gate.heldSince), ordering: .relaxed)
      gate.begin(datagrams: datagrams)
      return gate.doors
    }
    for door in doors { door.signal() }
    await untilHeld()
    return gate.withLock { $0.work }
  }

  /// Lets the loops go until they are held again.
  package func free() {
    guard holds.exchange(false, ordering: .acquiringAndReleasing) else { return }
    let doors = gate.withLock { gate in
      offset.add(gate.heldSince - meter_now(), ordering: .relaxed)
      return gate.doors
    }
    for door in doors { door.signal() }
  }

  /// Leaps while the loops run.
  package func leap(_ nanoseconds: Int64) { offset.add(nanoseconds, ordering: .relaxed) }

  /// CPU time of the loops' threads so far, in nanoseconds, together; of those that have been held once.
  package var threadNanoseconds: Int64 {
    gate.withLock { $0.clocks }.reduce(0) { $0 + meter_clock_nanoseconds($1) }
  }

  private func untilHeld() async {
    await withCheckedContinuation { continuation in
      if !gate.withLock({ $0.wait { continuation.resume() } }) { continuation.resume() }
    }
  }

  private func now() -> Int64 {
    if holds.load(ordering: .acquiring) { pass() }
    return meter_now() + offset.load(ordering: .relaxed)
  }

  /// Waits at the gate if the loop has nothing left to do.
  private func pass() {
    let (door, waiter) = gate.withLock { gate in (gate.call(pinning: core), gate.removeWaiter()) }
    waiter?()
    guard let door else { return }
    door.wait()
    gate.withLock { $0.go() }
  }
}
