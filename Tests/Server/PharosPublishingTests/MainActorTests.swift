import Dispatch
import OpenCombine
import PharosModel
import PharosPublishing
import PharosSampleEvents
import Testing

/// Programs as they are written on the main actor, from memory.
///
/// With OpenCombine's own operators each of them compiles without a warning and ends at the first event: the closures are
/// isolated to the main actor, and the subscription's queue calls them.
@MainActor
@Suite("Closures on the main actor", .timeLimit(.minutes(20)))
struct MainActorTests {
  private func numbers(
    of hub: EventHub,
    _ subscribe: (AsyncStream<Int>.Continuation) -> AnyCancellable
  ) async -> [Int] {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let subscription = subscribe(continuation)
    hub.publish(batch(0..<6))
    hub.finish()
    var numbers: [Int] = []
    for await number in stream { numbers.append(number) }
    withExtendedLifetime(subscription) {}
    return numbers
  }

  @Test("each operator calls its closure away from the main actor")
  func operators() async {
    let hub = EventHub()
    let seen = await numbers(of: hub) { continuation in
      hub.events
        .filter { $0.kind == .regionEnter }
        .map { $0 }
        .compactMap { $0.number.isMultiple(of: 2) ? $0 : nil }
        .map(\.number)
        .sink(
          receiveCompletion: { _ in continuation.finish() },
          receiveValue: { continuation.yield($0) }
        )
    }
    #expect(seen == [0, 2, 4])
  }

  @Test("a sink behind an operator of OpenCombine is called away from the main actor")
  func foreignOperator() async {
    let hub = EventHub()
    let seen = await numbers(of: hub) { continuation in
      hub.events.map { $0.number / 2 }
        .removeDuplicates()
        .sink(
          receiveCompletion: { _ in continuation.finish() },
          receiveValue: { continuation.yield($0) }
        )
    }
    #expect(seen == [0, 1, 2])
  }

  @Test("a sink without a completion, on each stream of a hub")
  func streams() async {
    let hub = EventHub()
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    let subscriptions = [
      hub.events(in: "entrance").sink { continuation.yield($0.number) },
      hub.regionEvents.first().sink { _ in continuation.yield(-1) },
      hub.batches.sink { continuation.yield($0.count) },
      hub.fixes().sink { continuation.yield(Int($0.time.nanoseconds)) },
      hub.visits.sink { _ in continuation.yield(-3) },
      hub.ranging().sink { continuation.yield($0.beacons.count) },
    ]
    hub.publish(batch(7..<8))
    var numbers: [Int] = []
    for await number in stream {
      numbers.append(number)
      if numbers.count == 3 { break }
    }
    #expect(numbers.sorted() == [-1, 1, 7])
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test("the first element ends its stream, and its subscription leaves the hub")
  func first() async {
    let hub = EventHub()
    let recorder = Recorder<Event, Never>(initial: 1)
    hub.events.first { $0.number > 2 }.subscribe(recorder)
    let values = hub.events.first { $0.number > 2 }.map(\.number).values
    hub.publish(batch(0..<10))
    await recorder.wait { $0.isComplete }
    #expect(recorder.elements.map(\.number) == [3])
    #expect(await collect(values) == [3])
    hub.publish(batch(10..<20))
    #expect(recorder.elements.count == 1)
    #expect(hub.subscriptionCount == 1, "the sequence is still kept")
    #expect(await collect(hub.events.prefix(0).values).isEmpty)
  }

  @Test("elements that an operator leaves out count towards the limit, not towards the demand")
  func demand() async {
    let hub = EventHub()
    let recorder = Recorder<Event, Never>(initial: 2)
    let odd = hub.events.buffering(8).filter { !$0.number.isMultiple(of: 2) }
    odd.subscribe(recorder)
    let waiting = odd.values
    hub.publish(batch(0..<10))
    await recorder.wait { $0.elements.count == 2 }
    #expect(recorder.elements.map(\.number) == [3, 5])
    #expect(waiting.dropped == 2)
    recorder.request(10)
    hub.finish()
    await recorder.wait { $0.isComplete }
    #expect(recorder.elements.map(\.number) == [3, 5, 7, 9])
    #expect(await collect(waiting).map(\.number) == [3, 5, 7, 9])
  }

  @Test("streams with operators keep the hub's order when they are merged")
  func merging() async {
    let hub = EventHub()
    let merged = hub.events.filter { $0.number < 2 }
      .merge(with: hub.events.filter { $0.number > 3 }.first())
      .values
    hub.publish(batch(0..<6))
    hub.finish()
    #expect(await collect(merged).map(\.number) == [0, 1, 4])
  }

  @Test("a closure that blocks delays neither the sender nor other subscribers")
  func blocked() async {
    let hub = EventHub()
    let (entered, entry) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let slow = Recorder<Int, Never>(initial: nil)
    hub.events
      .map { event in
        entry.yield()
        gate.wait()
        return event.number
      }
      .subscribe(slow)
    hub.publish(batch(0..<1))
    for await _ in entered { break }
    let free = Recorder<Event, Never>(initial: nil)
    hub.events.subscribe(free)
    hub.publish(batch(1..<3))
    await free.wait { $0.elements.count == 2 }
    #expect(slow.elements.isEmpty)
    for _ in 0..<3 { gate.signal() }
    await slow.wait { $0.elements.count == 3 }
  }
}
