import PharosModel
import PharosService
import PharosSite
import PharosTools
import Testing

@Suite("Check")
struct CheckRunnerTests {
  private func check(_ text: String) -> (status: CommandStatus, output: String, errors: String) {
    let output = MemorySink()
    let errors = MemorySink()
    let runner = CheckRunner(path: "site.yaml", bytes: Array(text.utf8))
    let status = runner.run(on: Console(output: output, errors: errors))
    return (status, output.text, errors.text)
  }

  @Test("a right file is told what it holds")
  func right() {
    let outcome = check(StarterSite.text)
    #expect(outcome.status == .success)
    #expect(
      outcome.output
        == "site.yaml: 1 application, 3 regions, 0 observers, 1 beacon, 0 zones. No mistakes.\n"
    )
    #expect(outcome.errors.isEmpty)
  }

  @Test("a wrong file gives 78 and one line for each mistake")
  func wrong() {
    let outcome = check("regions:\n  - { id: a }\nfoo: 1")
    #expect(outcome.status == .configuration)
    #expect(outcome.output.split(separator: "\n").count == 2)
    #expect(outcome.errors == "site.yaml: 2 mistakes. Nothing was started.\n")
  }
}
