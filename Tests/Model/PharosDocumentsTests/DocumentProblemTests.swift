import PharosDocuments
import PharosModel
import Testing

@Suite("Problems of documents")
struct DocumentProblemTests {
  @Test("warnings beyond the first 200 are counted", arguments: [0, 199, 200, 201, 1_000])
  func warnings(count: Int) throws {
    let problems = DocumentProblems()
    for line in 0..<count { problems.warning("odd", line: line, field: "") }
    let found = try problems.conclude(path: "site.yaml")
    #expect(found.count == min(count, 200) + (count > 200 ? 1 : 0))
    guard count > 200 else { return }
    let words =
      "site.yaml: warning: \(count - 200) more warning\(count == 201 ? "" : "s") beyond the first 200"
    #expect(found.last?.text(in: "site.yaml") == words)
  }
}
