import PharosDelivery
import PharosJournal
import PharosModel
import PharosPublishing
import PharosSimulation

/// A program on the network that follows the stream: it reads at its own pace, goes, and comes back with the last number it has.
final class FeedClient {
  /// The received events, in order.
  private(set) var seen: [(sequence: Int64, event: Event)] = []
  /// Whether it is connected.
  var isConnected: Bool { feed != nil }
  let filter: EventFilter
  /// How many events may wait for it.
  let limit: Int

  /// The application that it belongs to; nil for the operator's.
  private let application: String?

  private unowned let world: FaultWorld
  private let name: Int
  private var random: RandomStream
  private var feed: Feed?
  /// Connections that it abandoned without a close, which the server cannot notice.
  private var abandoned: [Feed] = []
  private var cursor: Int64 = 0
  /// Its token, which the server knows it by, and when that expires; nil where tokens have no end.
  private var token: (client: String, expires: TrueTime)?
  private var tokens = 0

  /// For so long a stream may outlive its token: the period of the ticks of a run, and one that is under way.
  private static let graceOfTokens = TrueTime.seconds(0.6)

  init(_ name: Int, in world: FaultWorld) {
    self.name = name
    self.world = world
    random = RandomStream(seed: world.plan.seed, 4, UInt64(name))
    limit = random.chance(0.5) ? 16 : 256
    application = world.plan.kinds.contains(.withdraw) && name == 0 ? Consents.application : nil
    filter =
      switch random.next() % 4 {
      case 0: EventFilter(kinds: [.regionEnter, .regionExit])
      case 1: EventFilter(regions: ["tags"])
      default: .all
      }
  }

  /// Begins to follow.
  func begin() { schedule(after: random.uniform(0, 2)) }

  /// The server is gone, and the connection with it.
  func disconnect() {
    feed = nil
    abandoned = []
  }

  private func schedule(after seconds: Double) {
    world.clockwork.after(.seconds(seconds)) { [weak self] in self?.step() }
  }

  private func step() {
    let isTroubled = world.isTroubled
    if isTroubled, world.plan.kinds.contains(.vanish), random.chance(0.04) {
      vanish()
      return schedule(after: random.uniform(1, 40))
    }
    if isTroubled, world.plan.kinds.contains(.block), random.chance(0.04) {
      world.tally.count(.block)
      return schedule(after: random.uniform(2, 60))
    }
    if feed == nil { connect() }
    read()
    schedule(after: random.uniform(0.05, 1))
  }

  private func vanish() {
    world.tally.count(.vanish)
    if let feed, random.chance(0.5) {
      abandoned.append(feed)
      if abandoned.count > 2 { abandoned.removeFirst() }
    }
    feed = nil
  }

  private func connect() {
    guard let life = world.life, !life.isStopping else { return }
    var after = cursor
    switch world.plant {
    case .resumeRepeats where after > 0: after -= 1
    case .resumeSkips where after > 0: after += 1
    default: break
    }
    renewToken()
    do {
      feed = try life.feeds.open(
        FeedRequest(
          filter: filter,
          after: after,
          limit: limit,
          application: application,
          client: token?.client
        )
      )
      world.trace("client \(name) connects after \(cursor)")
    } catch {
      world.violate(.subscriber, "client \(name) is refused: \(error)")
    }
  }

  /// Takes a new token where the old one has expired.
  private func renewToken() {
    guard let life = world.plan.tokenLife, world.isTroubled || token != nil else { return }
    if let token, token.expires > world.clockwork.now { return }
    tokens += 1
    let isLast = !world.isTroubled
    token = ("\(name)/\(tokens)", isLast ? .max : world.clockwork.now + life)
  }

  /// Returns whether a token is one of its own that has expired.
  func hasEnded(_ client: String) -> Bool {
    guard let token, client.hasPrefix("\(name)/") else { return false }
    return client != token.client || token.expires <= world.clockwork.now
  }

  /// Reads what is there; what a client that crashes had not looked at yet, it does not know.
  func read() {
    for _ in 0..<100 {
      guard let feed else { return }
      guard let items = feed.poll() else {
        self.feed = nil
        return
      }
      guard !items.isEmpty else { return }
      if let token, token.expires < world.clockwork.now - FeedClient.graceOfTokens {
        world.violate(.leak, "client \(name) is given events although its token has expired")
      }
      let crashes = world.isTroubled && world.plan.kinds.contains(.vanish) && random.chance(0.01)
      let known = crashes ? Int(random.next() % UInt64(items.count)) : items.count
      for item in items.prefix(known) { receive(item) }
      if crashes { return vanish() }
    }
  }

  /// Comes back if it is away, and reads to the end.
  func catchUp() {
    if feed == nil { connect() }
    read()
  }

  /// Checks the received events against the journal: all that it wants, once, in order.
  func check(against journal: [JournaledEvent]) {
    let hidden = world.consents.everHidden
    let expected = journal.filter { filter.matches($0.event) && !hidden.contains($0.event.subject) }
    let seen = seen.filter { !hidden.contains($0.event.subject) }
    for (index, committed) in seen.enumerated() where index < expected.count {
      guard committed.sequence == expected[index].sequence,
        committed.event.isPublished(like: expected[index].event)
      else {
        return world.violate(
          .subscriber,
          "client \(name) received \(committed.sequence) (\(committed.event.kind)) where \(expected[index].sequence) belongs"
        )
      }
    }
    if seen.count != expected.count {
      world.violate(.subscriber, "client \(name) received \(seen.count) events of \(expected.count)")
    }
  }

  private func receive(_ item: FeedItem) {
    switch item {
    case .event(let published):
      if world.consents.isLeak(published.event, since: world.clockwork.now) {
        world.violate(
          .leak,
          "client \(name) is given \(published.event.kind) of \(published.event.subject), who is hidden"
        )
      }
      guard let sequence = published.sequence else { return }
      if sequence <= cursor, world.plant != .resumeSkips || sequence < cursor {
        world.violate(.subscriber, "client \(name) received \(sequence) although it knows \(cursor)")
      }
      seen.append((sequence, published.event))
      cursor = max(cursor, sequence)
    case .gap(let from, let to):
      world.violate(
        .subscriber,
        "client \(name) received a gap from \(from) to \(to), and nothing was dropped"
      )
    case .restart(let from, let to):
      world.violate(.subscriber, "client \(name) knows \(from) to \(to), which the journal never had")
    case .dropped, .heartbeat: break
    }
  }
}
