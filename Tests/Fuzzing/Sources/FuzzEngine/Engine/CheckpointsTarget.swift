import FuzzSupport
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosPresence
import PharosWire

/// A checkpoint, its magic, version and checksum put right, and a pipeline that goes on from it.
///
/// - Shape: the bytes of a checkpoint behind its checksum.
final class CheckpointsTarget: FuzzTarget {
  static let name = "checkpoints"
  static let maximumLength = 8_192

  private let traffic: [ReportBatch]

  init() {
    var decoder = DatagramDecoder()
    traffic = (0..<4).map { step in
      var batch = ReportBatch()
      let now = SampleTraffic.start + .seconds(30) + .milliseconds(Int64(step) * 400)
      let datagram = (try? SampleTraffic.datagram(step)) ?? []
      _ = decoder.decode(datagram.span.bytes, received: now, into: &batch)
      return batch
    }
  }

  func run(_ input: RawSpan) {
    let checkpoint: Checkpoint
    do {
      checkpoint = try Checkpoint(decoding: CheckpointBytes.signed(input.array))
    } catch {
      _ = "\(error)"
      return
    }
    goOn(from: checkpoint, shards: 1)
    goOn(from: checkpoint, shards: 2)
  }

  private func goOn(from checkpoint: Checkpoint, shards: Int) {
    var pipeline: Pipeline
    do {
      pipeline = try Pipeline(site: SampleTraffic.site, restoring: checkpoint, shards: shards)
    } catch {
      return demand(false, "a checkpoint that was tried out can be started from: \(error)")
    }
    let instant = max(checkpoint.instant, SampleTraffic.start) + .seconds(10)
    _ = pipeline.resume(at: instant, publishedState: PublishedState())
    for batch in traffic { _ = pipeline.ingest(batch) }
    _ = pipeline.finish(tail: .minutes(2))
    _ = pipeline.tags()
    _ = pipeline.tracks(TrackQuery(limit: 100))
    let again = pipeline.checkpoint()
    do {
      demand(try Checkpoint(decoding: again.encoded) == again, "what is read of it is what was kept")
    } catch {
      demand(false, "what is kept of it can be read: \(error)")
    }
  }

  static func seeds() throws -> [[UInt8]] {
    try [0, 1, 4, 12, 40].map { steps in
      Array(try SampleTraffic.pipeline(steps: steps).checkpoint().encoded.dropFirst(13))
    }
    .filter { $0.count <= maximumLength }
  }
}

/// Puts a head with a checksum that fits in front of the rest of a checkpoint.
private enum CheckpointBytes {
  static func signed(_ body: [UInt8]) -> [UInt8] {
    var writer = FieldWriter()
    writer.write(0x5048_4350 as UInt32)
    writer.write(Checkpoint.version)
    writer.write((try? checksum(of: body)) ?? 0)
    return writer.bytes + body
  }

  /// The sum as `Checkpoint` documents it: FNV-1a over words, lists behind their lengths.
  private static func checksum(of body: [UInt8]) throws(FieldError) -> UInt64 {
    var reader = FieldReader(body[...])
    var sum: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ word: UInt64) {
      sum = (sum ^ word) &* 0x0000_0100_0000_01B3
      sum ^= sum >> 32
    }
    func mix(_ bytes: [UInt8]) {
      mix(UInt64(bytes.count))
      for start in stride(from: 0, to: bytes.count & ~7, by: 8) {
        mix(bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
      }
      for byte in bytes[(bytes.count & ~7)...] { mix(UInt64(byte)) }
    }
    mix(try reader.number(UInt64.self))
    mix(try reader.number(UInt64.self))
    mix(Array(try reader.text().utf8))
    mix(try long(&reader))
    for _ in 0..<(try reader.count(ofAtLeast: 8)) { mix(try long(&reader)) }
    return sum
  }

  private static func long(_ reader: inout FieldReader) throws(FieldError) -> [UInt8] {
    try reader.raw(Int(clamping: try reader.number(UInt64.self)))
  }
}
