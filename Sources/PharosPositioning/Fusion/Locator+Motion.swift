import PharosEvents
import PharosReports

extension Locator {
  /// Whether motion sensors say how the subject moves.
  func seesMotion(at time: Timestamp) -> Bool {
    let sensed = max(gait.moved, tracker.sensedThrough ?? .distantPast)
    return sensed > .distantPast && time - sensed <= rules.motionSilence
  }

  /// Moves the belief by what the motion sensors told.
  mutating func apply(_ movement: Movement) {
    gait.moved = max(gait.moved, movement.time)
    switch movement {
    case .step(let step): walk(step)
    case .still: gait.rest()
    case .climbed(let climb): change(floorsBy: climb)
    }
  }

  private mutating func walk(_ step: Step) {
    guard step.length.isFinite, step.length > 0, step.length < 3 else { return }
    let heading = step.heading
    if let heading, heading.reference != gait.reference { turn(to: heading) }
    // Without a heading the last one stands, and less and less of it.
    let radians = heading?.radians ?? gait.heading
    gait.heading = radians
    let direction = Bearing.eastAndNorth(radians)
    trail.walk(east: step.length * direction.east, north: step.length * direction.north, at: step.time)
    gait.walk(
      length: step.length,
      east: direction.east,
      north: direction.north,
      at: step.time
    )
    guard !cloud.isEmpty else { return }
    cloud.walk(
      length: step.length,
      lengthDeviation: step.lengthDeviation,
      heading: radians,
      headingDeviation: heading?.deviation ?? rules.courseNoise,
      content,
      rules,
      &noise
    )
    evidence.sources.insert(.motion)
  }

  /// Begins with headings of another reference: every particle draws a new bias.
  private mutating func turn(to heading: Heading) {
    gait.reference = heading.reference
    trail.removeAll()
    for index in 0..<cloud.count { cloud.bias[index] = drawBias(heading) }
  }

  /// A bias, as likely as the sensors say.
  private mutating func drawBias(_ heading: Heading) -> Float {
    if case .unknown = heading.reference { return (noise.share() - 0.5) * 2 * .pi }
    return heading.biasDeviation * noise.normal()
  }

  /// Draws the heading bias of a new particle.
  mutating func drawBias() -> Float {
    switch gait.reference {
    case .north: rules.headingBias * noise.normal()
    case .unknown, nil: (noise.share() - 0.5) * 2 * .pi
    }
  }

  /// Lets the belief spread for the time since that was last done.
  mutating func drift(to time: Timestamp) {
    guard time > gait.spread else { return }
    let seconds = gait.spread == .distantPast ? 0 : Float(min(60, (time - gait.spread).seconds))
    gait.spread = time
    guard seconds > 0, !cloud.isEmpty else { return }
    let isSeen = seesMotion(at: time)
    let rate = !isSeen ? rules.blindWalk : gait.rests ? rules.drift / 4 : rules.drift
    cloud.spread(rate * seconds.squareRoot(), &noise)
    leak(seconds)
  }
}
