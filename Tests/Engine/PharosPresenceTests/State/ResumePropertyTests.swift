import PharosModel
import PharosPresence
import PharosTestSupport
import Testing

/// Random worlds, a checkpoint, a crash and a start at random: the events before the crash and the events after the
/// start make one story.
@Suite("Before the crash and after the start is one story")
struct ResumePropertyTests {
  /// The events that a journal holds when the server starts again, and those published from then on.
  struct Story {
    var before: [Event] = []
    var after: [Event] = []
    var start = Timestamp.distantPast
  }

  static func play(seed: Int) throws -> Story {
    let world = StateWorld(seed: seed, count: 1_200, changes: false)
    var random = SeededGenerator(seed: UInt64(seed) &+ 99)
    let checkpoint = Int.random(in: 200...500, using: &random)
    let crash = checkpoint + Int.random(in: 1...300, using: &random)
    let down: Double = [0.5, 20, 900, 40_000].randomElement(using: &random) ?? 20
    var run = StateRun(world, shards: Int.random(in: 1...3, using: &random))
    var parts: [[UInt8]] = []
    var covered = 0
    for (number, (time, input)) in world.inputs.prefix(crash).enumerated() {
      if number == checkpoint {
        run.advance(to: time - 1e-6)
        parts = run.parts
        covered = run.output.events.count
      }
      run.give(input, at: time)
    }
    let crashed = world.inputs[crash - 1].time
    run.advance(to: crashed)
    var story = Story(before: run.output.events)
    let committed = StateTable(after: story.before[covered...].sorted(by: Event.isOrderedBefore)).state

    let shards = Int.random(in: 1...3, using: &random)
    run.engines = try StateRun.revived(world, parts, shards, run.limits)
    run.output.removeAll()
    story.start = Timeline.at(crashed + down)
    for index in run.engines.indices {
      var words = committed
      func isOurs(_ id: ObserverID) -> Bool { id.shard(of: shards) == index }
      words.observers = committed.observers.filter { isOurs($0.observer) }
      words.regions = committed.regions.filter { word in
        guard case .observer(let id) = word.subject else { return true }
        return isOurs(id)
      }
      run.engines[index].resume(at: story.start, publishedState: words, into: &run.output)
    }
    // Only stage two receives changes, of what is no longer known.
    #expect(run.output.events.isEmpty, "the start itself tells nothing")

    for (time, input) in world.inputs.dropFirst(crash) { run.give(input, at: time + down) }
    run.advance(to: (world.inputs.last?.time ?? 0) + down + 2_000)
    story.after = run.output.events.sorted(by: Event.isOrderedBefore)
    return story
  }

  private struct Row: Hashable {
    var application: String
    var region: String
    var subject: SubjectID
  }

  @Test(
    "states join up, enters and exits alternate, ids are used once, and nothing happened while the server was down",
    arguments: Seeds.drawn(0..<16)
  )
  func oneStory(seed: Int) throws {
    let story = try ResumePropertyTests.play(seed: seed)
    #expect(story.after.count > 20, "seed \(seed)")
    let events = story.before.sorted(by: Event.isOrderedBefore) + story.after
    var seen: [EventID: Event] = [:]
    for event in events {
      let other = seen.updateValue(event, forKey: event.id)
      #expect(
        other == nil,
        "seed \(seed): an id is used twice, by \(event.kind) and \(String(describing: other))"
      )
    }
    var states: [Row: RegionState] = [:]
    var isInside: [Row: Bool] = [:]
    for event in events {
      guard case .region(let transition) = event.detail else { continue }
      let row = Row(application: event.application, region: event.region, subject: event.subject)
      switch event.kind {
      case .regionState where !transition.isAnswer:
        if let state = states[row] {
          #expect(transition.from == state, "seed \(seed): \(row) at \(event.time)")
        }
        states[row] = transition.to
      case .regionEnter:
        #expect(isInside[row] != true, "seed \(seed): \(row) enters twice")
        isInside[row] = true
      case .regionExit:
        #expect(isInside[row] ?? true, "seed \(seed): \(row) leaves twice")
        isInside[row] = false
      default: break
      }
    }
    for event in story.after {
      #expect(event.decidedAt >= story.start, "seed \(seed)")
      switch event.kind {
      case .regionExit, .observerOffline:
        #expect(event.time >= story.start, "seed \(seed): \(event)")
      default: break
      }
    }
  }
}
