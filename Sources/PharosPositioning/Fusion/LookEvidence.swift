import PharosReports

/// What readings of one look say of a place, as long as it is open how much louder or fainter all of them were heard together.
///
/// A hand, a body, a crowd take from many access points at once: at one and the same place the mean of a look moves by 3 dB from
/// one look to the next, where readings that err each by itself would move it by less than 1. So what counts is how the levels of
/// a look differ among each other, more than how loud they are.
///
/// The logarithm of the likelihood for an offset *o* of the look is held to be ``likelihood`` + ``pull`` · *o* − ``stiffness`` · *o*² / 2.
/// Sums of readings are sums of the three.
///
/// - Source: for a reading that scatters as Student's distribution does, that parabola touches the true curve at *o* = 0 and lies nowhere
///   above it: Lange, Little and Taylor, "Robust statistical modeling using the t distribution", J. Am. Stat. Assoc. 84 (1989).
package struct LookEvidence: Hashable, Sendable {
  /// Likelihood, pull, stiffness, and nothing: a place of four is read and added at once.
  private var sums: SIMD4<Float>

  /// What one reading says.
  ///
  /// - Parameters:
  ///   - difference: how much louder it is than expected, in dB.
  ///   - deviation: how far that may be off, in dB.
  ///   - freedom: the degrees of freedom of Student's distribution.
  package init(difference: Double, deviation: Double, freedom: Double) {
    let (square, variance) = (difference * difference, deviation * deviation)
    let tail = RadioMath.naturalLog(1 + square / variance / freedom)
    let stiffness = (freedom + 1) / (freedom * variance + square)
    let likelihood = -RadioMath.naturalLog(deviation) - (freedom + 1) / 2 * tail
    sums = SIMD4(Float(likelihood), Float(stiffness * difference), Float(stiffness), 0)
  }

  private init(_ sums: SIMD4<Float>) { self.sums = sums }

  /// The logarithm of the likelihood if the look is as loud as expected.
  package var likelihood: Float { sums.x }
  /// How much that gains for each decibel by which the whole look is louder than expected.
  ///
  /// - Units: 1/dB.
  var pull: Float { sums.y }
  /// How sure the readings are of an offset of their own.
  ///
  /// - Units: 1/dB².
  var stiffness: Float { sums.z }

  /// The logarithm of the likelihood whatever the offset, which is none in the mean.
  ///
  /// - Parameter variance: how far offsets scatter, in dB².
  /// - Returns: the logarithm of the mean of what every offset makes of it.
  package func marginal(_ variance: Float) -> Float {
    let sureness = 1 + stiffness * variance
    let width = Float(RadioMath.naturalLog(Double(sureness))) / 2
    return likelihood + pull * pull * variance / (2 * sureness) - width
  }
}

/// What a cell of a ``RadioField`` holds: logarithms of likelihoods, alone or with what else there is to sum.
protocol CellEvidence: Sendable {
  /// What nothing says.
  static var none: Self { get }
  /// The rows of a table for cells of this kind.
  static func rows(of levels: LevelTable) -> [Self]
  /// The same with so much less of a likelihood: a logarithm.
  func less(_ surprise: Float) -> Self
  static func + (one: Self, other: Self) -> Self
  static func - (one: Self, other: Self) -> Self
  static func * (one: Self, share: Float) -> Self
}

extension Float: CellEvidence {
  static var none: Float { 0 }

  static func rows(of levels: LevelTable) -> [Float] { levels.values }

  @inline(__always)
  func less(_ surprise: Float) -> Float { self - surprise }
}

extension LookEvidence: CellEvidence {
  package static var none: LookEvidence { LookEvidence(.zero) }

  static func rows(of levels: LevelTable) -> [LookEvidence] { levels.looks }

  @inline(__always)
  func less(_ surprise: Float) -> LookEvidence { LookEvidence(sums - SIMD4(surprise, 0, 0, 0)) }

  @inline(__always)
  package static func + (one: LookEvidence, other: LookEvidence) -> LookEvidence {
    LookEvidence(one.sums + other.sums)
  }

  @inline(__always)
  static func - (one: LookEvidence, other: LookEvidence) -> LookEvidence {
    LookEvidence(one.sums - other.sums)
  }

  @inline(__always)
  package static func * (one: LookEvidence, share: Float) -> LookEvidence { LookEvidence(one.sums * share) }
}
