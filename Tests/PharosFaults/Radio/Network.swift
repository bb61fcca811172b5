import PharosSimulation

/// What lies between a station and the server: loses, delays, doubles and changes datagrams.
struct Network {
  /// What goes wrong, and how often.
  struct Troubles {
    var loss = 0.0
    /// Delays beyond the usual ones have this mean, in seconds.
    var delay = 0.0
    var duplicates = 0.0
    var corruption = 0.0
    var scrambling = 0.0
  }

  /// What becomes of a datagram.
  struct Delivery {
    var after: TrueTime
    var bytes: [UInt8]
    /// Whether it is what was sent.
    var isWhole = true
  }

  /// The longest delay: beyond it a router has dropped the datagram.
  static let maximumDelay = 3.0

  var troubles = Troubles()
  private var random: RandomStream

  init(seed: UInt64) { random = RandomStream(seed: seed, 3) }

  /// What arrives of a datagram, and when.
  mutating func carry(_ datagram: [UInt8], _ tally: inout FaultTally) -> [Delivery] {
    guard !random.chance(troubles.loss) else {
      tally.count(.loss)
      return []
    }
    var deliveries = [Delivery(after: delay(&tally), bytes: datagram)]
    if random.chance(troubles.duplicates) {
      tally.count(.duplicate)
      deliveries.append(Delivery(after: delay(&tally), bytes: datagram))
    }
    for index in deliveries.indices {
      if random.chance(troubles.corruption) {
        tally.count(.corrupt)
        corrupt(&deliveries[index].bytes)
        deliveries[index].isWhole = false
      }
      if random.chance(troubles.scrambling) {
        tally.count(.scramble)
        for _ in 0..<1 + Int(random.next() % 4) where !deliveries[index].bytes.isEmpty {
          let place = Int(random.next() % UInt64(deliveries[index].bytes.count))
          deliveries[index].bytes[place] ^= UInt8(1 << (random.next() % 8))
        }
      }
    }
    return deliveries
  }

  private mutating func delay(_ tally: inout FaultTally) -> TrueTime {
    var delay = random.uniform(0.001, 0.02)
    if troubles.delay > 0, random.chance(0.2) {
      tally.count(.delay)
      delay += min(Network.maximumDelay, random.exponential(mean: troubles.delay))
    }
    return .seconds(delay)
  }

  /// Changes a datagram so that it cannot be what was sent: cut, lengthened, or no format at all.
  private mutating func corrupt(_ bytes: inout [UInt8]) {
    switch random.next() % 4 {
    case 0: bytes.removeLast(min(bytes.count, 1 + Int(random.next() % 40)))
    case 1:
      bytes.append(
        contentsOf: (0..<1 + Int(random.next() % 8)).map { _ in UInt8.random(in: 0...255, using: &random) }
      )
    case 2: bytes = (0..<Int(random.next() % 64)).map { _ in UInt8.random(in: 128...255, using: &random) }
    default: bytes[0] = 0xFF
    }
  }
}
