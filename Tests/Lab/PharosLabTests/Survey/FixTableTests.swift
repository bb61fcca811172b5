import PharosLab
import PharosModel
import PharosTerminal
import Testing

@Suite("Tables of fixes")
struct FixTableTests {
  private func table(_ text: String) throws -> FixTable {
    try FixTable(text: Array(text.utf8), path: "fixes.csv")
  }

  private func complaint(_ text: String) -> String {
    do {
      _ = try table(text)
      return ""
    } catch let failure as CommandFailure {
      return failure.message
    } catch {
      return "\(error)"
    }
  }

  @Test("columns stand in any order, others are passed over, and rows come out in order of time")
  func columns() throws {
    let table = try table(
      "floor,y_m,x_m,what,time_ms,trace_id\r\nF2,2,1,x,2000,a\nB1,4,3,,1000,a\n\n0,6,5,,1000.9,\"b\"\nF1,nan,1,,1,b\nF1,8,7,,1000,a\n"
    )
    #expect(table.count == 4)
    #expect(table.traces["a"]?.map(\.x) == [3, 7, 1])
    #expect(table.traces["a"]?.map(\.level) == [-1, 0, 1])
    #expect(table.traces["b"]?.map(\.time.nanoseconds) == [1_000_000_000])
    #expect(table.traces["a"]?.allSatisfy { $0.accuracy == nil } == true)
  }

  @Test("an invalid line is reported with its number")
  func mistakes() {
    #expect(complaint("trace_id,time_ms,x_m,y_m\n").contains("fixes.csv:1: there is no column floor"))
    #expect(complaint("").contains("fixes.csv:1: there is no column trace_id"))
    let header = "trace_id,time_ms,x_m,y_m,floor\n"
    #expect(complaint(header + "a,1,2,3,F1\na,x,2,3,F1\n").hasPrefix("fixes.csv:3: no fix"))
    #expect(complaint(header + "a,1,2\n").hasPrefix("fixes.csv:2: no fix"))
    #expect(complaint(header + "a,1e30,2,3,F1\n").hasPrefix("fixes.csv:2: no fix"))
    #expect(complaint(header + "a,1,2,3,roof\n").hasPrefix("fixes.csv:2: floor is \"roof\""))
  }

  @Test("fixes are read back to the centimetre, and none gets an earlier time")
  func roundTrip() throws {
    let row = FixTable.Row(
      time: Timestamp(nanoseconds: 1_000_000_001),
      x: 12.345_6,
      y: -0.001,
      level: -2,
      accuracy: 3.999
    )
    let line = FixTable.line("walk", row)
    #expect(line == "walk,1001,12.35,0,B2,4")
    let read = try table(FixTable.header + "\n" + line + "\n").traces["walk"]?.first
    #expect(read?.x == 12.35 && read?.y == 0 && read?.level == -2 && read?.accuracy == 4)
  }

  @Test(
    "floors are read as surveyors call them",
    arguments: [
      ("F1", 0), ("1F", 0), ("L2", 1), ("3l", 2), ("B1", -1), ("2B", -2), (" f10 ", 9), ("0", 0), ("-1", -1),
      ("2.0", 2),
      ("+3", 3), ("G", 0), ("EG", 0), ("UG", 0), ("LG1", -1), ("LG", -1), ("B", -1), ("UG2", -2), ("1OG", 1),
    ]
  )
  func floors(word: String, level: Int) {
    #expect(FloorWord.level(word) == level)
    #expect(FloorWord.level(FloorWord.name(level)) == level)
  }

  @Test("an invalid floor is refused", arguments: ["", "F", "roof", "F1a", "1.5", "P1", "F-1", "--1", "FB1"])
  func noFloors(word: String) { #expect(FloorWord.level(word) == nil) }

  @Test(
    "the floors of a building are numbered from the one that is called the ground floor",
    arguments: [
      (["G", "L1", "L2", "LG1"], ["G": 0, "L1": 1, "L2": 2, "LG1": -1]),
      (["F1", "F2", "B1"], ["F1": 0, "F2": 1, "B1": -1]), (["0", "F1"], ["0": 0, "F1": 1]),
      (["UG", "LG", "L1"], ["UG": 0, "LG": -1, "L1": 1]), (["G", "M"], ["G": 0, "M": 1]),
      (["G", "M", "L1"], ["G": 0, "L1": 1]), (["B", "BM", "G"], ["B": -1, "G": 0]),
      (["P1", "roof", "G"], ["G": 0]),
    ]
  )
  func building(names: [String], levels: [String: Int]) {
    let found = FloorWord.levels(of: names)
    #expect(found.compactMapValues { try? $0.get() } == levels)
    #expect(Set(found.keys) == Set(names))
  }
}
