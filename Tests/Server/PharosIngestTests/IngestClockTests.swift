import CPharos
import PharosIngest
import PharosModel
import Synchronization
import Testing

@Suite("The clock of ingest")
struct IngestClockTests {
  @Test("never gives the same R twice, though the clock stands still")
  func isStrictlyIncreasing() {
    let clock = ManualClock()
    let step = TimeSpan(nanoseconds: 2_048)
    var loop = LoopClock(Timeline(clock.ingest))
    let first = loop.next()
    #expect(loop.next() == first + step)
    clock.pass(.microseconds(2_048))
    #expect(loop.next() == first + .microseconds(2_048))
    clock.pass(.microseconds(-1_024))
    #expect(loop.next() == first + .microseconds(2_048) + step)
  }

  @Test("gives no R to two loops, whatever their readings")
  func isDisjoint() {
    let clock = ManualClock()
    var loops = (0..<16).map { LoopClock(Timeline(clock.ingest), loop: $0) }
    var given: Set<Timestamp> = []
    for round in 0..<100 {
      clock.pass(TimeSpan(nanoseconds: Int64(round) * 37))
      for index in loops.indices {
        let first = loops[index].next()
        for offset in 0..<LoopClock.inputsPerReading {
          #expect(given.insert(first + TimeSpan(nanoseconds: offset)).inserted)
        }
        #expect(given.contains(LoopClock.end(of: first)))
      }
    }
  }

  @Test("maps to the wall clock at start")
  func mapsAtStart() {
    let clock = ManualClock()
    #expect(Timeline(clock.ingest).now() == clock.ingest.wall())
  }

  @Test(
    "stands at its last second where a clock was set beyond it, and goes on for years",
    arguments: [1, -1] as [Int64]
  )
  func lastSecond(sign: Int64) {
    let last = PHAROS_LAST_SECOND * 1_000_000_000
    #expect(pharos_nanoseconds(PHAROS_LAST_SECOND, 7) == last + 7)
    #expect(pharos_nanoseconds(sign * (PHAROS_LAST_SECOND + 1), 7) == sign * last)
    #expect(pharos_nanoseconds(sign > 0 ? .max : .min, 999_999_999) == sign * last)
    let now = Mutex(TimeSpan.zero)
    let clock = IngestClock(
      steady: { now.withLock { $0 } },
      wall: { Timestamp(nanoseconds: sign * last) + now.withLock { $0 } }
    )
    let timeline = Timeline(clock)
    var loop = LoopClock(timeline, loop: 15)
    let first = loop.next()
    let years = TimeSpan.seconds(6 * 365 * 86_400)
    now.withLock { $0 = years }
    #expect(loop.next() - first == years)
    var watch = ClockWatch(clock, eventOffset: .zero)
    #expect(watch.look() != nil)
  }

  @Test("goes on behind the run before, though the wall clock was set back meanwhile")
  func neverGoesBack() {
    let clock = ManualClock()
    let last = clock.ingest.wall() + .seconds(3_600)
    let timeline = Timeline(clock.ingest, behind: last)
    #expect(timeline.now() > last)
    #expect(LoopClock.before(timeline) > last)
    var loop = LoopClock(timeline)
    #expect(loop.next() > LoopClock.before(timeline))
    // What events tell is put right by a step of as much.
    var watch = ClockWatch(clock.ingest, eventOffset: timeline.eventOffset)
    #expect(watch.look() == clock.ingest.wall() - timeline.now())
    #expect(watch.look() == nil)
  }

  @Test("keeps the distance to the wall clock that the run before had come to")
  func keepsTheCorrection() {
    let clock = ManualClock()
    let last = clock.ingest.wall() - .seconds(7_200)
    let timeline = Timeline(clock.ingest, behind: last, correction: .seconds(3_600))
    #expect(timeline.now() == clock.ingest.wall() - .seconds(3_600))
    var watch = ClockWatch(clock.ingest, eventOffset: timeline.eventOffset)
    #expect(watch.look() == nil)
  }

  @Test(
    "tells steps of the wall clock from the passing of time",
    arguments: [
      (0, false), (49, false), (-49, false), (50, true), (-50, true), (3_600_000, true), (-3_600_000, true),
    ]
  )
  func noticesSteps(milliseconds: Int64, isStep: Bool) {
    let clock = ManualClock()
    var watch = ClockWatch(clock.ingest)
    clock.pass(.seconds(10))
    #expect(watch.look() == nil)
    clock.setWall(by: .milliseconds(milliseconds))
    #expect(watch.look() == (isStep ? .milliseconds(milliseconds) : nil))
    #expect(watch.look() == nil)
  }

  @Test("takes the quickest of several readings, since a thread may lose the processor between two clocks")
  func survivesPreemption() {
    let clock = ManualClock()
    let calls = Mutex(0)
    let slow = IngestClock(
      steady: {
        let call = calls.withLock { count in
          count += 1
          return count
        }
        // The second reading of each of the first four pairs comes 200 ms late.
        if call % 2 == 0, call < 9 { clock.pass(.milliseconds(200)) }
        return clock.ingest.steady()
      },
      wall: clock.ingest.wall
    )
    #expect(ClockWatch.offset(of: slow) == ClockWatch.offset(of: clock.ingest))
  }

  @Test("reads a machine's clocks that agree with each other")
  func readsTheMachine() {
    let first = IngestClock.system.steady()
    #expect(IngestClock.system.steady() >= first)
    #expect(IngestClock.system.wall() > Timestamp(seconds: 1_700_000_000))
  }
}
