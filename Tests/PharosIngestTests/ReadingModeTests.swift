import Testing

@testable import PharosIngest

/// Drawn: a digit is a tick that brought so many datagrams (9 stands for a hundred), `!` a lack of room; below it
/// `T` where the loop begins to tick, `R` where NIO waits again.
@Suite("How a listener learns that there is something to read")
struct ReadingModeTests {
  @Test(
    "follows the traffic",
    arguments: [
      ("0012300", "-------", "little traffic leaves it to NIO"),
      ("0090000", "--T----", "much traffic begins the ticking"),
      ("9000000000000000000000", "T-------------------R-", "and twenty quiet ticks end it"),
      ("9000000000000000000900", "T---------------------", "one busy tick in between begins the count anew"),
      ("9444444444444444444444", "T---------------------", "moderate traffic keeps it ticking"),
      ("!00", "T--", "without room the socket waits for a tick"),
      ("9!!", "T--", "and goes on waiting"),
    ]
  )
  func follows(ticks: String, changes: String, why: Comment) {
    var mode = ReadingMode.readiness
    let drawn = ticks.map { tick -> Character in
      let change =
        tick == "!"
        ? mode.blocked()
        : mode.ticked(
          datagrams: tick == "9" ? 100 : tick.wholeNumberValue ?? 0,
          receiveBuffer: ReadingMode.smallestBuffer
        )
      switch change {
      case .stopWaiting: return "T"
      case .startWaiting: return "R"
      case nil: return "-"
      }
    }
    #expect(String(drawn) == changes, why)
  }

  @Test("never ticks on a receive buffer that a tick could overflow")
  func smallBuffer() {
    var mode = ReadingMode.readiness
    #expect(mode.ticked(datagrams: 1_000, receiveBuffer: ReadingMode.smallestBuffer - 1) == nil)
    #expect(!mode.isTicking)
  }
}
