import PharosPlaces
import PharosReports

/// How a walking body shakes what it carries.
struct StepPhase: Sendable {
  private let gait: Gait
  private let strengths: NoiseField

  init(gait: Gait, seed: UInt64) {
    self.gait = gait
    strengths = NoiseField(seed: seed, 31, length: 1)
  }

  /// Which fourth power of the swing a step is long: length = K × swing^¼.
  ///
  /// - Units: metres over the fourth root of m/s².
  /// - Source: Weinberg, Analog Devices AN-602 (2002); K such that 0.71 m swing by 7.5 m/s², as people do who hold a handset
  ///   before them.
  private static let weinberg = 0.43
  /// The swing of the curve below, from its trough to its peak, where its first part has the height 1.
  private static let curveSwing = 2.11
  /// What a step on stairs shakes like: one of this length on the flat.
  ///
  /// - Units: metres.
  private static let stairLength = 0.6

  /// The acceleration that steps give, in a frame of the right hand, forwards and up.
  ///
  /// - Parameters:
  ///   - steps: how many steps have been taken, with the part of the one under way.
  ///   - manner: how one moves.
  /// - Returns: m/s².
  func shake(steps: Double, manner: Journey.Manner) -> (right: Double, forwards: Double, up: Double) {
    guard manner == .walking || manner == .climbing else { return (0, 0, 0) }
    let length = manner == .climbing ? StepPhase.stairLength : gait.stepLength
    let number = steps.rounded(.down)
    let strength = max(0.5, 1 + 2.5 * gait.unevenness * strengths.value(at: number))
    let root = length / StepPhase.weinberg
    let swing = root * root * root * root / StepPhase.curveSwing * strength
    let turn = 2 * Double.pi * (steps - number)
    // A sharp push and a long trough, as accelerometers in hands show it.
    let push = Trigonometry.sineAndCosine(turn - 0.6 * .pi)
    let up = swing * (push.cosine + 0.4 * (2 * push.cosine * push.cosine - 1))
    let forwards = 0.3 * swing * Trigonometry.sineAndCosine(turn).sine
    // Left and right feet take turns.
    let side = number.truncatingRemainder(dividingBy: 2) == 0 ? 1.0 : -1.0
    let right = side * 0.25 * swing * Trigonometry.sineAndCosine(turn / 2).sine
    return (right, forwards, up)
  }
}
