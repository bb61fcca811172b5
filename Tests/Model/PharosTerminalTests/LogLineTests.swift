import Foundation
import Logging
import PharosModel
import PharosTerminal
import Testing

@Suite("Lines of the log")
struct LogLineTests {
  private func lines(_ body: (Logger) -> Void) throws -> [[String: Any]] {
    let sink = MemorySink()
    var logger = Logger(label: "pharos") { label in
      LineLogHandler(label: label, format: .json, sink: sink, now: { Timestamp(seconds: 1, nanoseconds: 5) })
    }
    logger.logLevel = .info
    body(logger)
    return try sink.text.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  @Test("each line is one object with time, level, message and metadata")
  func line() throws {
    let lines = try lines { logger in
      logger.warning("a \"quoted\"\nmessage", metadata: ["b": "2", "a": "é\u{1B}"])
      logger.debug("not written")
      logger.notice("bare")
    }
    #expect(lines.count == 2)
    #expect(lines[0]["time"] as? String == Timestamp(seconds: 1, nanoseconds: 5).rfc3339)
    #expect(lines[0]["level"] as? String == "warning")
    #expect(lines[0]["logger"] as? String == "pharos")
    #expect(lines[0]["message"] as? String == "a \"quoted\"\nmessage")
    #expect(lines[0]["metadata"] as? [String: String] == ["a": "é\u{1B}", "b": "2"])
    #expect(lines[1]["metadata"] == nil)
  }

  @Test("a logger's own metadata is on every line, and a line's goes before it")
  func metadata() throws {
    let lines = try lines { logger in
      var logger = logger
      logger[metadataKey: "part"] = "ingest"
      logger[metadataKey: "loop"] = "1"
      logger.notice("x", metadata: ["loop": "2"])
    }
    #expect(lines[0]["metadata"] as? [String: String] == ["part": "ingest", "loop": "2"])
  }

  @Test("a line for people begins with the time and the level; metadata stands behind the sentence")
  func sentence() {
    let sink = MemorySink()
    var logger = Logger(label: "pharos") { label in
      LineLogHandler(label: label, format: .text, sink: sink, now: { Timestamp(seconds: 1, nanoseconds: 5) })
    }
    logger[metadataKey: "part"] = "ingest"
    logger.warning("Cannot write.\nIt is retried.", metadata: ["reason": "disk\u{1B} full"])
    logger.notice("bare", metadata: ["part": "2"])
    #expect(
      sink.text == """
        1970-01-01T00:00:01Z warning pharos: Cannot write.·It is retried. (part=ingest, reason=disk· full)
        1970-01-01T00:00:01Z notice pharos: bare (part=2)

        """
    )
  }
}
