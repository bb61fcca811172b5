import PharosHTTP
import Synchronization
import Testing

/// What a connection waits for, without a connection.
@Suite("Waiting of a connection")
struct ConnectionStateTests {
  /// What happens, one letter each: a head `h`, a body's part `b`, its end `e`, an answer's head `A`, its end `E`.
  private func played(_ script: String) -> ConnectionState {
    var state = ConnectionState()
    for step in script {
      switch step {
      case "h": state.head()
      case "b": state.body(10)
      case "e": state.end()
      case "A": state.answerBegins()
      case "E": state.answerEnds()
      default: Issue.record("no step \(step)")
      }
    }
    return state
  }

  @Test(
    "each phase has its timeout, and only a connection that waits for its client may be closed for another",
    arguments: [
      ("", ConnectionState.Wait.head, true),
      ("h", .body, true),
      ("hb", .body, true),
      ("he", nil, false),
      ("heA", nil, false),
      ("heAE", nil, true),
      // Answered before the body has come: the rest of it has its own time.
      ("hA", .body, false),
      ("hAE", .unreadBody, true),
      ("hAEbe", nil, true),
      // The next request comes before the answer to this one: its body cannot be blamed for our own slowness.
      ("heh", nil, false),
      ("hehAE", .body, true),
      ("heheAE", nil, false),
      ("heheAEAE", nil, true),
    ]
  )
  func waits(script: String, wait: ConnectionState.Wait?, isWaiting: Bool) {
    let state = played(script)
    #expect(state.wait == wait)
    #expect(state.isWaiting == isWaiting)
  }

  @Test("the bytes of a body are those of the newest one")
  func bytes() {
    #expect(played("hbbb").bodyBytes == 30)
    #expect(played("hbbbeAEhb").bodyBytes == 10)
  }

  /// Opens a connection of a number; returns the outcome: accepted `t`, refused `r`, or the number of the one that is
  /// closed.
  private func open(_ number: Int, in table: ConnectionTable, _ names: [Name]) -> String {
    let admission = table.open(names[number]) { names[number].closed.withLock { $0 = true } }
    switch admission {
    case .admitted: return "t"
    case .refused: return "r"
    case .admittedInstead(of: let close):
      let before = names.map { $0.closed.withLock { $0 } }
      close()
      let after = names.map { $0.closed.withLock { $0 } }
      return names.indices.filter { before[$0] != after[$0] }.map { "\($0)" }.joined()
    }
  }

  private final class Name: Sendable {
    let closed = Mutex(false)
  }

  @Test("the connection that has waited longest is closed, and none that is being served")
  func table() {
    let table = ConnectionTable(capacity: 3)
    let names = (0..<6).map { _ in Name() }
    #expect((0..<3).map { open($0, in: table, names) } == ["t", "t", "t"])
    // The first has asked for something, and the second has been served meanwhile.
    table.update(names[0], isWaiting: false)
    table.update(names[1], isWaiting: false)
    table.update(names[1], isWaiting: true)
    #expect(open(3, in: table, names) == "2")
    #expect(open(4, in: table, names) == "1")
    #expect(table.count == 3)
    #expect(!table.close(names[2]))
    for number in [3, 4] { table.update(names[number], isWaiting: false) }
    #expect(open(5, in: table, names) == "r")
    #expect(table.close(names[0]))
    #expect(open(5, in: table, names) == "t")
  }

  @Test(
    "connections leave descriptors for everything else",
    arguments: [
      (4_096, 20_000, 4_096), (4_096, 1_024, 768), (4_096, 100, 50), (10, 1_024, 10), (4_096, 1, 1),
    ]
  )
  func descriptors(wanted: Int, limit: Int, allowed: Int) {
    #expect(ConnectionGuard.Rules.connections(wanted: wanted, descriptors: limit) == allowed)
  }
}
