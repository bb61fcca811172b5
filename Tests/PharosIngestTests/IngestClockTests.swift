import PharosReports
import Synchronization
import Testing

@testable import PharosIngest

@Suite("The clock of ingest")
struct IngestClockTests {
  @Test("never gives the same R twice, though the clock stands still")
  func isStrictlyIncreasing() {
    let clock = ManualClock()
    var loop = LoopClock(Timeline(clock.ingest))
    let first = loop.next()
    #expect(loop.next() == first + TimeSpan(nanoseconds: 1))
    clock.pass(.milliseconds(3))
    #expect(loop.next() == first + .milliseconds(3))
    clock.pass(.milliseconds(-2))
    #expect(loop.next() == first + .milliseconds(3) + TimeSpan(nanoseconds: 1))
  }

  @Test("maps to the wall clock at start")
  func mapsAtStart() {
    let clock = ManualClock()
    #expect(Timeline(clock.ingest).now() == clock.ingest.wall())
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

  @Test("moves its mapping forward only")
  func advances() {
    let clock = ManualClock()
    let timeline = Timeline(clock.ingest)
    let start = timeline.now()
    timeline.advance(by: .seconds(-5))
    #expect(timeline.now() == start)
    timeline.advance(by: .seconds(5))
    #expect(timeline.now() == start + .seconds(5))
  }

  @Test("reads a machine's clocks that agree with each other")
  func readsTheMachine() {
    let first = IngestClock.system.steady()
    #expect(IngestClock.system.steady() >= first)
    #expect(IngestClock.system.wall() > Timestamp(seconds: 1_700_000_000))
  }
}
