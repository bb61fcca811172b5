import PharosReports

/// The air between one subject and the observer: what scatters, hides and loses its adverts.
struct DrillAir: Sendable {
  /// The level at which every second advert is received.
  ///
  /// - Units: dBm. Common gateways stop receiving at −92 to −97.
  static let sensitivity = -94.0
  /// How soft the edge of reception is: 0.73 one softness above the sensitivity.
  ///
  /// - Units: dB.
  static let softness = 1.5
  /// How far above or below the sensitivity reception is certain or hopeless.
  ///
  /// - Units: dB. Six softnesses: one advert in 400.
  static let edge = 9.0
  /// How often a body steps in the way, how long it stays and what it takes.
  private static let meanBetweenBodies = 600.0
  private static let bodyTime = (2.0, 10.0)
  private static let bodyLoss = (10.0, 20.0)

  private let loss: Drill.Loss
  private let noise: Drill.Noise
  private let isShadowed: Bool
  /// The chances that an advert is lost after one that was received, and after one that was lost.
  private let lossAfter: (received: Double, lost: Double)
  private var wasLost = false
  private var slow = 0.0
  private var memory = 1.0
  private var innovation = 0.0
  private var memoryInterval: Int64 = 0
  private var body: (from: Int64, until: Int64, loss: Double) = (0, 0, 0)

  init(_ drill: borrowing Drill, random: inout RandomStream) {
    loss = drill.loss
    noise = drill.effectiveNoise
    isShadowed = drill.motion == .shadowed
    if let run = drill.loss.meanRun, drill.loss.share > 0 {
      lossAfter = (min(1, loss.share / ((1 - loss.share) * max(1, run))), 1 - 1 / max(1, run))
    } else {
      lossAfter = (drill.loss.share, drill.loss.share)
    }
    if isShadowed { body = DrillAir.nextBody(after: 0, random: &random) }
  }

  /// A subject comes: the air has forgotten how it was.
  mutating func begin(random: inout RandomStream) {
    slow = noise.slow * random.bell()
    wasLost = random.chance(loss.share)
  }

  /// Lets an advert pass, or loses it.
  ///
  /// - Parameters:
  ///   - time: When it is sent, in nanoseconds since the drill began; never before the last one.
  ///   - mean: The level without chance, in dBm.
  ///   - interval: How long after the last one it is sent, to within the advDelay.
  ///   - random: Where chance comes from.
  /// - Returns: The level at which it is received, in dBm, or nil if it is lost.
  mutating func receive(
    at time: Int64,
    mean: Double,
    interval: Int64,
    random: inout RandomStream
  ) -> Double? {
    if interval != memoryInterval { remember(interval) }
    slow = slow * memory + innovation * random.bell()
    wasLost = random.chance(wasLost ? lossAfter.lost : lossAfter.received)
    guard !wasLost else { return nil }
    var level = mean + slow + noise.fast * random.bell()
    if isShadowed { level -= shadow(at: time, random: &random) }
    return DrillAir.isReceived(level, random: &random) ? level : nil
  }

  /// Whether the last advert was within range, loss and the noise of the single advert apart.
  func isInRange(mean: Double) -> Bool { mean + slow >= DrillAir.sensitivity }

  /// Whether a level is enough this time.
  static func isReceived(_ level: Double, random: inout RandomStream) -> Bool {
    let above = level - sensitivity
    if above >= edge { return true }
    if above <= -edge { return false }
    return random.chance(1 / (1 + RadioMath.exponential(-above / softness)))
  }

  private mutating func remember(_ interval: Int64) {
    memoryInterval = interval
    memory = RadioMath.exponential(-Double(interval) / Double(max(1, noise.time.nanoseconds)))
    innovation = noise.slow * (1 - memory * memory).squareRoot()
  }

  private mutating func shadow(at time: Int64, random: inout RandomStream) -> Double {
    guard time >= body.from else { return 0 }
    while time >= body.until { body = DrillAir.nextBody(after: body.until, random: &random) }
    return time >= body.from ? body.loss : 0
  }

  private static func nextBody(
    after time: Int64,
    random: inout RandomStream
  ) -> (from: Int64, until: Int64, loss: Double) {
    let from = time + Int64(random.exponential(mean: meanBetweenBodies) * 1e9)
    return (
      from, from + random.span(bodyTime.0, bodyTime.1), random.uniform(bodyLoss.0, bodyLoss.1)
    )
  }
}
