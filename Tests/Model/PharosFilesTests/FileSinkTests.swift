import Foundation
import PharosFiles
import Testing

/// Plain and packed outputs, flushed, closed and refused.
@Suite("Writing files")
struct FileSinkTests {
  @Test("bytes and text arrive in order, and flushed ones before the end")
  func order() throws {
    let scratch = try Scratch()
    for name in ["plain", "packed.gz"] {
      var sink = try FileSink(path: scratch.path(name))
      try sink.write("{\"a\":1}\n")
      try sink.flush()
      let early = try readAll(scratch.path(name))
      #expect(String(decoding: early.bytes, as: UTF8.self) == "{\"a\":1}\n")
      try sink.write(sample(300_000))
      try sink.sync()
      #expect(sink.count == 300_008)
      try sink.close()
      #expect(try readAll(scratch.path(name)).bytes == Array("{\"a\":1}\n".utf8) + sample(300_000))
    }
  }

  @Test("an existing file is overwritten")
  func truncates() throws {
    let scratch = try Scratch()
    let path = try scratch.write(sample(500), to: "old")
    var sink = try FileSink(path: path)
    try sink.write("new")
    try sink.close()
    #expect(try scratch.read("old") == Array("new".utf8))
  }

  @Test(
    "a full disk is reported by name, with advice",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"))
  )
  func full() throws {
    var sink = try FileSink(path: "/dev/full")
    try sink.write("something")
    let error = #expect(throws: FileError.self) { try sink.flush() }
    #expect(
      error?.description
        == "cannot write /dev/full: no space left on device. Free some space or choose another folder; what was written before is whole."
    )
  }
}
