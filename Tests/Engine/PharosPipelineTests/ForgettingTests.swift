import PharosDocuments
import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport
import Testing

@Suite("Forgetting a subject")
struct ForgettingTests {
  /// A pipeline in the middle of things, and the instant behind its last input.
  private static func busy(shards: Int) throws -> (pipeline: Pipeline, end: Timestamp, events: [Event]) {
    var pipeline = try Pipeline(site: Traffic.site, shards: shards)
    var events: [Event] = []
    var end = Traffic.start
    for input in Traffic.inputs(seed: 77, count: 900, changes: false) {
      var batch = ReportBatch()
      Traffic.append(input, to: &batch)
      events += pipeline.ingest(batch)
      end = max(end, input.instant)
    }
    events += pipeline.advance(to: end)
    return (pipeline, end, events)
  }

  /// A beacon that several observers have tracks of, one of them somewhere inside.
  private static func beacon(in pipeline: Pipeline) throws -> BeaconID {
    let inside = pipeline.insideNow().compactMap { standing -> BeaconID? in
      guard case .beacon(let beacon) = standing.subject else { return nil }
      return beacon
    }
    return try #require(inside.first)
  }

  @Test("a beacon is gone from tracks, regions and checkpoints; no exit follows", arguments: [1, 3])
  func beacon(shards: Int) throws {
    var (pipeline, end, _) = try Self.busy(shards: shards)
    let beacon = try Self.beacon(in: pipeline)
    let traces = try #require(SubjectTraces(beacon.description))
    let others = pipeline.tracks(TrackQuery(limit: 1_000)).filter { $0.beacon != beacon }.map(\.key)
    #expect(pipeline.tracks(TrackQuery(limit: 1_000)).contains { $0.beacon == beacon })
    var events = pipeline.apply(.forget(traces), at: end + .milliseconds(1))
    events += pipeline.advance(to: end + .milliseconds(2))
    #expect(!events.contains { $0.kind == .regionExit })
    #expect(
      events.contains { event in
        guard event.subject == .beacon(beacon), case .region(let transition) = event.detail else {
          return false
        }
        return transition.from == .inside && transition.to == .unmonitored
      }
    )
    #expect(pipeline.tracks(TrackQuery(limit: 1_000)).map(\.key) == others)
    #expect(!pipeline.insideNow().contains { $0.subject == .beacon(beacon) })
    let restored = try Pipeline(site: Traffic.site, restoring: pipeline.checkpoint(), shards: 2)
    #expect(!restored.insideNow().contains { $0.subject == .beacon(beacon) })
    #expect(restored.tracks(TrackQuery(limit: 1_000)).map(\.key) == others)
    // A second time there is nothing, and no event is published.
    events = pipeline.apply(.forget(traces), at: end + .milliseconds(3))
    events += pipeline.advance(to: end + .milliseconds(4))
    #expect(!events.contains { $0.subject == .beacon(beacon) })
  }

  @Test("an observer is gone, its bytes are in no checkpoint, and no exit follows", arguments: [1, 3])
  func observer(shards: Int) throws {
    var (pipeline, end, _) = try Self.busy(shards: shards)
    // A handset: what the site itself names, as gateways in zones, is known from there.
    let visitor = Traffic.handset
    let traces = try #require(SubjectTraces(visitor.description))
    var writer = FieldWriter()
    visitor.write(to: &writer)
    let word = Array(writer.bytes.dropFirst())
    #expect(pipeline.checkpoint().encoded.holds(word))
    #expect(pipeline.observers().contains { $0.id == visitor })
    var events = pipeline.apply(.forget(traces), at: end + .milliseconds(1))
    events += pipeline.advance(to: end + .milliseconds(2))
    #expect(!events.contains { $0.kind == .regionExit })
    #expect(!events.contains { $0.subject != .observer(visitor) && $0.mentions(visitor) })
    #expect(!pipeline.observers().contains { $0.id == visitor })
    #expect(!pipeline.checkpoint().encoded.holds(word))
    // Time runs on: what it alone had heard is not taken for gone because of it.
    events = pipeline.advance(to: end + .seconds(5))
    #expect(!events.contains { $0.mentions(visitor) })
  }

  @Test("decisions after an erasure are the same with any number of shards")
  func sameAtAnyShards() throws {
    var committed: [[String]] = []
    for shards in [1, 2, 4] {
      var (pipeline, end, events) = try Self.busy(shards: shards)
      let beacon = try Self.beacon(in: pipeline)
      for text in [beacon.description, Traffic.handset.description, "attic"] {
        events += pipeline.apply(.forget(try #require(SubjectTraces(text))), at: end + .milliseconds(1))
      }
      for input in Traffic.inputs(seed: 78, count: 400, changes: false) {
        var batch = ReportBatch()
        Traffic.append(input, to: &batch)
        events += pipeline.ingest(batch)
      }
      events += pipeline.advance(to: end + .seconds(300))
      committed.append(events.map { $0.cloudEvent(stream: Traffic.site.stream) })
    }
    #expect(committed[0] == committed[1])
    #expect(committed[0] == committed[2])
  }
}

extension Event {
  /// Whether the event names an observer.
  fileprivate func mentions(_ observer: ObserverID) -> Bool {
    EventRecord(self).names.contains(.observer(observer))
  }
}

extension [UInt8] {
  /// Whether some bytes stand in these, one behind the other.
  fileprivate func holds(_ word: [UInt8]) -> Bool {
    guard count >= word.count else { return false }
    return (0...(count - word.count)).contains { self[$0..<($0 + word.count)].elementsEqual(word) }
  }
}
