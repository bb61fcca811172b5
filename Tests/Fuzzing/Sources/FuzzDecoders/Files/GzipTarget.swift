import CFuzzer
import FuzzSupport
import Glibc
import PharosCaptures
import PharosFiles

/// A file that may be packed, read in chunks and looked into as a capture.
final class GzipTarget: FuzzTarget {
  static let name = "gzip"
  static let maximumLength = 1_024

  /// A file in memory that is overwritten for every input.
  private let file = fuzzer_memory_file()

  func run(_ input: RawSpan) {
    guard file >= 0, ftruncate(file, 0) == 0 else { return demand(false, "a file in memory can be made") }
    let written = input.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
    demand(written == input.byteCount, "a file in memory can be written")
    var reader = CaptureReader()
    var total = 0
    do {
      var chunks = try FileChunks(path: "/proc/self/fd/\(file)")
      while let chunk = try chunks.next() {
        demand((1...FileChunks.chunkLength).contains(chunk.count), "a chunk is neither empty nor too long")
        total += chunk.count
        // Ten bytes of deflated zeros unpack to ten thousand: enough is enough.
        guard total < 4 << 20 else { break }
        reader.append(chunk)
        while try reader.next() != nil {}
      }
      let isPacked = input.byteCount >= 2 && input[0] == 0x1F && input[1] == 0x8B
      demand(isPacked || total == input.byteCount || total >= 4 << 20, "a plain file comes as it is")
      try reader.finish()
    } catch let error as FileError {
      _ = error.description
    } catch {
      _ = "\(error)"
    }
  }

  static var words: [[UInt8]] { [[0x1F, 0x8B, 0x08, 0x00], [0x1F, 0x8B, 0x08, 0x1E]] }

  static func seeds() throws -> [[UInt8]] {
    let plain = try PcapngTarget.seeds()
    return plain.prefix(4).map { packed($0) } + [packed([]), packed([1, 2, 3]) + packed([4]) + [0, 0, 0]]
      + plain.prefix(2)
  }

  /// A gzip member whose data are stored as they are.
  private static func packed(_ bytes: [UInt8]) -> [UInt8] {
    let (count, mirror) = (UInt16(bytes.count), ~UInt16(bytes.count))
    let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1]
    var sum: UInt32 = .max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 != 0 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    func little(_ number: UInt32, _ length: Int) -> [UInt8] {
      (0..<length).map { UInt8(truncatingIfNeeded: number >> UInt32($0 * 8)) }
    }
    return head + little(UInt32(count), 2) + little(UInt32(mirror), 2) + bytes + little(~sum, 4)
      + little(UInt32(bytes.count), 4)
  }
}
