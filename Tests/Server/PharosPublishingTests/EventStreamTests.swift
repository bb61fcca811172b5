import OpenCombine
import PharosModel
import PharosPublishing
import PharosSampleEvents
import Testing

@Suite("Streams of a hub", .timeLimit(.minutes(20)))
struct EventStreamTests {
  @Test("each stream carries what it names and nothing else")
  func selection() async {
    let hub = EventHub()
    let uuid = UUID128(high: 1, low: 2)
    let lobby = hub.events(in: "lobby").sequence
    let gallery = hub.events(in: nil, application: "gallery").sequence
    let handset = hub.events(for: .observer(.name("handset"))).sequence
    let exits = hub.events(of: [.regionExit]).sequence
    let near = hub.ranging(.proximity(uuid)).sequence
    let words = hub.regionEvents.sequence
    let batches = hub.batches.sequence
    hub.publish(batch(0..<2, region: "lobby") + batch(2..<3, region: "hall"))
    hub.publish(batch(3..<5, region: "lobby", application: "gallery"))
    hub.publish([
      Sample.ranging(5, application: "default"),
      Sample.ranging(6, application: "default", subject: "other", major: 1),
    ])
    hub.finish()
    #expect(await collect(lobby).map(\.number) == [0, 1])
    #expect(await collect(gallery).map(\.number) == [3, 4])
    #expect(await collect(handset).map(\.number) == [0, 1, 2, 3, 4, 5])
    #expect(await collect(exits).isEmpty)
    #expect(await collect(near).map(\.observer) == [.name("handset")])
    #expect(await collect(words).count == 7)
    #expect(await collect(batches).map(\.count) == [3, 2, 2])
  }

  @Test("publisher and sequence give the same events")
  func twins() async {
    let hub = EventHub()
    let recorder = Recorder<Event, Never>(initial: 1, each: 1)
    hub.events.subscribe(recorder)
    let sequence = hub.events.sequence
    async let fromSequence = collect(sequence)
    for start in stride(from: 0, to: 1_000, by: 13) { hub.publish(batch(start..<min(1_000, start + 13))) }
    hub.finish()
    await recorder.wait { $0.isComplete }
    #expect(await fromSequence == recorder.elements)
    #expect(recorder.elements.count == 1_000)
  }

  @Test("a sequence counts what it drops, and releases its queue")
  func dropped() async {
    let hub = EventHub()
    do {
      let sequence = hub.events.buffering(10).sequence
      hub.publish(batch(0..<25))
      #expect(sequence.dropped == 15)
      #expect(hub.subscriptionCount == 1)
    }
    #expect(hub.subscriptionCount == 0)
  }

  @Test("a sequence that must not lose throws")
  func throwing() async {
    let hub = EventHub()
    let sequence = hub.events.failing(beyond: 2).sequence
    hub.publish(batch(0..<3))
    var numbers: [Int] = []
    do {
      for try await event in sequence { numbers.append(event.number) }
      Issue.record("the sequence ended without an error")
    } catch {
      #expect(error == .overflow(limit: 2))
    }
    #expect(numbers == [0, 1])
  }

  @Test("a cancelled task stops waiting")
  func cancellation() async {
    let hub = EventHub()
    let sequence = hub.events.sequence
    let task = Task { await collect(sequence).count }
    task.cancel()
    #expect(await task.value == 0)
  }
}

/// All elements of a stream that ends.
func collect<S: AsyncSequence & Sendable>(_ sequence: S) async -> [S.Element] where S.Failure == Never {
  var elements: [S.Element] = []
  for await element in sequence { elements.append(element) }
  return elements
}
