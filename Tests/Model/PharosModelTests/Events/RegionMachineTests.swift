import PharosDocuments
import PharosModel
import Testing

@Suite("The machine of a region")
struct RegionMachineTests {
  private static let states: [RegionState] = [.unknown, .inside, .outside, .unmonitored]
  private static let hall = BeaconConstraint.proximity(UUID128(high: 0, low: 1))
  private static func time(_ second: Int64) -> Timestamp { Timestamp(seconds: second) }

  /// Runs wanted states, `?`, `i`, `o` and `u`, one a second from second 1, and pictures the kinds: `E`, `X`, `U`, `s`
  /// for a state alone, and `-` for no change.
  private static func picture(
    _ wanted: String,
    for region: Region = Region(identifier: "hall", constraint: hall)
  )
    -> String
  {
    var machine = RegionMachine(assuming: .unknown, since: .distantPast)
    return String(
      wanted.enumerated().map { second, character -> Character in
        let next: RegionState =
          character == "i"
          ? .inside : character == "o" ? .outside : character == "u" ? .unmonitored : .unknown
        guard let change = machine.change(to: next, at: time(Int64(second) + 1)) else { return "-" }
        switch change.announcement(for: region) {
        case .regionEnter: return "E"
        case .regionExit: return "X"
        case .regionUnmonitored: return "U"
        default: return "s"
        }
      }
    )
  }

  @Test(
    "only a real difference from the last known state is an enter or an exit",
    arguments: [
      ("iioo", "E-X-"), ("oiuiuo", "sEUsUX"), ("ouo", "sUs"), ("uio", "UEX"), ("ouiuu", "sUEU-"),
      ("?o?i", "-ssE"),
      ("iu?i", "EUsE"),
    ]
  )
  func pictures(wanted: String, expected: String) {
    #expect(Self.picture(wanted) == expected)
  }

  @Test("a region that wants neither enter nor exit has states alone, and outages")
  func flags() {
    let region = Region(identifier: "hall", constraint: Self.hall, notifyOnEntry: false, notifyOnExit: false)
    #expect(Self.picture("iouiuo", for: region) == "ssUsUs")
  }

  @Test("the times of a region never go back, whatever the change")
  func times() {
    for first in Self.states.dropFirst() {
      for second in Self.states where second != first {
        var machine = RegionMachine(assuming: .unknown, since: .distantPast)
        #expect(machine.change(to: first, at: Self.time(20))?.time == Self.time(20))
        #expect(machine.change(to: second, at: Self.time(10))?.time == Self.time(20), "\(first) to \(second)")
        if second == .inside { #expect(machine.enteredAt == Self.time(20)) }
      }
    }
  }

  @Test("a change that ends, interrupts or continues a visit states its beginning; an enter does not")
  func beginnings() {
    var machine = RegionMachine(assuming: .unknown, since: .distantPast)
    #expect(machine.change(to: .inside, at: Self.time(1))?.enteredAt == nil)
    #expect(machine.change(to: .unmonitored, at: Self.time(2))?.enteredAt == Self.time(1))
    #expect(machine.change(to: .inside, at: Self.time(3))?.enteredAt == Self.time(1))
    #expect(machine.change(to: .outside, at: Self.time(4))?.enteredAt == Self.time(1))
    #expect(machine.enteredAt == nil)
    #expect(machine.change(to: .unmonitored, at: Self.time(5))?.enteredAt == nil)
  }

  @Test("a visit that was assumed began with monitoring, and is not left before")
  func assumed() {
    var machine = RegionMachine(assuming: .inside, since: Self.time(5))
    let change = machine.change(to: .outside, at: Self.time(3))
    #expect(change?.time == Self.time(5))
    #expect(change?.enteredAt == Self.time(5))
  }

  @Test("a follower of the changes has the machine's state, also if some are missing or repeated")
  func follows() {
    for number in 0..<1_024 {
      var machine = RegionMachine(assuming: .unknown, since: .distantPast)
      var follower = machine
      var missing = machine
      for step in 0..<5 {
        let next = Self.states[number >> (2 * step) & 3]
        guard let change = machine.change(to: next, at: Self.time(Int64(step))) else { continue }
        let transition = RegionTransition(change, evidence: Evidence(rule: .samples))
        follower.follow(transition, at: change.time)
        #expect(follower == machine)
        follower.follow(transition, at: change.time)
        #expect(follower == machine, "a change that comes twice changes nothing")
        if step % 2 == 1 || change.to == .unmonitored { missing.follow(transition, at: change.time) }
        if step % 2 == 1 { #expect(missing.state == machine.state) }
      }
    }
  }

  @Test("a machine survives as bytes")
  func bytes() throws {
    for number in 0..<256 {
      var machine = RegionMachine(assuming: Self.states[number & 3], lastKnown: .inside, since: Self.time(5))
      for step in 1..<4 {
        _ = machine.change(to: Self.states[number >> (2 * step) & 3], at: Self.time(Int64(step) + 5))
      }
      var writer = FieldWriter()
      writer.write(machine)
      var reader = FieldReader(writer.bytes[...])
      #expect(try RegionMachine(from: &reader) == machine)
      try reader.finish()
    }
  }

  @Test("a visit that was going on when monitoring began has no beginning until the region is found inside")
  func unknownBeginning() {
    var machine = RegionMachine(assuming: .unmonitored, lastKnown: .inside, since: Self.time(5))
    #expect(machine.state == .unmonitored)
    #expect(machine.lastKnown == .inside)
    #expect(machine.enteredAt == nil)
    let change = machine.change(to: .inside, at: Self.time(8))
    #expect(change?.announcement == nil)
    #expect(machine.enteredAt == Self.time(8))
  }
}
