import PharosFixes
import PharosModel
import PharosPipeline
import PharosSpace
import Testing

/// Who is located: how many at a time, in which venue, and across edits and restarts.
@Suite("Subjects that are located")
struct SubjectTests {
  private static func walk(_ people: Range<Int>, seconds: Double) -> HallWalk {
    var walk = HallWalk(seed: 5)
    walk.walk(people: people, seconds: seconds)
    return walk
  }

  @Test(
    "beyond the limit the oldest are forgotten, the same ones at any number of shards",
    arguments: [2, 4]
  )
  func limit(shards: Int) throws {
    let venues = [try Hall().ground]
    let inputs = Self.walk(0..<9, seconds: 12).inputs
    let limits = PositioningLimits(subjects: 4)
    var pipeline = try Pipeline(site: Hall.site(), positioning: limits, venues: venues)
    let expected = FixRun(batch: 3).events(of: inputs, by: &pipeline)
    #expect(pipeline.positioningCounters.locating.subjects <= 4)
    #expect(pipeline.positioningCounters.locating.evictions > 20)
    #expect(Set(expected.fixes.map(\.event.id)).count == expected.fixes.count)
    let others = try FixRun(shards: shards, batch: 50)
      .events(of: inputs, on: venues, limits: limits)
    #expect(others.lines == expected.lines)
  }

  @Test("a site that asks for fixes less often gets them so, with the lag that it gives")
  func settings() throws {
    let site = Hall.site(PositioningSettings(interval: .seconds(5), lag: .seconds(2), particles: 200))
    let inputs = Self.walk(0..<1, seconds: 31).inputs
    let fixes = try FixRun().events(of: inputs, on: [Hall().ground], site: site).fixes
    #expect(fixes.count >= 6)
    for (earlier, later) in zip(fixes, fixes.dropFirst()) {
      #expect(later.event.time - earlier.event.time == .seconds(5))
    }
    #expect(fixes.allSatisfy { $0.event.decidedAt == $0.event.time + .seconds(2) })
  }

  @Test("an edited interval holds from the next scan on, and an edit of something else has no effect")
  func adoption() throws {
    let venues = [try Hall().ground]
    let inputs = Self.walk(0..<1, seconds: 40).inputs
    let plain = try FixRun().events(of: inputs, on: venues)
    for (interval, isDisturbed) in [(TimeSpan.seconds(1), false), (.seconds(4), true)] {
      var pipeline = try Pipeline(site: Hall.site(), venues: venues)
      var edited = Hall.site(PositioningSettings(interval: interval))
      edited.pathLossExponent = 2.5
      var events: [Event] = []
      var isEdited = false
      let instant = Hall.start + .seconds(20)
      for input in inputs {
        if !isEdited, input.received > instant {
          events += try pipeline.adopt(edited, at: instant)
          isEdited = true
        }
        events += pipeline.ingest(input.batch)
      }
      events += pipeline.finish(tail: .seconds(10))
      let (before, after) = (
        events.fixes.filter { $0.event.decidedAt < instant },
        events.fixes.filter { $0.event.decidedAt > instant }
      )
      #expect(before.map(\.event.id) == plain.fixes.map(\.event).filter { $0.decidedAt < instant }.map(\.id))
      #expect(after.count > 4)
      for (earlier, later) in zip(after, after.dropFirst()) {
        #expect(later.event.time - earlier.event.time == interval)
      }
      #expect((events.fixes.map(\.event.id) == plain.fixes.map(\.event.id)) == !isDisturbed)
      #expect(Set(events.fixes.map(\.event.id)).count == events.fixes.count)
    }
  }

  @Test("a subject that walks into another venue is located there, and its fixes name it")
  func venues() throws {
    let (one, two) = (Hall(number: 1), Hall(number: 2))
    var (walk, further) = (HallWalk(one, seed: 8), HallWalk(two, seed: 9))
    walk.walk(people: 0..<1, seconds: 20)
    further.walk(people: 0..<1, from: 20, seconds: 30)
    let inputs =
      walk.inputs + further.inputs.filter { $0.received > walk.inputs[walk.inputs.count - 1].received }
    let fixes = try FixRun().events(of: inputs, on: [one.ground, two.ground]).fixes
    let venues = fixes.map(\.fix.venue)
    #expect(venues.first == "hall-1" && venues.last == "hall-2")
    #expect(zip(venues, venues.dropFirst()).count { $0 != $1 } == 1, "there is one change and no way back")
    let changed = try #require(fixes.first { $0.fix.venue == "hall-2" }?.event.time)
    #expect(changed < Hall.start + .seconds(30))
    // Began in the second hall, it is looked for there from the first scan on.
    let there = try FixRun().events(of: further.inputs, on: [one.ground, two.ground]).fixes
    #expect(there.allSatisfy { $0.fix.venue == "hall-2" })
    #expect(there.count > 25)
  }

  @Test("after a restart all subjects are located again, and no id is given twice")
  func restart() throws {
    let venues = [try Hall().ground]
    let inputs = Self.walk(0..<3, seconds: 40).inputs
    let cut = inputs.count / 2
    var pipeline = try Pipeline(site: Hall.site(), venues: venues)
    var events: [Event] = []
    for input in inputs[..<cut] { events += pipeline.ingest(input.batch) }
    events += pipeline.advance(to: inputs[cut - 1].received)
    let checkpoint = try Checkpoint(decoding: pipeline.checkpoint().encoded)
    var next = try Pipeline(site: Hall.site(), restoring: checkpoint, shards: 2, venues: venues)
    events += next.resume(at: inputs[cut - 1].received + .milliseconds(1), publishedState: PublishedState())
    let before = events.fixes.count
    for input in inputs[cut...] where input.received > inputs[cut - 1].received {
      events += next.ingest(input.batch)
    }
    events += next.finish(tail: .seconds(5))
    #expect(before > 20)
    #expect(events.fixes.count > before + 40)
    #expect(Set(events.fixes.map(\.event.id)).count == events.fixes.count)
    #expect(Set(events.fixes[before...].map(\.event.subject)).count == 3)
  }

  @Test("a checkpoint of a pipeline with venues is read by one without, and the other way round")
  func checkpoints() throws {
    let inputs = Self.walk(0..<3, seconds: 5).inputs
    for (venues, others) in [([try Hall().ground], []), ([], [try Hall().ground])] {
      var pipeline = try Pipeline(site: Hall.site(), venues: venues)
      for input in inputs { _ = pipeline.ingest(input.batch) }
      _ = pipeline.finish()
      let checkpoint = try Checkpoint(decoding: pipeline.checkpoint().encoded)
      let other = try Pipeline(site: Hall.site(), restoring: checkpoint, venues: others)
      #expect(other.observers().count == 3)
    }
  }
}
