import PharosIngest
import Testing

/// Drawn: a digit is a tick that brought so many datagrams (9 stands for a hundred), `!` a lack of room; below it
/// `T` where the loop begins to tick, `R` where NIO waits again.
@Suite("How a listener learns that there is something to read")
struct ReadingModeTests {
  /// What ends the ticking: many quiet ticks in a row.
  static let lull = String(repeating: "0", count: ReadingMode.patience - 1)
  /// Nothing changes for as long.
  static let still = String(repeating: "-", count: ReadingMode.patience - 1)

  /// Ticks, what changes at each, and what that shows.
  static let drawings: [(ticks: String, changes: String, why: Comment)] = [
    ("0012300", "-------", "little traffic leaves it to NIO"),
    ("0090000", "--T----", "much traffic begins the ticking"),
    ("9\(lull)00", "T\(still)R-", "and many quiet ticks end it"),
    ("9\(lull)900", "T\(still)---", "a busy tick before the last one restarts the count"),
    ("9444\(lull)", "T---\(still)", "moderate traffic keeps it ticking"),
    ("!00", "T--", "without room the socket waits for a tick"),
    ("9!!", "T--", "and goes on waiting"),
  ]

  @Test("follows the traffic", arguments: drawings)
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
