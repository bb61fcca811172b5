import PharosModel
import PharosSpace

/// One thing that is wrong with a scene.
package struct SceneMistake: Hashable, Sendable {
  /// The part of the scene that is wrong, as in `transmitter "door": interval`; empty for the scene itself.
  package var place: String
  /// The problem, and the expected value.
  package var problem: String

  /// Makes a mistake.
  package init(_ place: String, _ problem: String) {
    self.place = place
    self.problem = problem
  }
}

extension SceneMistake: CustomStringConvertible {
  /// Place and problem in a line.
  package var description: String { "\(place): \(problem)" }
}

/// The error for a scene that cannot be played, with all its mistakes.
package struct InvalidScene: Error, Hashable, Sendable {
  /// The scene's name.
  package var scene: String
  /// The mistakes in the scene, at least one.
  package var mistakes: [SceneMistake]

  /// Makes an error.
  package init(scene: String, mistakes: [SceneMistake]) {
    self.scene = scene
    self.mistakes = mistakes
  }
}

extension InvalidScene: CustomStringConvertible {
  /// A line for each mistake.
  package var description: String {
    mistakes.map { "scene \"\(scene)\": \($0)" }.joined(separator: "\n")
  }
}

extension Scene {
  /// All that keeps the scene from being played, in the order of its parts; empty if it can be.
  package var mistakes: [SceneMistake] {
    var list = MistakeList()
    list.check(!name.isEmpty, "name", "is empty; give the scene a name of one word")
    list.check(duration > .zero, "duration", "is \(duration.text); it must be longer than 0 s")
    list.check(!transmitters.isEmpty, "transmitters", "are missing; a scene needs at least one")
    list.check(!observers.isEmpty, "observers", "are missing; a scene needs at least one")
    list.checkUnique(transmitters.map(\.name), what: "transmitter")
    list.checkUnique(observers.map(\.id.description), what: "observer")
    list.checkUnique(areas.map(\.name), what: "area")
    for area in areas {
      let corners = area.shape.corners.count
      list.check(
        corners >= 3,
        "area \"\(area.name)\"",
        "has \(corners) corners; an area needs at least three"
      )
    }
    for transmitter in transmitters { list.check(transmitter) }
    for observer in observers { list.check(observer) }
    list.check(radio)
    return list.mistakes
  }
}

/// Mistakes as they are found.
private struct MistakeList {
  var mistakes: [SceneMistake] = []

  mutating func check(_ isRight: Bool, _ place: String, _ problem: @autoclosure () -> String) {
    if !isRight { mistakes.append(SceneMistake(place, problem())) }
  }

  mutating func checkUnique(_ names: [String], what: String) {
    var seen: Set<String> = []
    for name in names {
      check(
        seen.insert(name).inserted,
        "\(what) \"\(name)\"",
        "occurs twice; each \(what) needs its own name"
      )
    }
  }

  mutating func check(_ transmitter: Scene.Transmitter) {
    let place = "transmitter \"\(transmitter.name)\""
    check(!transmitter.payloads.isEmpty, "\(place): payloads", "are missing; give it at least one frame")
    for payload in transmitter.payloads {
      let maximum = 1_200
      check(
        payload.count <= maximum,
        "\(place): payloads",
        "hold one of \(payload.count) bytes; at most \(maximum) fit into a datagram"
      )
    }
    checkPositive(transmitter.interval, "\(place): interval")
    if let stillInterval = transmitter.stillInterval {
      checkPositive(stillInterval, "\(place): stillInterval")
    }
    checkNotNegative(transmitter.advertDelay, "\(place): advertDelay")
    checkNotNegative(transmitter.stillAfter, "\(place): stillAfter")
    checkFinite(transmitter.power, "\(place): power")
    checkFinite(transmitter.bodyLoss, "\(place): bodyLoss")
    check(transmitter.onAir, "\(place): onAir")
  }

  mutating func check(_ observer: Scene.Observer) {
    let place = "observer \"\(observer.id)\""
    checkNotNegative(observer.batchPeriod, "\(place): batchPeriod")
    if let heartbeats = observer.heartbeats { checkPositive(heartbeats.period, "\(place): heartbeats") }
    checkPositive(observer.scan.interval, "\(place): scan interval")
    checkPositive(observer.scan.window, "\(place): scan window")
    check(
      observer.scan.window <= observer.scan.interval,
      "\(place): scan window",
      "is \(observer.scan.window.text); it must not exceed the interval of \(observer.scan.interval.text)"
    )
    checkFinite(observer.gain, "\(place): gain")
    checkFinite(observer.bodyLoss, "\(place): bodyLoss")
    checkFinite(observer.sensitivity, "\(place): sensitivity")
    checkNotNegative(observer.noise, "\(place): noise")
    check(
      observer.clockDrift.magnitude <= 100_000,
      "\(place): clockDrift",
      "is \(observer.clockDrift) ppm; it must lie within ±100000"
    )
    for time in observer.displayOn { checkNotNegative(time, "\(place): displayOn") }
    for fault in observer.faults { check(fault.window, "\(place): fault \(fault.kind.rawValue)") }
    check(observer.network, place: "\(place): network")
  }

  mutating func check(_ network: Network, place: String) {
    checkNotNegative(network.delay, "\(place) delay")
    checkNotNegative(network.jitter, "\(place) jitter")
    checkNotNegative(network.detour, "\(place) detour")
    checkShare(network.loss, "\(place) loss")
    checkShare(network.duplication, "\(place) duplication")
    checkShare(network.reordering, "\(place) reordering")
  }

  mutating func check(_ radio: Radio) {
    check(
      radio.pathLossExponent > 0 && radio.pathLossExponent.isFinite,
      "radio: pathLossExponent",
      "is \(radio.pathLossExponent); it must be above 0, 2 being free space"
    )
    if let shadowing = radio.shadowing {
      checkNotNegative(shadowing.deviation, "radio: shadowing deviation")
      checkPositive(shadowing.time, "radio: shadowing time")
      check(
        shadowing.distance > 0,
        "radio: shadowing distance",
        "is \(shadowing.distance) m; it must be above 0 m"
      )
    }
    if let riceFactor = radio.riceFactor { checkNotNegative(riceFactor, "radio: riceFactor") }
    checkNotNegative(radio.channelDeviation, "radio: channelDeviation")
    checkNotNegative(radio.softness, "radio: softness")
    if let bursts = radio.burstLoss {
      checkShare(bursts.share, below: true, "radio: burstLoss share")
      checkShare(bursts.loss, "radio: burstLoss loss")
      checkPositive(bursts.duration, "radio: burstLoss duration")
    }
    if let people = radio.passersby {
      checkShare(people.share, below: true, "radio: passersby share")
      checkPositive(people.duration, "radio: passersby duration")
      checkFinite(people.attenuation, "radio: passersby attenuation")
    }
  }

  mutating func check(_ window: TimeWindow, _ place: String) {
    checkNotNegative(window.from, place)
    check(
      window.from < window.until,
      place,
      "ends at \(window.until.text), not after its begin at \(window.from.text)"
    )
  }

  mutating func checkPositive(_ span: TimeSpan, _ place: String) {
    check(span > .zero, place, "is \(span.text); it must be longer than 0 s")
  }

  mutating func checkNotNegative(_ span: TimeSpan, _ place: String) {
    check(span >= .zero, place, "is \(span.text); it must not be negative")
  }

  mutating func checkNotNegative(_ number: Double, _ place: String) {
    check(number >= 0 && number.isFinite, place, "is \(number); it must be a number of at least 0")
  }

  mutating func checkFinite(_ number: Double, _ place: String) {
    check(number.isFinite, place, "is \(number); it must be a finite number")
  }

  mutating func checkShare(_ share: Double, below: Bool = false, _ place: String) {
    let isRight = share >= 0 && (below ? share < 1 : share <= 1)
    check(isRight, place, "is \(share); it must be a share from 0 to 1\(below ? ", 1 left out" : "")")
  }
}

extension TimeSpan {
  /// The span in seconds, for messages.
  fileprivate var text: String { self == .forever ? "forever" : "\(seconds) s" }
}
