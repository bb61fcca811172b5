package import PharosModel

/// ESPresense: nodes send smoothed distances, and a locator decides the room of a tag from them.
///
/// - Source: companion `config.example.yaml` (time-out 30 s, away 120 s).
/// - Simplified: a tag that no node has in view keeps its room until it is away.
package struct ESPresense<Locator: ESPresenseLocator>: Comparator {
  private struct Tag: Sendable {
    /// The room of the last verdict.
    var room: Int32?
    var nodes: [ESPresenseNode]
    var locator: Locator

    init(observers: [ComparatorObserver]) {
      nodes = Array(repeating: ESPresenseNode(), count: observers.count)
      locator = Locator(observers: observers)
    }
  }

  /// The name that tables show.
  package let name: String

  private let observers: [ComparatorObserver]?
  // The silence that is being away.
  private var presence = SilenceTimeout(span: .seconds(120), scope: .site)
  private var tags: [Tag] = []

  /// Makes the rule; with observers it decides rooms as well.
  package init(observers: [ComparatorObserver]? = nil) {
    self.observers = observers
    name = "ESPresense \(observers == nil ? "120 s" : Locator.name)"
  }

  /// Takes an advert that a node heard.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    advance(to: sighting.time - .oneNanosecond, into: &verdicts)
    presence.heard(sighting, into: &verdicts)
    guard let observers, observers.indices.contains(Int(sighting.observer)) else { return }
    let beacon = Int(sighting.beacon)
    while tags.count <= beacon { tags.append(Tag(observers: observers)) }
    guard tags[beacon].nodes[Int(sighting.observer)].receive(sighting) else { return }
    let (nodes, room) = (tags[beacon].nodes, tags[beacon].room)
    let next = tags[beacon].locator.locate(nodes, from: room, at: sighting.time)
    publish(next, about: beacon, at: sighting.time, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    let start = verdicts.count
    presence.advance(to: time, into: &verdicts)
    guard let observers else { return }
    for index in start..<verdicts.count {
      guard case .exit = verdicts[index].change else { continue }
      let beacon = Int(verdicts[index].beacon)
      guard tags.indices.contains(beacon) else { continue }
      publish(nil, about: beacon, at: verdicts[index].time, into: &verdicts)
      tags[beacon] = Tag(observers: observers)
    }
    verdicts.sortByTime(from: start)
  }

  private mutating func publish(
    _ room: Int32?,
    about beacon: Int,
    at time: Timestamp,
    into verdicts: inout [Verdict]
  ) {
    guard room != tags[beacon].room else { return }
    tags[beacon].room = room
    verdicts.append(Verdict(beacon: Int32(beacon), time: time, change: .room(room)))
  }
}

/// The part of ``ESPresense`` that decides the room of one tag.
package protocol ESPresenseLocator: Sendable {
  /// The name that tables show.
  static var name: String { get }

  /// Begins with a tag that no node has heard.
  init(observers: [ComparatorObserver])

  /// Returns the room of the tag after a new report.
  ///
  /// - Parameters:
  ///   - nodes: What each observer reports.
  ///   - room: The room that the tag was in.
  ///   - time: The time of the report.
  /// - Returns: The room, or nil for none.
  mutating func locate(_ nodes: [ESPresenseNode], from room: Int32?, at time: Timestamp) -> Int32?
}

/// The room of the node that reports the shortest distance: all that ESPresense can say without places of nodes.
package struct NearestNode: ESPresenseLocator {
  /// The name that tables show.
  package static let name = "nearest node"

  private let observers: [ComparatorObserver]

  /// Begins with a tag that no node has heard.
  package init(observers: [ComparatorObserver]) { self.observers = observers }

  /// Returns the room of the nearest node.
  package func locate(_ nodes: [ESPresenseNode], from room: Int32?, at time: Timestamp) -> Int32? {
    var nearest: (node: Int, distance: Double)?
    for node in nodes.indices {
      guard let distance = nodes[node].distance(at: time), distance < nearest?.distance ?? .infinity else {
        continue
      }
      nearest = (node, distance)
    }
    return nearest.flatMap { observers[$0.node].room }
  }
}

/// One node's view of a tag: levels of the last 15 s, and the distance that it would report.
///
/// - Source: firmware `AdaptivePercentileRSSI` (15 s, 10 to 200 samples, Tukey's fences of 1.5 interquartile ranges, mean
///   of what lies within), `defaults.h` (absorption 2.7, at most 16 m; reported after 0.5 m or 5 s).
/// - Simplified: ten samples are kept however old they are; until there are four, all count.
package struct ESPresenseNode: Sendable {
  /// The silence after which the distance no longer counts.
  private static let timeout = TimeSpan.seconds(30)
  /// The path-loss exponent.
  private static let absorption = 2.7
  /// Metres beyond which nothing is reported.
  private static let farthest = 16.0

  private static let window = TimeSpan.seconds(15)
  private static let (minimum, maximum) = (10, 200)
  private static let (step, pause) = (0.5, TimeSpan.seconds(5))

  /// The distance last reported in metres, and when.
  private var report: (distance: Double, time: Timestamp)?

  private var samples: [(level: Double, time: Timestamp)] = []
  private var sorted: [Double] = []

  /// Returns the distance that the node reports in metres, or nil if it has no report or the report is too old.
  package func distance(at time: Timestamp) -> Double? {
    guard let report, time - report.time <= ESPresenseNode.timeout else { return nil }
    return report.distance
  }

  /// Takes an advert.
  ///
  /// - Returns: true if the node reports a distance now.
  mutating func receive(_ sighting: Sighting) -> Bool {
    keep(sighting)
    let distance = RadioMath.powerOfTen(
      (sighting.measuredPower - fencedMean) / (10 * ESPresenseNode.absorption)
    )
    guard distance <= ESPresenseNode.farthest else { return false }
    if let report {
      let isDue = sighting.time - report.time >= ESPresenseNode.pause
      guard isDue || abs(distance - report.distance) >= ESPresenseNode.step else { return false }
    }
    report = (distance, sighting.time)
    return true
  }

  private mutating func keep(_ sighting: Sighting) {
    samples.append((sighting.level, sighting.time))
    sorted.insert(sighting.level, at: rank(of: sighting.level))
    while let oldest = samples.first {
      let isOld =
        sighting.time - oldest.time > ESPresenseNode.window && samples.count > ESPresenseNode.minimum
      guard isOld || samples.count > ESPresenseNode.maximum else { return }
      sorted.remove(at: rank(of: oldest.level))
      samples.removeFirst()
    }
  }

  /// Returns the index of a level among the sorted ones, or the index at which to insert it.
  private func rank(of level: Double) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < level { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The mean of the levels within Tukey's fences.
  private var fencedMean: Double {
    let count = sorted.count
    var (low, high) = (-Double.infinity, Double.infinity)
    if count >= 4 {
      let (first, third) = (sorted[count / 4], sorted[count * 3 / 4])
      low = first - 1.5 * (third - first)
      high = third + 1.5 * (third - first)
    }
    var (sum, kept) = (0.0, 0.0)
    for level in sorted where level >= low && level <= high {
      sum += level
      kept += 1
    }
    return sum / kept
  }
}
