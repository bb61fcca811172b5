import PharosCaptures
import PharosModel

/// Reads a whole capture from bytes, handed to the reader in chunks of any size.
struct CaptureWalk {
  var items: [CaptureItem] = []
  var errors: [CaptureError] = []

  init(_ bytes: [UInt8], chunk: Int = .max) {
    var reader = CaptureReader()
    var start = 0
    while start < bytes.count {
      let end = start + min(chunk, bytes.count - start)
      reader.append(bytes[start..<end])
      drain(&reader)
      start = end
    }
    do throws(CaptureError) { try reader.finish() } catch { errors.append(error) }
  }

  var packets: [Packet] {
    items.compactMap { item in
      if case .packet(let packet) = item { packet } else { nil }
    }
  }

  var blocks: [LocalBlock] {
    items.compactMap { item in
      if case .block(let block) = item { block } else { nil }
    }
  }

  private mutating func drain(_ reader: inout CaptureReader) {
    do throws(CaptureError) {
      while let item = try reader.next() { items.append(item) }
    } catch { errors.append(error) }
  }
}
