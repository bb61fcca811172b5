package import PharosEvents
package import PharosReports

extension SilenceBasis {
  /// How many more losses in a row than a received advert's first one are always granted.
  private static let leastMisses = 2

  /// The smallest run of losses whose expected number a day, at such levels, is within the budget.
  package var recomputedMisses: Int {
    let expected = opportunities / max(budget, 1e-12)
    guard expected > 0 else { return SilenceBasis.leastMisses }
    let ordinary = RadioMath.binaryLog(expected * max(runChance, 1e-9))
    var misses =
      1 + PredictiveTail(continued: max(1, continued), ended: max(1, ended)).losses(forBits: ordinary)
    if let tail, tail.chance > 0, tail.continuation > 0, tail.continuation < 1 {
      let bits = RadioMath.binaryLog(expected * tail.chance)
      let further = bits > 0 ? (bits / -RadioMath.binaryLog(tail.continuation)).rounded(.up) : 0
      misses = max(misses, tail.from + Int(min(further, PredictiveTail.longest)))
    }
    return max(SilenceBasis.leastMisses, misses)
  }

  /// The silence that so many misses make: a little beyond the last of them, within floor and ceiling.
  ///
  /// Three tenths of an interval, since the learned interval is wrong by up to a hundredth, thirty times over.
  package var allowedGap: TimeSpan {
    let milliseconds = (pace.seconds * 1_000).rounded() * (Double(misses) + 0.3)
    return min(max(TimeSpan.seconds(milliseconds.rounded(.up) / 1_000), floor), ceiling)
  }
}
