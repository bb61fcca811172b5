package import PharosMonitoring
package import PharosReports

/// All that decisions to come depend on, as of one instant: what a server saves now and then, and starts again from.
///
/// It is bound neither to a number of shards nor to the site as it was: a pipeline with another number of shards takes it, and
/// what an edited site no longer asks about is left out.
package struct Checkpoint: Hashable, Sendable {
  /// The version of the bytes.
  ///
  /// It grows with the layout of this envelope; the states within carry versions of their own.
  package static let version: UInt8 = 1

  /// The instant: everything received and due up to it is in it, and nothing behind it.
  package let instant: Timestamp
  /// What is to be added to times of the engines to get the wall clock's, which somebody may have set since the start.
  package let clockOffset: TimeSpan
  /// The name of the stream, which is a part of every event's id.
  package let stream: String

  /// The state of each shard of stage one.
  let shards: [[UInt8]]
  /// The state of the merger and of stage two behind it.
  let merger: [UInt8]

  /// Makes a checkpoint of engines that have decided everything up to an instant, and of the merger that has released it.
  ///
  /// This writes everything that is known, which takes a while: call it away from where the engines work, on copies of them.
  package init(shards: [MonitoringEngine], merger: EventMerger) {
    instant = merger.released
    clockOffset = merger.clockOffset
    stream = merger.stream
    self.shards = shards.map { shard in
      var writer = FieldWriter()
      shard.writeState(to: &writer)
      return writer.bytes
    }
    var writer = FieldWriter()
    merger.writeState(to: &writer)
    self.merger = writer.bytes
  }

  // MARK: Bytes

  /// The bytes that it is kept as.
  ///
  /// - Shape: 0 "PHCP"; 4 version; 5 checksum of all that follows, u64; 13 instant, i64 nanoseconds; 21 clock offset, i64
  ///   nanoseconds; 29 stream; then the merger's state and the list of the shards' states, each behind its length as u64.
  ///   Big-endian.
  package var encoded: [UInt8] {
    var writer = FieldWriter()
    writer.reserve(shards.reduce(merger.count + stream.utf8.count + 64) { $0 + $1.count + 8 })
    writeHead(checksum: checksum, to: &writer)
    instant.write(to: &writer)
    clockOffset.write(to: &writer)
    writer.write(stream)
    writer.write(long: merger)
    writer.write(UInt32(truncatingIfNeeded: shards.count))
    for shard in shards { writer.write(long: shard) }
    return writer.bytes
  }

  /// Decodes all bytes of ``encoded``.
  ///
  /// - Throws: an error, worded for the operator, if the bytes are no checkpoint, have another version or are damaged.
  package init(decoding bytes: [UInt8]) throws(CheckpointError) {
    var reader = FieldReader(bytes[...])
    do throws(FieldError) {
      guard try reader.number(UInt32.self) == Checkpoint.magic else { throw reader.failure(.badIdentity) }
    } catch {
      throw .notACheckpoint
    }
    let sum: UInt64
    do throws(FieldError) {
      let version = try reader.byte()
      guard version == Checkpoint.version else {
        throw reader.failure(.version(version, expected: Checkpoint.version))
      }
      sum = try reader.number(UInt64.self)
      instant = try Timestamp(from: &reader)
      clockOffset = try TimeSpan(from: &reader)
      stream = try reader.text()
      merger = try reader.longBytes()
      var shards: [[UInt8]] = []
      for _ in 0..<(try reader.count(ofAtLeast: 8)) { shards.append(try reader.longBytes()) }
      self.shards = shards
      try reader.finish()
    } catch {
      throw .unreadable(error)
    }
    guard sum == checksum else { throw .damaged }
    do throws(FieldError) {
      try tryOut()
    } catch {
      throw .unreadable(error)
    }
  }

  /// "PHCP".
  private static let magic: UInt32 = 0x5048_4350

  private func writeHead(checksum: UInt64, to writer: inout FieldWriter) {
    writer.write(Checkpoint.magic)
    writer.write(Checkpoint.version)
    writer.write(checksum)
  }

  /// Finds bytes that were changed since they were written; no defence against forgery, which files are not kept by.
  private var checksum: UInt64 {
    var sum = Checksum()
    sum.mix(UInt64(bitPattern: instant.nanoseconds))
    sum.mix(UInt64(bitPattern: clockOffset.nanoseconds))
    sum.mix(Array(stream.utf8))
    sum.mix(merger)
    for shard in shards { sum.mix(shard) }
    return sum.value
  }

  /// Restores the states on trial, so that every decoded checkpoint can be started from.
  ///
  /// The trial restores all observers of all shards into one engine. A start with any number of shards reads the same
  /// bytes.
  private func tryOut() throws(FieldError) {
    let site = Site(stream: stream)
    var engine = MonitoringEngine(site: site)
    try restore(&engine, shard: 0, among: 1)
    var trial = EventMerger(shards: 1, site: site)
    try trial.restoreState(from: self)
  }
}

/// Mixes bytes into 64 bits, eight at a time, as FNV-1a does with one.
private struct Checksum {
  var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func mix(_ word: UInt64) {
    value = (value ^ word) &* 0x0000_0100_0000_01B3
    // A multiplication alone never brings high bits down.
    value ^= value >> 32
  }

  mutating func mix(_ bytes: [UInt8]) {
    mix(UInt64(bytes.count))
    bytes.withUnsafeBytes { buffer in
      var position = 0
      while position + 8 <= buffer.count {
        mix(UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
        position += 8
      }
      while position < buffer.count {
        mix(UInt64(buffer[position]))
        position += 1
      }
    }
  }
}

extension FieldWriter {
  /// Writes a length as u64, then bytes, of which there may be more than four billion.
  mutating func write(long bytes: [UInt8]) {
    write(UInt64(bytes.count))
    write(raw: bytes)
  }
}

extension FieldReader {
  /// Reads bytes behind their length as u64.
  mutating func longBytes() throws(FieldError) -> [UInt8] {
    let length = try number(UInt64.self)
    guard length <= UInt64(remaining) else { throw failure(.cut) }
    return try raw(Int(length))
  }
}
