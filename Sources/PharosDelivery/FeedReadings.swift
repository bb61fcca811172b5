import PharosPublishing

/// The readings that wait for one client: each of them, or the newest about each thing.
struct FeedReadings {
  private let limit: Int
  private let interval: Duration?
  private var waiting: [ToldEvent] = []
  /// Where the reading about a topic waits, where readings are coalesced.
  private var places: [EventTopic: Int] = [:]
  /// When readings were last given out.
  private var lastGiven: Duration?

  init(limit: Int, interval: Duration?) {
    self.limit = limit
    self.interval = interval
  }

  /// How many wait.
  var count: Int { waiting.count }

  /// Takes a reading.
  ///
  /// - Parameters:
  ///   - reading: the reading.
  ///   - hasRoom: whether one more may wait.
  /// - Returns: how many were dropped, this one or older ones.
  mutating func take(_ reading: ToldEvent, hasRoom: Bool) -> Int {
    guard interval != nil else {
      guard hasRoom else { return 1 }
      waiting.append(reading)
      guard waiting.count > limit else { return 0 }
      // Given up by half, so that a client that takes nothing costs little for each reading.
      let dropped = max(1, limit / 2)
      waiting.removeFirst(dropped)
      return dropped
    }
    let topic = EventTopic(reading.event)
    if let place = places[topic] {
      waiting[place] = reading
      return 0
    }
    guard hasRoom, waiting.count < limit else { return 1 }
    places[topic] = waiting.count
    waiting.append(reading)
    return 0
  }

  /// Whether some are to be given out at a time.
  func isDue(at now: Duration) -> Bool {
    guard !waiting.isEmpty else { return false }
    guard let interval, let lastGiven else { return true }
    return now - lastGiven >= interval
  }

  /// Gives out what waits.
  mutating func give(at now: Duration) -> [ToldEvent] {
    defer {
      waiting.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
      lastGiven = now
    }
    return waiting
  }
}
