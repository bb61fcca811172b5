public import PharosDocuments
package import PharosFixes
public import PharosModel
package import PharosPresence

/// All that decisions to come depend on, as of one instant: what a server saves now and then, and starts again from.
///
/// It is bound neither to a number of shards nor to the site as it was: a pipeline with another number of shards takes it, and
/// what an edited site no longer asks about is left out.
public struct Checkpoint: Hashable, Sendable {
  /// The version of the bytes.
  ///
  /// It grows with the layout of this envelope; the states within carry versions of their own.
  package static let version: UInt8 = 1

  /// The instant: everything received and due up to it is in it, and nothing behind it.
  public let instant: Timestamp
  /// The offset to add to times of the engines to get the wall clock's, which an operator may have set since the start.
  package let clockOffset: TimeSpan
  /// The name of the stream, which is a part of every event's id.
  package let stream: String

  /// The state of each shard of stage one.
  let shards: [[UInt8]]
  /// The state of the merger and of stage two behind it.
  let merger: [UInt8]
  /// Where subjects are, as their locators believe; empty unless the checkpoint is exact.
  let whereabouts: [UInt8]

  /// Indicates whether engines continue from it exactly, fixes included; otherwise all are located from the start.
  package var isExact: Bool { !whereabouts.isEmpty }

  /// Makes a checkpoint of engines that have decided everything up to an instant, and of the merger that has released it.
  ///
  /// This writes everything that is known, which takes a while: call it away from where the engines work, on copies of them.
  ///
  /// - Parameters:
  ///   - shards: the engines.
  ///   - merger: the merger.
  ///   - exactly: indicates whether it is to say where subjects are, which takes up to 64 KiB for each of them.
  package init(shards: [MonitoringEngine], merger: EventMerger, exactly: Bool = false) {
    instant = merger.released
    clockOffset = merger.clockOffset
    stream = merger.stream
    self.shards = shards.map { shard in
      var writer = FieldWriter()
      shard.writeState(to: &writer)
      return writer.bytes
    }
    var writer = FieldWriter()
    var state = merger
    state.visitState(&writer)
    self.merger = writer.bytes
    var places = FieldWriter()
    if exactly { state.stageTwo.visitWhereabouts(&places) }
    whereabouts = places.bytes
  }

  // MARK: Bytes

  /// The bytes that it is kept as.
  ///
  /// - Shape: 0 "PHCP"; 4 version; 5 checksum of all that follows, u64; 13 instant, i64 nanoseconds; 21 clock offset, i64
  ///   nanoseconds; 29 stream; then the merger's state and the list of the shards' states, each behind its length as u64; in an
  ///   exact one, behind another length, where subjects are. Big-endian.
  public var encoded: [UInt8] {
    var writer = FieldWriter()
    let rest = merger.count + whereabouts.count + stream.utf8.count + 72
    writer.reserve(shards.reduce(rest) { $0 + $1.count + 8 })
    writeHead(checksum: checksum, to: &writer)
    instant.write(to: &writer)
    clockOffset.write(to: &writer)
    writer.write(stream)
    writer.write(long: merger)
    writer.write(UInt32(truncatingIfNeeded: shards.count))
    for shard in shards { writer.write(long: shard) }
    if isExact { writer.write(long: whereabouts) }
    return writer.bytes
  }

  /// Decodes all bytes of ``encoded``.
  ///
  /// - Throws: an error, worded for the operator, if the bytes are no checkpoint, have another version or are damaged.
  public init(decoding bytes: [UInt8]) throws(CheckpointError) {
    var reader = FieldReader(bytes[...])
    do throws(FieldError) {
      guard try reader.number(UInt32.self) == Checkpoint.magic else { throw reader.failure(.badIdentity) }
    } catch {
      throw .notACheckpoint
    }
    let sum: UInt64
    do throws(FieldError) {
      try reader.code(version: Checkpoint.version)
      sum = try reader.number(UInt64.self)
      instant = try Timestamp(from: &reader)
      clockOffset = try TimeSpan(from: &reader)
      stream = try reader.text()
      merger = try reader.longBytes()
      var shards: [[UInt8]] = []
      for _ in 0..<(try reader.count(ofAtLeast: 8)) { shards.append(try reader.longBytes()) }
      self.shards = shards
      whereabouts = reader.remaining > 0 ? try reader.longBytes() : []
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
    if isExact { sum.mix(whereabouts) }
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

/// The reason why bytes are no checkpoint that can be started from.
public enum CheckpointError: Error, Hashable, Sendable {
  /// The bytes are no checkpoint.
  case notACheckpoint
  /// They were changed since they were written.
  case damaged
  /// They were written by another version of the program, or hold what none writes.
  case unreadable(FieldError)
}

extension CheckpointError: CustomStringConvertible {
  /// A description of what is wrong and what follows from it.
  public var description: String {
    let consequence =
      "; starting without it: states resume from the published events, what was learned about beacons is learned again"
    switch self {
    case .notACheckpoint: return "the checkpoint is none: its first bytes are not PHCP" + consequence
    case .damaged: return "the checkpoint is damaged: its checksum is another one" + consequence
    case .unreadable(let error): return "the checkpoint cannot be read, \(error)" + consequence
    }
  }
}

/// The data that a server starts again from: the last checkpoint, and the states that events have published since.
public struct Restoration: Hashable, Sendable {
  /// The state of the engines, or nil if there is none that can be read.
  public var checkpoint: Checkpoint?
  /// The states published after the checkpoint, or all published states if there is no checkpoint.
  public var publishedState: PublishedState

  /// Makes a restoration.
  public init(checkpoint: Checkpoint?, publishedState: PublishedState = PublishedState()) {
    self.checkpoint = checkpoint
    self.publishedState = publishedState
  }

  /// The latest instant that the previous run is known to have reached, by the checkpoint's clock.
  ///
  /// R must begin after it. The times of states published after the checkpoint count as well. If the wall clock was set
  /// in the meantime, they may lie ahead of it: R then begins ahead of the wall clock, and a clock step states the
  /// difference.
  package var reached: Timestamp? {
    let resumed = publishedState.turnedBack(by: checkpoint?.clockOffset ?? .zero)
    let times =
      resumed.regions.map(\.decidedAt) + resumed.zones.map(\.decidedAt) + resumed.observers.map(\.decidedAt)
      + resumed.visits.map(\.decidedAt) + resumed.occupancies.map(\.decidedAt)
    return [checkpoint?.instant, times.max()].compactMap { $0 }.max()
  }

  /// Returns whether inputs go on right at the instant of the checkpoint, so that nothing is resumed: as no time lies between,
  /// engines continue as if they had not been interrupted.
  package func continues(at instant: Timestamp) -> Bool { checkpoint?.instant == instant }

  /// Indicates whether there is nothing to start from.
  package var isEmpty: Bool { checkpoint == nil && publishedState.isEmpty }
}

extension Restoration: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(checkpoint != nil)
    if let checkpoint { writer.write(long: checkpoint.encoded) }
    publishedState.write(to: &writer)
    // A recording without visits and thresholds has the bytes that it had before there were any.
    guard !publishedState.hasNoStays else { return }
    var stays = publishedState
    stays.visitStays(&writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    checkpoint = nil
    if try reader.flag() {
      let bytes = try reader.longBytes()
      do throws(CheckpointError) {
        checkpoint = try Checkpoint(decoding: bytes)
      } catch {
        if case .unreadable(let error) = error { throw error }
        throw reader.failure(.badIdentity)
      }
    }
    publishedState = try PublishedState(from: &reader)
    if reader.remaining > 0 { try publishedState.visitStays(&reader) }
  }
}

extension PublishedState {
  /// The same by another clock, as far as one shard of so many is concerned: its own observers, and all beacons.
  func part(of shard: Int, among shards: Int) -> PublishedState {
    guard shards > 1 else { return self }
    var part = self
    part.regions.removeAll { word in
      guard case .observer(let observer) = word.subject else { return false }
      return observer.shard(of: shards) != shard
    }
    part.observers.removeAll { $0.observer.shard(of: shards) != shard }
    return part
  }

  /// The same with all times by a clock that shows so much less.
  func turnedBack(by offset: TimeSpan) -> PublishedState {
    guard offset != .zero else { return self }
    var turned = self
    for index in turned.regions.indices {
      turned.regions[index].time = regions[index].time - offset
      turned.regions[index].decidedAt = regions[index].decidedAt - offset
      turned.regions[index].enteredAt = regions[index].enteredAt.map { $0 - offset }
    }
    for index in turned.zones.indices {
      turned.zones[index].time = zones[index].time - offset
      turned.zones[index].decidedAt = zones[index].decidedAt - offset
    }
    for index in turned.observers.indices {
      turned.observers[index].time = observers[index].time - offset
      turned.observers[index].decidedAt = observers[index].decidedAt - offset
    }
    for index in turned.visits.indices {
      turned.visits[index].visit.arrival = visits[index].visit.arrival - offset
      turned.visits[index].visit.departure = visits[index].visit.departure.map { $0 - offset }
      turned.visits[index].decidedAt = visits[index].decidedAt - offset
    }
    for index in turned.occupancies.indices {
      turned.occupancies[index].decidedAt = occupancies[index].decidedAt - offset
    }
    return turned
  }
}

extension Restoration {
  /// Makes the engine of one shard and resumes it after a restart, or continues it exactly at the instant of the checkpoint.
  ///
  /// - Parameters:
  ///   - site: the current site.
  ///   - shard: the index of the shard.
  ///   - shards: the current number of shards, which may differ from that of the checkpoint.
  ///   - instant: the time at which inputs begin again.
  ///   - sensing: the facts about venues that the engine needs; nil if there are no venues.
  ///   - output: receives the events and links that follow from the states published since the checkpoint.
  /// - Returns: the engine.
  /// - Throws: an error if a state cannot be read.
  package func engine(
    for site: Site,
    shard: Int,
    among shards: Int,
    resumingAt instant: Timestamp,
    sensing: SensingScope? = nil,
    into output: inout StageOutput
  ) throws(FieldError) -> MonitoringEngine {
    var engine = MonitoringEngine(site: site, sensing: sensing)
    try checkpoint?.restore(&engine, shard: shard, among: shards)
    guard !continues(at: instant) else { return engine }
    let resumed = publishedState.turnedBack(by: checkpoint?.clockOffset ?? .zero)
    engine.resume(at: instant, publishedState: resumed.part(of: shard, among: shards), into: &output)
    return engine
  }

  /// Makes the merger and resumes it after a restart, or continues it exactly at the instant of the checkpoint.
  ///
  /// - Parameters:
  ///   - site: the current site.
  ///   - shards: the number of shards whose output is merged.
  ///   - instant: the time at which inputs begin again.
  ///   - venues: the venues in which handsets and tags are located; their positions are found from scratch unless it continues
  ///     from an exact checkpoint, and then these are the venues that it was made with.
  ///   - keepsSensings: true if the caller calls ``EventMerger/drainSensings()``.
  /// - Returns: the merger.
  /// - Throws: an error if its state cannot be read.
  package func merger(
    for site: Site,
    shards: Int,
    resumingAt instant: Timestamp,
    venues: [LocatableVenue] = [],
    keepsSensings: Bool = false
  ) throws(FieldError) -> EventMerger {
    var merger = EventMerger(shards: shards, site: site, venues: venues, keepsSensings: keepsSensings)
    let continues = continues(at: instant)
    if let checkpoint { try merger.restoreState(from: checkpoint, exactly: continues) }
    guard !continues else { return merger }
    merger.resume(at: instant, publishedState: publishedState)
    return merger
  }
}

extension Checkpoint {
  /// Has an engine know what those of before knew about the observers that are its own now.
  func restore(_ engine: inout MonitoringEngine, shard: Int, among count: Int) throws(FieldError) {
    for part in shards {
      var reader = FieldReader(part[...])
      try engine.restoreState(from: &reader) { $0.shard(of: count) == shard }
      try reader.finish()
    }
  }
}
