import PharosFiles
import PharosTestSupport
import Testing

/// Plain and packed files, whole, cut and damaged.
@Suite("Reading files")
struct FileChunksTests {
  @Test("a file comes whole, whatever its length", arguments: [0, 1, 2, 262_143, 262_144, 262_145, 700_000])
  func plain(count: Int) throws {
    let scratch = try Scratch()
    let bytes = sample(count)
    let result = try readAll(try scratch.write(bytes, to: "plain"))
    #expect(result.bytes == bytes)
    #expect(result.error == nil)
    #expect(result.progress == FileChunks.Progress(read: UInt64(count), total: UInt64(count)))
  }

  @Test(
    "bytes that the sink compresses are decompressed, under any name of the file",
    arguments: [0, 1, 262_144, 700_000]
  )
  func packed(count: Int) throws {
    let scratch = try Scratch()
    let bytes = sample(count)
    var sink = try FileSink(path: scratch.path("a.gz"))
    try sink.write(bytes)
    try sink.close()
    let packed = try scratch.read("a.gz")
    #expect(packed.prefix(2) == [0x1F, 0x8B])
    if count > 1_000 { #expect(packed.count < count * 3 / 4) }
    let result = try readAll(try scratch.write(packed, to: "capture.pcap"))
    #expect(result.bytes == bytes)
    #expect(result.error == nil)
    #expect(result.progress.read == UInt64(packed.count))
  }

  @Test(
    "a byte order mark at the start of a file is left out, packed or not, and nowhere else",
    arguments: [0, 1, 2, 3, 262_143]
  )
  func byteOrderMark(count: Int) throws {
    let scratch = try Scratch()
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let bytes = [UInt8](repeating: 0x41, count: count) + mark
    #expect(try readAll(try scratch.write(mark + bytes, to: "plain")).bytes == bytes)
    var sink = try FileSink(path: scratch.path("a.gz"))
    try sink.write(mark + bytes)
    try sink.close()
    #expect(try readAll(scratch.path("a.gz")).bytes == bytes)
    for cut in 1...2 {
      let part = Array(mark[..<cut])
      #expect(try readAll(try scratch.write(part, to: "cut")).bytes == part)
    }
    #expect(
      try FileChunks.word(in: try scratch.write(mark + Array("key\r\n".utf8), to: "word"), limit: 64) == "key"
    )
  }

  @Test("members one behind the other are one file, zeros behind them are padding")
  func members() throws {
    let scratch = try Scratch()
    var packed: [UInt8] = []
    for (index, count) in [300_000, 0, 5].enumerated() {
      var sink = try FileSink(path: scratch.path("\(index).gz"))
      try sink.write(sample(count, seed: UInt64(index)))
      try sink.close()
      packed += try scratch.read("\(index).gz")
    }
    let result = try readAll(try scratch.write(packed + [UInt8](repeating: 0, count: 700), to: "all"))
    #expect(result.bytes == sample(300_000, seed: 0) + sample(5, seed: 2))
    #expect(result.error == nil)
  }

  @Test("a packed file made by gzip itself is read")
  func foreign() throws {
    let scratch = try Scratch()
    // `printf pharos | gzip -n9`
    let bytes: [UInt8] = [
      0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0x2B, 0xC8, 0x48, 0x2C, 0xCA, 0x2F, 6, 0, 0x58, 0xEB, 0x24, 0xEC, 6,
      0, 0, 0,
    ]
    let result = try readAll(try scratch.write(bytes, to: "x"))
    #expect(String(decoding: result.bytes, as: UTF8.self) == "pharos", "\(String(describing: result.error))")
  }

  @Test("a packed file cut off anywhere gives what was good and one error")
  func cut() throws {
    let scratch = try Scratch()
    let bytes = sample(2_000)
    var sink = try FileSink(path: scratch.path("a.gz"))
    try sink.write(bytes)
    try sink.close()
    let packed = try scratch.read("a.gz")
    for length in stride(from: 2, to: packed.count, by: 7) {
      let result = try readAll(try scratch.write(Array(packed[..<length]), to: "cut"))
      #expect(bytes.starts(with: result.bytes))
      #expect(result.error?.problem == .cutGzip(offset: UInt64(length)))
    }
  }

  @Test("a damaged packed file gives what was good and says where it broke")
  func damaged() throws {
    let scratch = try Scratch()
    let bytes = sample(600_000)
    var sink = try FileSink(path: scratch.path("a.gz"))
    try sink.write(bytes)
    try sink.close()
    let packed = try scratch.read("a.gz")
    var random = SeededGenerator(seed: 3)
    for _ in 0..<12 {
      var broken = packed
      let index = Int.random(in: 10..<packed.count, using: &random)
      broken[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      let result = try readAll(try scratch.write(broken, to: "broken"))
      // The checksum behind the data tells any change, if the codes did not before.
      #expect(result.error != nil)
      guard case .damagedGzip(let offset)? = result.error?.problem else { continue }
      #expect(offset <= UInt64(packed.count))
      #expect(offset >= UInt64(index / 2))
    }
    let trailed = try readAll(try scratch.write(packed + Array("garbage".utf8), to: "trailed"))
    #expect(trailed.bytes == bytes)
    guard case .damagedGzip(let offset)? = trailed.error?.problem else {
      Issue.record("what follows a packed file went unnoticed")
      return
    }
    #expect(offset > UInt64(packed.count))
  }
}
