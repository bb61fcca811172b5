import PharosPrivacy

extension PseudonymKey {
  /// The key of this process: drawn when it is first asked for, held in memory alone, and gone with the process.
  static let ofProcess = PseudonymKey(
    low: UInt64.random(in: .min ... .max),
    high: UInt64.random(in: .min ... .max)
  )
}
