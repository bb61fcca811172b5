import PharosReports
import PharosService
import PharosTestSupport
import Foundation
import Testing

@Suite("Times, addresses and tables as people read them")
struct TextTests {
  @Test(
    "a time is a number and its unit",
    arguments: [
      ("350ms", 350_000_000), ("3s", 3_000_000_000), ("5m", 300_000_000_000), ("1h", 3_600_000_000_000),
      ("1.5s", 1_500_000_000), ("0s", 0), ("2d", 172_800_000_000_000), ("10us", 10_000), ("7ns", 7),
    ]
  )
  func readsTimes(text: String, nanoseconds: Int64) {
    #expect(TimeSpan(written: text)?.nanoseconds == nanoseconds)
    #expect(TimeSpan(written: TimeSpan(nanoseconds: nanoseconds).written)?.nanoseconds == nanoseconds)
  }

  @Test(
    "what has no unit, no number or no end is no time",
    arguments: ["", "3", "s", "-3s", "3 s", "1e3s", "3sec", ".5s", "5.s", "1.2.3s", "999999999999d", "infs"]
  )
  func refusesOtherTimes(text: String) {
    #expect(TimeSpan(written: text) == nil)
  }

  @Test(
    "addresses are read and written",
    arguments: ["127.0.0.1:50001", "[::1]:1", "gateway.local:0", "0.0.0.0:65535"]
  )
  func addresses(text: String) {
    #expect(HostPort(text)?.description == text)
  }

  @Test(
    "what is no address is none",
    arguments: ["", ":1", "a", "a:", "a:65536", "::1:5", "a b:1", "a:-1", "a:+1"]
  )
  func noAddresses(text: String) {
    #expect(HostPort(text) == nil)
  }

  @Test("no line of a table is wider than its columns, whatever the cells hold")
  func tableWidth() {
    let table = TextTable([
      .init("time", width: 12), .init("event", width: 10), .init("level", width: 6, alignment: .right),
      .init("subject", width: 49),
    ])
    var random = SeededGenerator(seed: 7)
    for _ in 0..<200 {
      let cells = (0..<4).map { _ in
        String(
          (0..<Int.random(in: 0...90, using: &random)).map { _ in
            "aé–\u{1B}\n7".randomElement(using: &random) ?? "x"
          }
        )
      }
      let line = table.line(cells)
      #expect(line.count <= TextTable.widest)
      #expect(!line.unicodeScalars.contains("\u{1B}"))
      #expect(!line.contains("\n"))
    }
    #expect(table.line(["1", "2", "-61", "x"]) == "1            2             -61 x")
  }

  @Test("an escape sequence in a name does not reach the terminal")
  func cleansControls() {
    #expect(TextTable.clean("a\u{1B}[2Jb\u{202E}") == "a·[2Jb·")
  }

  @Test("a progress bar is drawn on a terminal and nowhere else")
  func progress() {
    let pipe = MemorySink()
    var bar = ProgressBar("x", on: Console(output: MemorySink(), errors: pipe))
    bar.show(1, of: 2)
    bar.clear()
    #expect(pipe.text.isEmpty)
    let screen = MemorySink()
    let style = TerminalStyle(isTerminal: true, usesColor: false, width: 60)
    bar = ProgressBar("capture.pcap", on: Console(output: MemorySink(), errors: screen, errorStyle: style))
    bar.show(1, of: 2)
    bar.show(1, of: 2)
    bar.clear()
    #expect(screen.text.components(separatedBy: "50.0 %").count == 2)
    #expect(screen.text.hasSuffix("\r\u{1B}[K"))
  }

  @Test("colour is used only where it may be")
  func color() {
    #expect(TerminalStyle.plain.paint("a", .red) == "a")
    let style = TerminalStyle(isTerminal: true, usesColor: true, width: 80)
    #expect(style.paint("a", .red) == "\u{1B}[31ma\u{1B}[0m")
  }
}
