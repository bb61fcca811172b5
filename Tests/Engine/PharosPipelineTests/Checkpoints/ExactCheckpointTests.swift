import PharosDocuments
import PharosFixes
import PharosModel
import PharosPipeline
import PharosPresence
import PharosTestSupport
import Testing

/// A pipeline that is restored exactly continues with the same events to the byte, fixes included.
@Suite("An exact checkpoint")
struct ExactCheckpointTests {
  /// The site of the hall, with short visits.
  private static let site: Site = {
    var site = Hall.site()
    site.visits = VisitSettings(minimum: .seconds(20), radius: 25, hold: .seconds(60))
    return site
  }()

  /// A pipeline in which three people are guided, one of them along an itinerary as well, and one to another person.
  private static func begin(on venues: [LocatableVenue], _ events: inout [Event]) throws -> Pipeline {
    var pipeline = try Pipeline(site: site, venues: venues)
    let (west, east) = (
      Itinerary.Waypoint(latitude: 52.600_1, longitude: 13.400_06),
      Itinerary.Waypoint(latitude: 52.600_1, longitude: 13.400_4)
    )
    let (first, second) = (
      SubjectID.observer(HallWalk.handset(0)), SubjectID.observer(HallWalk.handset(1))
    )
    for change in [
      RegionChange.setGuidance(subject: first, GuidanceRequest(to: .position(east))),
      .setGuidance(subject: second, GuidanceRequest(to: .position(west))),
      .setItinerary(subject: second, Itinerary([west, east])),
      .setGuidance(
        subject: .observer(HallWalk.handset(2)),
        GuidanceRequest(to: .subject(GuidanceRequest.Moving(first)))
      ),
    ] {
      events += pipeline.apply(change, at: Hall.start - .seconds(1))
    }
    return pipeline
  }

  /// The events of a walk without an interruption.
  private static func whole(_ walk: HallWalk, on venues: [LocatableVenue]) throws -> [Event] {
    var events: [Event] = []
    var pipeline = try begin(on: venues, &events)
    return events + FixRun(tail: .minutes(3)).events(of: walk.inputs, by: &pipeline)
  }

  /// A walk of some people and tags through a hall, with all that handsets can report of where they are.
  private static func walk(seed: UInt64) -> HallWalk {
    var walk = HallWalk(seed: seed)
    var random = SeededGenerator(seed: seed)
    for step in 0..<240 {
      let time = Double(step) / 4
      var batch = ReportBatch()
      let body = report(step, at: time, &random, &batch)
      walk.add(body, to: &batch, by: HallWalk.handset(Int.random(in: 0..<4, using: &random)), at: time)
    }
    walk.walk(people: 0..<4, seconds: 60)
    walk.carry(tags: 10..<11, seconds: 60)
    walk.carry(tags: 11..<12, seconds: 60, atRest: true)
    return walk
  }

  private static func report(
    _ step: Int,
    at time: Double,
    _ random: inout SeededGenerator,
    _ batch: inout ReportBatch
  ) -> ReportBody {
    func sample(_ kind: MotionSample.Kind, _ x: Float, _ y: Float, _ z: Float) -> ReportBody {
      .motion(
        batch.append(motionSamples: [MotionSample(kind: kind, age: .milliseconds(20), x: x, y: y, z: z)])
      )
    }
    let noise = Float.random(in: -1...1, using: &random)
    switch step % 8 {
    case 0: return sample(.accelerometer, noise, 0.5, 9.8 + noise)
    case 1: return sample(.gyroscope, 0.02, noise / 4, 0.1)
    case 2: return sample(.magnetometer, 5 + noise, 20, -43)
    case 3: return sample(.barometer, 1_000 + noise / 10, 0, 0)
    case 4:
      var fix = OutsideFix(
        latitude: 52.600_1,
        longitude: 13.4 + Double(noise) / 10_000,
        horizontalAccuracy: Meters(8),
        speed: 1.2,
        source: step % 16 == 4 ? .gnss : .vps,
        altitude: Meters(40)
      )
      (fix.course, fix.verticalAccuracy) = (90, Meters(6))
      return .outsideFix(fix)
    case 5, 6:
      let pose = RelativePose(
        session: UInt32(step / 80),
        interval: .milliseconds(200),
        x: 0.2 + noise / 10,
        y: noise / 10,
        z: 0,
        rotation: .identity
      )
      return .relativePose(pose)
    default:
      return .visualStatus(VisualStatus(state: .degradedPositioning, reasons: .lowLight, scan: .started))
    }
  }

  /// The events of a walk that is cut at random, and continued each time by a pipeline of other shards.
  private static func interrupted(
    _ walk: HallWalk,
    _ venues: [LocatableVenue],
    seed: UInt64,
    exactly: Bool
  ) throws -> (events: [Event], cuts: Int) {
    var random = SeededGenerator(seed: seed)
    var (events, cuts) = ([Event](), 0)
    var pipeline = try begin(on: venues, &events)
    var latest = Timestamp.distantPast
    for input in walk.inputs {
      if latest != .distantPast, (input.received - latest).nanoseconds > 1,
        Int.random(in: 0..<60, using: &random) == 0
      {
        let room = (input.received - latest).nanoseconds
        events += pipeline.advance(
          to: latest + TimeSpan(nanoseconds: Int64.random(in: 0..<room, using: &random))
        )
        let written = pipeline.checkpoint(exactly: exactly)
        #expect(written.isExact == exactly)
        let checkpoint = try Checkpoint(decoding: written.encoded)
        #expect(checkpoint == written)
        pipeline = try Pipeline(
          site: site,
          restoring: checkpoint,
          shards: Int.random(in: 1...4, using: &random),
          venues: venues
        )
        cuts += 1
      }
      latest = max(latest, input.received)
      events += pipeline.ingest(input.batch)
    }
    return (events + pipeline.finish(tail: .minutes(3)), cuts)
  }

  @Test("continues fixes as if nothing had been, at random cuts and shard counts", arguments: [true, false])
  func fixes(hasVenue: Bool) throws {
    var kinds: Set<EventKind> = []
    for seed in Seeds.drawn(0..<8 as Range<UInt64>, first: 2) {
      let venues = hasVenue ? [try Hall().ground] : []
      let walk = Self.walk(seed: seed)
      let expected = try Self.whole(walk, on: venues)
      #expect(expected.fixes.count > (hasVenue ? 100 : 10), "too little to prove anything")
      kinds.formUnion(expected.map(\.kind))
      let (events, cuts) = try Self.interrupted(walk, venues, seed: seed, exactly: true)
      #expect(cuts > 5, "too few cuts to prove anything")
      #expect(parting(events, expected) == nil, "seed \(seed)")
    }
    if hasVenue { #expect(kinds.isSuperset(of: [.visitArrive, .guidance])) }
  }

  @Test("is larger than one to start again from, with which fixes begin again")
  func inexact() throws {
    let venues = [try Hall().ground]
    let walk = Self.walk(seed: 1)
    let expected = try Self.whole(walk, on: venues)
    let (events, _) = try Self.interrupted(walk, venues, seed: 1, exactly: false)
    #expect(events.lines != expected.lines)
    // Everything else is the same.
    let kinds: Set<EventKind> = [.regionEnter, .regionExit, .observerOnline, .observerOffline]
    #expect(
      events.filter { kinds.contains($0.kind) }.lines == expected.filter { kinds.contains($0.kind) }.lines
    )
    #expect(expected.contains { kinds.contains($0.kind) })
  }

  @Test("is refused by a pipeline with other venues, and as a recording continues with none of its places")
  func otherVenues() throws {
    let venues = [try Hall().ground]
    var pipeline = try Pipeline(site: Hall.site(), venues: venues)
    let walk = Self.walk(seed: 2)
    for input in walk.inputs.prefix(300) { _ = pipeline.ingest(input.batch) }
    let instant = walk.inputs[299].received + .seconds(1)
    _ = pipeline.advance(to: instant)
    let checkpoint = pipeline.checkpoint(exactly: true)
    let error = #expect(throws: FieldError.self) {
      try Pipeline(site: Hall.site(), restoring: checkpoint, venues: [])
    }
    #expect(error?.description.contains("the venues") == true)
    // Restored to start again, all are located from the start, and no venue is asked for.
    var resumed = try Pipeline(site: Hall.site())
    _ = resumed.process(.restored(Restoration(checkpoint: checkpoint), at: instant + .seconds(60)))
    #expect(resumed.counters.refusedCheckpoints == 0)
    var continued = try Pipeline(site: Hall.site())
    _ = continued.process(.restored(Restoration(checkpoint: checkpoint), at: instant))
    #expect(continued.counters.refusedCheckpoints == 0)
    #expect(continued.insideNow() == resumed.insideNow())
  }
}
