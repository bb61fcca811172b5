package import PharosReports

/// Chooses what the table of all that is heard looks at.
///
/// A millisecond brings a budget of 8 adverts, saved up to ten datagrams' worth: with little traffic that is all of it, with much it
/// is a sample, and what is looked at stands for what came before it and was not. Gateways send in a rhythm of their own, second
/// after second: the moments, and the part of a datagram, are drawn by chance, as otherwise the same beacons would be looked at each
/// time and the others hardly ever.
package struct HeardSampler {
  /// The mean time after which there is a new budget.
  static let interval = TimeSpan.milliseconds(1)
  /// The same while more is heard than the table holds: whatever is new then throws out what was, at ten times the cost.
  static let crowdedInterval = TimeSpan.milliseconds(8)
  /// How many adverts may be looked at for each such time: a microsecond's work, a thousandth of the loop.
  package static let adverts = 8
  /// How many may be saved up: ten datagrams of a gateway that sends what it heard in a second.
  package static let most = 256
  /// The same while more is heard than the table holds: one datagram.
  static let crowdedMost = 32

  private var last = Timestamp.distantPast
  private var next = Timestamp.distantPast
  private var skipped = 0
  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15
  /// How many adverts may still be looked at.
  package var budget = 0
  /// Whether more is heard than the table holds.
  package var isCrowded = false

  package init() {}

  /// Whether there is a budget at some time.
  func isDue(at time: Timestamp) -> Bool { budget > 0 || time >= next }

  /// Decides about one datagram.
  ///
  /// - Parameters:
  ///   - time: its R.
  ///   - isNamed: whether it is known who sent it; otherwise it is not looked at.
  /// - Returns: how many datagrams this one stands for, or nil if it is not to be looked at.
  package mutating func look(at time: Timestamp, isNamed: Bool = true) -> Double? {
    if time >= next { save(until: time) }
    skipped += 1
    guard budget > 0, isNamed else { return nil }
    defer { skipped = 0 }
    return Double(skipped)
  }

  /// Adds what the time since the last budget brought, and draws the moment of the next one.
  private mutating func save(until time: Timestamp) {
    let interval = (isCrowded ? HeardSampler.crowdedInterval : HeardSampler.interval).nanoseconds
    let most = Int64(isCrowded ? HeardSampler.crowdedMost : HeardSampler.most)
    let saved = min((time - last).nanoseconds / (interval / Int64(HeardSampler.adverts)), most)
    budget = Int(min(Int64(budget) + max(0, saved), most))
    last = time
    next = time + TimeSpan(nanoseconds: interval / 2 + draw(below: interval))
  }

  /// The reports of a datagram that there is a budget for: each part of it as probable as any other.
  ///
  /// - Returns: which, and how many of the datagram's reports each of them stands for.
  package mutating func part(of reports: Range<Int>) -> (reports: Range<Int>, weight: Double) {
    guard reports.count > budget, budget > 0 else { return (reports, 1) }
    let parts = (reports.count + budget - 1) / budget
    let first = reports.lowerBound + Int(draw(below: Int64(parts))) * budget
    return (first..<min(first + budget, reports.upperBound), Double(parts))
  }

  /// A number by chance.
  ///
  /// - Source: Knuth's MMIX generator (The Art of Computer Programming, volume 2, section 3.3.4), of which the upper half is used.
  private mutating func draw(below bound: Int64) -> Int64 {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int64(random >> 33) % bound
  }
}
