import Foundation
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Tables and bars as people read them")
struct TextTests {
  @Test("no line of a table is wider than its columns, whatever the cells hold")
  func tableWidth() {
    let table = TextTable([.text("time", 12), .text("event", 10), .number("level", 6), .text("subject", 49)])
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

  @Test("a bar that has run for some seconds shows how long is left")
  func remaining() {
    let sink = MemorySink()
    let style = TerminalStyle(isTerminal: true, usesColor: false, width: 80)
    let console = Console(output: MemorySink(), errors: sink, errorStyle: style)
    func shown(_ done: Int, of total: Int, after seconds: Int64) -> String {
      var bar = ProgressBar("walk.pcapng", on: console, elapsed: { .seconds(seconds) })
      bar.show(done, of: total)
      return String(sink.text.split(separator: "\r").last ?? "")
    }
    #expect(shown(1, of: 4, after: 4).hasSuffix(" 25.0 % walk.pcapng\u{1B}[K"))
    #expect(shown(1, of: 4, after: 20).hasSuffix(" 25.0 %, 1 min 0 s left walk.pcapng\u{1B}[K"))
    #expect(shown(1, of: 1_000, after: 1_383).hasSuffix(" 0.1 %, 15 d 23 h left walk.pcapng\u{1B}[K"))
    #expect(shown(999, of: 1_000, after: 400).hasSuffix(" 99.9 %, 0 s left walk.pcapng\u{1B}[K"))
    #expect(shown(4, of: 4, after: 20).hasSuffix(" 100.0 % walk.pcapng\u{1B}[K"))
  }

  @Test("colour is used only where it may be")
  func color() {
    #expect(TerminalStyle.plain.paint("a", .red) == "a")
    let style = TerminalStyle(isTerminal: true, usesColor: true, width: 80)
    #expect(style.paint("a", .red) == "\u{1B}[31ma\u{1B}[0m")
  }
}
