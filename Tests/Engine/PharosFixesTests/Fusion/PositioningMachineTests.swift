import PharosFixes
import PharosModel
import PharosPipeline
import PharosTestSupport
import Testing

// Pictures, a letter a second. Input: `a` all is well, `s` the same with a new scan, `d` the handset says that it is too
// dark, `f` the same while a scan in the background has failed, `n` the handset does not position, `t` the odometry has
// lost track, `w` as `a` but 160 m from the last scan, `W` 240 m, `c` on a conveyor, `2` on another floor, `r` a scan was
// refused, `b` a scan runs, `-` nothing is reported. States: `A`ccurate, `D`egraded, `N`ot positioning, `H` advice, `C`
// a conveyance. Requests: `S`tart, `E`nvironment, `V` conveyor, `L` distance.
@Suite("The machine of visual positioning")
struct PositioningMachineTests {
  @Test(
    "pictures",
    arguments: [
      ("aaaa", "....", "S...", "without a scan there is no position, and one is asked for"),
      ("sasa", "A...", "....", "a scan makes it accurate at once"),
      ("sadda", "A....", ".....", "what lasts a second is not published"),
      ("sddddaaaa", "A..D...A.", ".........", "darkness that lasts is, and so is its end"),
      (
        "sffffdda", "A..H.D..", "........",
        "a failed scan in the background gives an advice, which ends with it"
      ),
      ("snnnnaaa", "A..N...A", "........", "the handset has the last word on having no position"),
      ("sttttaaa", "A..D...A", "........", "odometry that lost track degrades it"),
      ("swwww", "A....", ".L...", "far from the last scan one is asked for"),
      ("sWWWWsa", "A..D.A.", ".L.....", "still farther the state is degraded, until there is a scan"),
      ("scccaaa", "AC..A..", "....V..", "a scan is asked for behind a conveyor"),
      ("s2222s2", "A......", "...E...", "and on another floor"),
      ("srrrrs", "A..D.A", ".E....", "and after one that contradicts everything else"),
      ("bbbbbb", "......", "......", "none is asked for while one runs"),
    ].map { Picture(input: $0.0, states: $0.1, requests: $0.2, meaning: $0.3) }
  )
  func picture(_ picture: Picture) {
    let (states, requests) = Self.run(picture.input)
    #expect(
      states == picture.states && requests == picture.requests,
      "\(picture.meaning): \(states) \(requests)"
    )
  }

  struct Picture: Sendable {
    var input: String
    var states: String
    var requests: String
    var meaning: String
  }

  @Test("silence ends the position after ten seconds and some patience")
  func silence() {
    let states = Self.run("s" + String(repeating: "-", count: 16)).states
    #expect(states == "A............N...")
  }

  @Test("a request is repeated after 30 s, then after twice as long each time")
  func repetition() {
    let requests = Self.run(String(repeating: "a", count: 220)).requests
    #expect(requests.enumerated().filter { $0.element == "S" }.map(\.offset) == [0, 30, 90, 210])
  }

  @Test(
    "at most as many changes as inputs, and every change is one",
    arguments: Seeds.drawn(0..<20 as Range<UInt64>)
  )
  func drawn(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var machine = PositioningMachine()
    var look = PositioningMachine.Look(time: Self.start, reportedAt: Self.start)
    var last = PositioningMachine.Standing()
    var requested: Timestamp?
    for second in 0..<500 {
      let letter = "asdfntwWc2rb-".randomElement(using: &random) ?? "a"
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        Self.apply(letter, second, to: &look)
        look.time = look.time + .seconds(1)
        let action = machine.look(look)
        if let change = action.change {
          #expect(change.previous == last.state && change.standing != last)
          #expect(change.since <= look.time)
          #expect(change.standing.advice == .none || change.standing.state == .degradedPositioning)
          last = change.standing
        }
        if action.request != nil {
          if let requested, look.scanned < requested { #expect(look.time - requested >= .seconds(10)) }
          requested = look.time
        }
        #expect(machine.standing == last)
      }
    }
  }

  private static let start = Timestamp(seconds: 1_750_000_000)

  private static func run(_ input: String) -> (states: String, requests: String) {
    var machine = PositioningMachine()
    var look = PositioningMachine.Look(time: start, reportedAt: start)
    var (states, requests) = ("", "")
    for (second, letter) in input.enumerated() {
      look.time = start + .seconds(Double(second))
      apply(letter, second, to: &look)
      let action = machine.look(look)
      states += action.change.map { word(of: $0.standing) } ?? "."
      switch action.request?.reason {
      case nil: requests += "."
      case .start: requests += "S"
      case .distance: requests += "L"
      case .time: requests += "T"
      case .environmentChanged: requests += "E"
      case .conveyor: requests += "V"
      }
    }
    return (states, requests)
  }

  private static func word(of standing: PositioningMachine.Standing) -> String {
    if standing.advice != .none { return "H" }
    if standing.conveyance != .none { return "C" }
    switch standing.state {
    case .notPositioning: return "N"
    case .degradedPositioning: return "D"
    case .accuratePositioning: return "A"
    }
  }

  private static func apply(_ letter: Character, _ second: Int, to look: inout PositioningMachine.Look) {
    guard letter != "-" else { return }
    let scanned = letter == "s" ? look.time : look.scanned
    look = PositioningMachine.Look(
      time: look.time,
      reportedAt: look.time,
      scanned: scanned,
      refused: letter == "r" ? look.time : look.refused,
      surroundings: letter == "2" ? 1 : 0
    )
    switch letter {
    case "d": look.status = VisualStatus(state: .degradedPositioning, reasons: .lowLight)
    case "f":
      look.status = VisualStatus(state: .degradedPositioning, reasons: .lowLight, backgroundScan: .failed)
    case "n": look.status = VisualStatus(state: .notPositioning)
    case "b": look.status = VisualStatus(state: .notPositioning, scan: .started)
    case "t": look.isTracking = false
    case "w": look.distance = 160
    case "W": look.distance = 240
    case "c": look.conveyance = .conveyor
    default: break
    }
  }
}
