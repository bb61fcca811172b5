import Traffic

/// A size of the table, and what its traffic is like.
struct Shape: Codable, Equatable {
  /// How many observers.
  var observers: Int
  /// How many beacons each of them hears.
  var beacons: Int
  /// Adverts in a datagram.
  var advertsPerDatagram = 24
  /// Whether one application in ten ranges.
  var hasRanging = false
  /// Whether beacons are heard in an order that no prefetcher guesses.
  var isShuffled = false
  /// Whether three channels are reported apart.
  var hasJoins = false

  /// All that is measured if nothing is asked for.
  static let usual = [
    Shape(observers: 1, beacons: 1_000), Shape(observers: 10, beacons: 100),
    Shape(observers: 100, beacons: 100), Shape(observers: 1_000, beacons: 100),
    Shape(observers: 10_000, beacons: 100), Shape(observers: 20, beacons: 50_000),
    Shape(observers: 1_000, beacons: 100, isShuffled: true),
    Shape(observers: 20, beacons: 50_000, isShuffled: true),
    Shape(observers: 100, beacons: 100, hasJoins: true),
    Shape(observers: 100, beacons: 100, advertsPerDatagram: 1),
    Shape(observers: 1_000, beacons: 100, advertsPerDatagram: 1),
    Shape(observers: 100, beacons: 100, hasRanging: true),
  ]

  /// How many tracks there are in the end.
  var tracks: Int { observers * beacons }

  /// How `--size` names it.
  var size: String { "\(observers)x\(beacons)" }

  /// The options that ask for it.
  var options: [String] {
    ["--size", size, "--adverts-per-datagram", "\(advertsPerDatagram)"] + (hasRanging ? ["--ranging"] : [])
      + (isShuffled ? ["--shuffled"] : []) + (hasJoins ? ["--joins"] : [])
  }

  /// What the table says of its traffic.
  var remark: String {
    [hasRanging ? "ranging" : nil, isShuffled ? "shuffled" : nil, hasJoins ? "joins" : nil]
      .compactMap { $0 }.joined(separator: " ")
  }

  /// The traffic, whose beacons begin within so many seconds.
  func workload(spread: Int) -> Workload {
    var workload = Workload(
      observers: observers,
      beacons: beacons,
      hasRanging: hasRanging,
      advertsPerDatagram: advertsPerDatagram
    )
    workload.isShuffled = isShuffled
    workload.channels = hasJoins ? 3 : 1
    workload.spread = spread
    return workload
  }
}

extension Shape {
  /// Reads two numbers as in `1000x100`.
  init?(_ text: String) {
    let parts = text.split(separator: "x").map { Int($0) }
    guard parts.count == 2, let observers = parts[0], let beacons = parts[1] else { return nil }
    guard observers > 0, beacons > 0 else { return nil }
    self.init(observers: observers, beacons: beacons)
  }
}
