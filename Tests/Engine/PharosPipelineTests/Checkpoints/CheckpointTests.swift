import PharosCaptures
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Checkpoints as bytes")
struct CheckpointTests {
  /// A pipeline in the middle of things.
  private static func busy(seed: UInt64, shards: Int = 2) throws -> Pipeline {
    var pipeline = try Pipeline(site: Traffic.site, shards: shards)
    var batch = ReportBatch()
    for input in Traffic.inputs(seed: seed, count: 500, changes: false) {
      Traffic.append(input, to: &batch)
    }
    _ = pipeline.ingest(batch)
    _ = pipeline.stepClock(by: .seconds(3_600), at: .distantPast)
    _ = pipeline.finish(tail: .seconds(1))
    return pipeline
  }

  @Test("a checkpoint is read back with its metadata")
  func roundTrip() throws {
    let pipeline = try Self.busy(seed: 400)
    let checkpoint = pipeline.checkpoint()
    let read = try Checkpoint(decoding: checkpoint.encoded)
    #expect(read == checkpoint)
    #expect(read.stream == "test")
    #expect(read.clockOffset == .seconds(3_600))
    #expect(
      try Pipeline(site: Traffic.site, restoring: read).insideNow().isEmpty == pipeline.insideNow().isEmpty
    )
    let inside = try Pipeline(site: Traffic.site, restoring: read, shards: 3).insideNow()
    #expect(
      inside.map { "\($0.region) \($0.subject)" } == pipeline.insideNow().map { "\($0.region) \($0.subject)" }
    )
  }

  @Test("flipped, cut and foreign bytes are refused with words", arguments: 0..<3 as Range<UInt64>)
  func damage(seed: UInt64) throws {
    let bytes = try Self.busy(seed: 410).checkpoint().encoded
    var random = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      var flipped = bytes
      let place = Int.random(in: 0..<bytes.count, using: &random)
      flipped[place] ^= UInt8.random(in: 1...255, using: &random)
      #expect(throws: CheckpointError.self) { try Checkpoint(decoding: flipped) }
      let length = Int.random(in: 0..<bytes.count, using: &random)
      #expect(throws: CheckpointError.self) { try Checkpoint(decoding: Array(bytes[..<length])) }
    }
    #expect(throws: CheckpointError.notACheckpoint) { try Checkpoint(decoding: []) }
    #expect(throws: CheckpointError.notACheckpoint) {
      try Checkpoint(decoding: Array("SQLite format 3".utf8))
    }
    var newer = bytes
    newer[4] = 77
    let error = #expect(throws: CheckpointError.self) { try Checkpoint(decoding: newer) }
    #expect(
      error?.description
        == "the checkpoint cannot be read, byte 5: version 77, this program reads version 1; starting without it: states resume "
        + "from the published events, what was learned about beacons is learned again"
    )
    var last = bytes
    last[last.count - 1] ^= 1
    #expect(throws: CheckpointError.damaged) { try Checkpoint(decoding: last) }
  }

  @Test("a recording carries what a server went on from, in as many blocks as it takes")
  func recording() throws {
    let checkpoint = try Self.busy(seed: 420).checkpoint()
    var state = PublishedState()
    for number in 0..<20_000 {
      state.zones.append(
        PublishedState.ZoneRecord(
          beacon: .proximity(Traffic.uuid, major: 7, minor: UInt16(number)),
          zone: "zone\(number % 3)",
          time: Traffic.start,
          decidedAt: Traffic.start
        )
      )
    }
    let restoration = Restoration(checkpoint: checkpoint, publishedState: state)
    let parts = RecordedPart.parts(of: restoration)
    #expect(parts.count > 1)
    let instant = checkpoint.instant + .seconds(60)
    var writer = try RecordingWriter(site: Traffic.site)
    try writer.write(restoration, at: instant)
    try writer.write(.clockStep(.seconds(1), at: instant))
    try writer.finish(through: instant + .seconds(2))
    let bytes = writer.drainBytes()
    var feed = CaptureFeed(observer: .name("file"))
    feed.append(bytes)
    guard case .site(Traffic.site)? = try feed.next(),
      case .restored(let read, at: instant)? = try feed.next(),
      case .clockStep? = try feed.next(), case .tick? = try feed.next()
    else {
      Issue.record("the inputs are not what was written")
      return
    }
    #expect(read == restoration)
    try feed.finish()
  }

  @Test("a recording that lacks a part of it says so")
  func missingPart() throws {
    var state = PublishedState()
    state.zones = (0..<20_000).map { number in
      PublishedState.ZoneRecord(
        beacon: .proximity(Traffic.uuid, major: 7, minor: UInt16(number)),
        zone: "zone",
        time: Traffic.start,
        decidedAt: Traffic.start
      )
    }
    let parts = RecordedPart.parts(of: Restoration(checkpoint: nil, publishedState: state))
    var writer = try RecordingWriter(site: Traffic.site)
    try writer.write(.restored(parts[0], at: Traffic.start))
    try writer.write(.restored(parts[0], at: Traffic.start))
    var feed = CaptureFeed(observer: .name("file"))
    feed.append(writer.drainBytes())
    guard case .site? = try feed.next() else {
      Issue.record("the site is missing")
      return
    }
    let error = #expect(throws: CaptureFeedError.self) { try feed.next() }
    guard case .recording(let problem, offset: _)? = error else {
      Issue.record("\(String(describing: error)) is not about the recording")
      return
    }
    #expect(problem.problem == .missingPart(1))
  }
}
