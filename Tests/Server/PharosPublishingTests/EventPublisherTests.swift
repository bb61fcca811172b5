import Dispatch
import OpenCombine
import PharosModel
import PharosPublishing
import PharosSampleEvents
import Synchronization
import Testing

@Suite("Publishers", .timeLimit(.minutes(20)))
struct EventPublisherTests {
  @Test("everything arrives once and in order", arguments: [1, 7, 1_000])
  func order(batchSize: Int) async {
    let hub = EventHub()
    let recorder = Recorder<Event, Never>(initial: nil)
    hub.events.subscribe(recorder)
    for start in stride(from: 0, to: 3_000, by: batchSize) {
      hub.publish(batch(start..<min(3_000, start + batchSize)))
    }
    await recorder.wait { $0.elements.count == 3_000 }
    #expect(recorder.elements.map(\.number) == Array(0..<3_000))
  }

  @Test(
    "a subscriber gets what it asked for and not one more",
    arguments: [
      (initial: 0, each: 0, later: 0, expected: 0), (initial: 3, each: 0, later: 0, expected: 3),
      (initial: 1, each: 1, later: 0, expected: 10), (initial: 2, each: 0, later: 5, expected: 7),
      (initial: 0, each: 0, later: 100, expected: 10), (initial: 1, each: 2, later: 0, expected: 10),
    ]
  )
  func demand(initial: Int, each: Int, later: Int, expected: Int) async {
    let hub = EventHub()
    let recorder = Recorder<Event, Never>(initial: initial, each: each)
    hub.events.subscribe(recorder)
    hub.publish(batch(0..<6))
    hub.publish(batch(6..<10))
    if later > 0 { recorder.request(later) }
    if expected > 0 { await recorder.wait { $0.elements.count >= expected } }
    // The completion needs no demand but waits for the elements: after it none can follow.
    hub.finish()
    if expected == 10 { await recorder.wait { $0.isComplete } }
    #expect(recorder.elements.map(\.number) == Array(0..<expected))
  }

  @Test("a stream ends after its last element")
  func finish() async {
    let hub = EventHub()
    let recorder = Recorder<Event, Never>(initial: nil)
    hub.events.subscribe(recorder)
    hub.publish(batch(0..<100))
    hub.finish()
    await recorder.wait { $0.isComplete }
    #expect(recorder.elements.count == 100)
    let late = Recorder<Event, Never>(initial: nil)
    hub.events.subscribe(late)
    await late.wait { $0.isComplete }
    #expect(late.elements.isEmpty)
    #expect(hub.subscriptionCount == 0)
  }

  @Test("a full queue drops the oldest, counts them and says so")
  func dropOldest() async {
    let hub = EventHub()
    let dropped = Mutex(0)
    let recorder = Recorder<Event, Never>(initial: 0)
    hub.events.buffering(5) { count in dropped.withLock { $0 += count } }.subscribe(recorder)
    hub.publish(batch(0..<4))
    hub.publish(batch(4..<8))
    hub.publish(batch(8..<9))
    recorder.request(100)
    await recorder.wait { $0.elements.count == 5 }
    #expect(recorder.elements.map(\.number) == Array(4..<9))
    #expect(dropped.withLock { $0 } == 4)
  }

  @Test("a batch larger than the queue leaves its newest part")
  func largeBatch() async {
    let hub = EventHub()
    let recorder = Recorder<Event, Never>(initial: 0)
    hub.events.buffering(3).subscribe(recorder)
    hub.publish(batch(0..<100))
    recorder.request(100)
    await recorder.wait { $0.elements.count == 3 }
    #expect(recorder.elements.map(\.number) == [97, 98, 99])
  }

  @Test("a stream that must not lose ends with an error after what it held")
  func failing() async {
    let hub = EventHub()
    let recorder = Recorder<Event, PublishingError>(initial: 0)
    hub.events.failing(beyond: 5).subscribe(recorder)
    hub.publish(batch(0..<4))
    hub.publish(batch(4..<8))
    hub.publish(batch(8..<9))
    recorder.request(100)
    await recorder.wait { $0.isComplete }
    #expect(recorder.elements.map(\.number) == Array(0..<5))
    #expect(recorder.seen.withLock { $0.failure } == .overflow(limit: 5))
    #expect(PublishingError.overflow(limit: 5).description.contains("more than 5 events"))
  }

  @Test("after a cancellation nothing arrives")
  func cancel() async {
    let hub = EventHub()
    let gate = DispatchSemaphore(value: 0)
    let entered = AsyncStream<Void>.makeStream()
    let recorder = Recorder<Event, Never>(initial: nil) { _ in
      entered.continuation.yield()
      gate.wait()
    }
    hub.events.subscribe(recorder)
    hub.publish(batch(0..<10))
    for await _ in entered.stream { break }
    recorder.cancel()
    gate.signal()
    await recorder.wait { $0.elements.count == 1 }
    #expect(hub.subscriptionCount == 0)
    hub.publish(batch(10..<20))
    let probe = Recorder<Event, Never>(initial: nil)
    hub.events.subscribe(probe)
    hub.publish(batch(20..<21))
    await probe.wait { $0.elements.count == 1 }
    #expect(recorder.elements.count == 1)
  }

  @Test("blocked subscribers delay neither the sender nor other subscribers")
  func blocked() async {
    let hub = EventHub()
    let gate = DispatchSemaphore(value: 0)
    let blocked = (0..<16).map { _ in Recorder<Event, Never>(initial: nil) { _ in gate.wait() } }
    for recorder in blocked { hub.events.subscribe(recorder) }
    let free = Recorder<Event, Never>(initial: nil)
    hub.events.subscribe(free)
    for start in 0..<50 { hub.publish(batch(start * 10..<start * 10 + 10)) }
    // Reached while every blocked subscriber still holds its first event.
    await free.wait { $0.elements.count == 500 }
    #expect(blocked.allSatisfy { $0.elements.isEmpty })
    for _ in blocked { for _ in 0..<500 { gate.signal() } }
    for recorder in blocked { await recorder.wait { $0.elements.count == 500 } }
  }

  @Test("a sink inside an actor runs off the actor and does no harm")
  func actorTrap() async {
    let hub = EventHub()
    let collector = Collector()
    let numbers = await collector.collect(5, from: hub) { hub.publish(batch(0..<5)) }
    #expect(numbers == [0, 1, 2, 3, 4])
  }

  @Test("a thousand subscribers see the same")
  func thousand() async {
    let hub = EventHub()
    let recorders = (0..<1_000).map { _ in Recorder<Event, Never>(initial: nil) }
    for recorder in recorders { hub.events.subscribe(recorder) }
    hub.publish(batch(0..<3))
    hub.finish()
    for recorder in recorders { await recorder.wait { $0.isComplete } }
    #expect(recorders.allSatisfy { $0.elements.map(\.number) == [0, 1, 2] })
  }
}

private actor Collector {
  private var cancellable: AnyCancellable?

  func collect(_ count: Int, from hub: EventHub, publish: @Sendable () -> Void) async -> [Int] {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    cancellable = hub.events.sink { event in continuation.yield(event.number) }
    publish()
    var numbers: [Int] = []
    for await number in stream {
      numbers.append(number)
      if numbers.count == count { break }
    }
    cancellable = nil
    return numbers
  }
}
