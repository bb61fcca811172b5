import PharosGateway
import PharosModel
import Testing

@Suite("When a packet was heard")
struct HearingClockTests {
  private func reading(now: Int64, wall: Int64) -> HearingClock.Reading {
    HearingClock.Reading(now: .at(now), wall: .at(1_700_000_000_000 + wall))
  }

  private func packet(_ wall: Int64) -> Timestamp { .at(1_700_000_000_000 + wall) }

  @Test("a live packet is as old as the wall clock says")
  func live() {
    var clock = HearingClock()
    clock.look(reading(now: 100, wall: 100))
    #expect(clock.heard(packet(80)) == .at(80))
    #expect(clock.isLive == true)
    // The gateway was stopped for a minute: what lay in the pipe is a minute old.
    clock.look(reading(now: 60_100, wall: 60_100))
    #expect(clock.heard(packet(150)) == .at(150))
  }

  @Test("a capture of earlier times is heard when it is read")
  func replayed() {
    var clock = HearingClock()
    clock.look(reading(now: 100, wall: 100))
    #expect(clock.heard(packet(-3_600_000)) == .at(100))
    #expect(clock.isLive == false)
  }

  @Test(
    "where the wall clock was set, packets of that moment are heard now",
    arguments: [-7_000, 5_000, 3_600_000]
  )
  func stepped(by step: Int64) {
    var clock = HearingClock()
    clock.look(reading(now: 100, wall: 100))
    #expect(clock.heard(packet(90)) == .at(90))
    clock.look(reading(now: 200, wall: 200 + step))
    #expect(clock.heard(packet(150)) == .at(200))
    #expect(clock.heard(packet(199 + step)) == .at(200))
    clock.look(reading(now: 300, wall: 300 + step))
    #expect(clock.heard(packet(260 + step)) == .at(260))
  }

  @Test("a clock that is slewed is not one that was set")
  func slewed() {
    var clock = HearingClock()
    clock.look(reading(now: 0, wall: 0))
    #expect(clock.heard(packet(0)) == .at(0))
    clock.look(reading(now: 1_000_000, wall: 1_000_500))
    #expect(clock.heard(packet(1_000_480)) == .at(999_980))
  }

  @Test("a packet from the future, or without a time, is heard now")
  func future() {
    var clock = HearingClock()
    clock.look(reading(now: 100, wall: 100))
    #expect(clock.heard(packet(120)) == .at(100))
    #expect(clock.heard(nil) == .at(100))
  }
}
