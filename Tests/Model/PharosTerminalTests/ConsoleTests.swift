import Foundation
import Logging
import PharosConsoleSupport
import PharosTerminal
import PharosTestSupport
import Testing

@Suite("Failures of a command")
struct ConsoleTests {
  /// A sink that refuses everything.
  private struct RefusingSink: OutputSink {
    let error: OutputError

    func write(_ bytes: [UInt8]) throws(OutputError) { throw error }

    func flush() throws(OutputError) {}
  }

  private func run(
    _ sink: any OutputSink,
    _ body: (Console) throws -> CommandStatus
  ) -> (CommandStatus, String) {
    let errors = MemorySink()
    let console = Console(output: sink, errors: errors)
    return (console.run { try body(console) }, errors.text)
  }

  @Test("a reader that has gone ends it quietly, and well")
  func closed() {
    let (status, errors) = run(RefusingSink(error: .closed)) { console in
      try console.print("a")
      return .failure
    }
    #expect(status == .success)
    #expect(errors.isEmpty)
  }

  @Test("a full disk ends it with a sentence")
  func full() {
    let (status, errors) = run(RefusingSink(error: .failed("cannot write: no space."))) { console in
      try console.print("a")
      return .success
    }
    #expect(status == .failure)
    #expect(errors == "cannot write: no space.\n")
  }

  @Test("a failure says its own words and gives its own status")
  func failure() {
    let output = MemorySink()
    let (status, errors) = run(output) { console in
      try console.print("before")
      throw CommandFailure("the site is wrong", status: .configuration)
    }
    #expect(status == .configuration)
    #expect(output.text == "before\n")
    #expect(errors == "the site is wrong\n")
  }

  @Test("messages that go to a log are lines of it, with their levels, and a failure is an error")
  func logged() throws {
    let kept = KeptConsole()
    let logger = Logger(label: "pharos") { LineLogHandler(label: $0, format: .json, sink: kept.errors) }
    let console = kept.console.logging(to: logger)
    let status = console.run {
      console.say("listening", details: [.init(name: "site", value: "a"), .init(name: "site", value: "b")])
      console.say("site.yaml:1: warning: mac 00:11:22:33:44:55", .warning)
      throw CommandFailure("the site\nis wrong", status: .configuration)
    }
    #expect(status == .configuration)
    let lines = try kept.errors.text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(lines.map { $0["level"] as? String } == ["notice", "warning", "error"])
    #expect(lines.map { $0["message"] as? String }.last == "the site\nis wrong")
    #expect(lines[0]["metadata"] as? [String: String] == ["site": "a; b"])
    #expect(lines[1]["message"] as? String == "site.yaml:1: warning: mac (address)")
  }

  @Test("a descriptor takes what it is given in order, and tells a closed pipe from a failure")
  func descriptor() throws {
    _ = Console.standard()
    let pipe = Pipe()
    let sink = DescriptorSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, threshold: 8)
    try sink.write(Array("abc".utf8))
    try sink.write(Array("defgh".utf8))
    try sink.write(Array("i".utf8))
    try sink.flush()
    #expect(pipe.fileHandleForReading.availableData == Data("abcdefghi".utf8))
    try pipe.fileHandleForReading.close()
    #expect(throws: OutputError.closed) {
      try sink.write(Array("jkl".utf8))
      try sink.flush()
    }
  }

  @Test("lines are added to a file that is there, and a folder that is missing is named")
  func appended() throws {
    let folder = try TemporaryFolder()
    for line in ["a\n", "b\n"] {
      let file = try AppendedFile(path: folder.path("events.jsonl"))
      try file.write(Array(line.utf8))
      try file.flush()
    }
    #expect(try folder.bytes("events.jsonl") == Array("a\nb\n".utf8))
    #expect {
      _ = try AppendedFile(path: "/nowhere/events.jsonl")
    } throws: { error in
      (error as? CommandFailure)?.message.contains("/nowhere/events.jsonl") == true
    }
  }
}
