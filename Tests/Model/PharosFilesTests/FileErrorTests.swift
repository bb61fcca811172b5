import Foundation
import PharosFiles
import Testing

/// The sentences that an operator reads.
@Suite("Errors of files")
struct FileErrorTests {
  @Test("an operator reads what, where, why and what to do")
  func prose() throws {
    let scratch = try Scratch()
    let missing = scratch.path("missing")
    let absent = #expect(throws: FileError.self) { _ = try FileChunks(path: missing) }
    #expect(absent?.description == "cannot open \(missing): no such file or directory. Check the path.")
    let folder = scratch.folder.path
    var chunks = try FileChunks(path: folder)
    let directory = #expect(throws: FileError.self) { _ = try chunks.next() }
    #expect(directory?.description == "cannot read \(folder): is a directory. Name a file in it.")
    let nowhere = #expect(throws: FileError.self) { _ = try FileSink(path: scratch.path("no/where")) }
    #expect(nowhere?.description.hasPrefix("cannot create ") == true)
    #expect(
      FileError(.damagedGzip(offset: 77), path: "a.gz").description
        == "a.gz: the gzip data are damaged at byte 77. Everything before was read; check the copy with `gzip -t`."
    )
    #expect(
      FileError(.cutGzip(offset: 9), path: "-").description.hasPrefix(
        "the standard stream: the gzip data end too early, at byte 9."
      )
    )
    #expect(FileError(.outOfMemory, path: "a").description.hasPrefix("a: no memory"))
  }
}
