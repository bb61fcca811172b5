import OpenCombine
import PharosModel
import PharosPublishing
import PharosSimulation

/// A part of the server's own program that follows an OpenCombine stream: it asks for a few events at a time, and sometimes for none.
///
/// It belongs to one run of the server, and to one world's thread, hence `@unchecked Sendable`.
final class StreamClient: Subscriber, @unchecked Sendable {
  typealias Input = Event
  typealias Failure = PublishingError

  let combineIdentifier = CombineIdentifier()
  private unowned let world: FaultWorld
  private let life: Int
  private let limit: Int
  private let failsWhenFull: Bool
  private var random: RandomStream
  private var subscription: (any Subscription)?
  private var received: [EventID] = []
  private var expected: [EventID] = []
  private var dropped = 0
  private var asked = 0
  private var failure: PublishingError?

  init(_ name: Int, of life: Life, in world: FaultWorld) {
    self.world = world
    self.life = life.number
    random = RandomStream(seed: world.plan.seed, 5, UInt64(name), UInt64(life.number))
    limit = 1 + Int(random.next() % 40)
    failsWhenFull = random.chance(0.3)
    life.hub.tap { [weak self] batch in self?.expected += batch.map(\.id) }
    let thread = SerialThread(world.clockwork, owner: life.number)
    let stream = life.hub.events.called { work in thread.submit { work() } }
    if failsWhenFull {
      stream.failing(beyond: limit).subscribe(self)
    } else {
      stream.buffering(limit) { [weak self] count in self?.dropped += count }
        .setFailureType(to: PublishingError.self)
        .subscribe(self)
    }
    schedule()
  }

  func receive(subscription: any Subscription) { self.subscription = subscription }

  func receive(_ input: Event) -> Subscribers.Demand {
    received.append(input.id)
    return .none
  }

  func receive(completion: Subscribers.Completion<PublishingError>) {
    if case .failure(let failure) = completion { self.failure = failure }
    subscription = nil
  }

  private func schedule() {
    world.clockwork.after(.seconds(random.uniform(0.1, 10)), owner: life) { [weak self] in
      guard let self, let subscription else { return }
      let more = Int(random.next() % 20)
      asked += more
      if more > 0 { subscription.request(.max(more)) }
      schedule()
    }
  }

  /// Holds what came against what was published.
  func check() {
    let name = "a stream of run \(life)"
    if received.count > asked {
      world.violate(.stream, "\(name) gave \(received.count), asked were \(asked)")
    }
    if failsWhenFull {
      if !expected.starts(with: received) {
        world.violate(.stream, "\(name) gave others than were published")
      }
      let isOver = expected.count - received.count > limit
      if failure != nil, !isOver, expected.count <= limit {
        world.violate(.stream, "\(name) failed with \(expected.count) published and room for \(limit)")
      }
      return
    }
    var place = expected.startIndex
    for id in received {
      guard let found = expected[place...].firstIndex(of: id) else {
        return world.violate(.stream, "\(name) gave one twice, out of order, or one that was not published")
      }
      place = found + 1
    }
    let waiting = expected.count - received.count - dropped
    if waiting < 0 || waiting > limit {
      world.violate(
        .stream,
        "\(name): \(expected.count) published, \(received.count) received, \(dropped) dropped, \(waiting) wait, room for \(limit)"
      )
    }
  }

  /// The run is over.
  func end() { subscription = nil }
}
