package import PharosDocuments
package import PharosModel
import PharosSpace

/// An event that truly happens in a scene, whether or not an observer detects it.
package struct TruthEvent: Hashable, Sendable {
  /// A fact about a subject.
  package enum Fact: Hashable, Sendable {
    /// The subject is at a place: emitted at the start, and every second while it moves.
    case position(Point)
    /// The subject comes into an area.
    case entersArea(String)
    /// The subject leaves an area.
    case leavesArea(String)
    /// A beacon comes to where an observer is expected to hear it: its level by distance and walls alone reaches
    /// the observer's sensitivity, and it is on air.
    case entersRange(observer: ObserverID)
    /// A beacon leaves where an observer is expected to hear it.
    case leavesRange(observer: ObserverID)
    /// An observer fails.
    case fails(Fault.Kind)
    /// An observer has recovered.
    case recovers(Fault.Kind)
  }

  /// The time of the event.
  package var time: Timestamp
  /// The subject of the event.
  package var subject: SubjectID
  /// The transmitter's name; the observer's identity as text.
  package var name: String
  /// The fact that becomes true.
  package var fact: Fact

  /// Makes an event.
  package init(time: Timestamp, subject: SubjectID, name: String, fact: Fact) {
    self.time = time
    self.subject = subject
    self.name = name
    self.fact = fact
  }
}

extension TruthEvent {
  /// Writes the event as one line of JSON.
  ///
  /// Members: `time` (RFC 3339), `kind` (`position`, `area.enter`, `area.leave`, `range.enter`, `range.leave`,
  /// `observer.fail`, `observer.recover`), `subject` and `name`; then by kind `x` and `y` (m), `area`, `observer`
  /// or `fault`.
  package func write(to json: inout JSONText) {
    json.openObject()
    json.member("time", time.rfc3339)
    json.member("kind", fact.kind)
    json.member("subject", subject.description)
    json.member("name", name)
    switch fact {
    case .position(let point):
      json.member("x", point.x, decimals: 3)
      json.member("y", point.y, decimals: 3)
    case .entersArea(let area), .leavesArea(let area): json.member("area", area)
    case .entersRange(let observer), .leavesRange(let observer):
      json.member("observer", observer.description)
    case .fails(let kind), .recovers(let kind): json.member("fault", kind.rawValue)
    }
    json.closeObject()
    json.newLine()
  }
}

extension TruthEvent.Fact {
  /// The word for it in JSON.
  package var kind: String {
    switch self {
    case .position: "position"
    case .entersArea: "area.enter"
    case .leavesArea: "area.leave"
    case .entersRange: "range.enter"
    case .leavesRange: "range.leave"
    case .fails: "observer.fail"
    case .recovers: "observer.recover"
    }
  }
}

/// The true state as last sampled and as last emitted.
struct TruthState: Sendable {
  /// The period at which the simulation samples the truth.
  ///
  /// A person walks 13 cm in that time, and a delay of that length in a decision is irrelevant.
  static let period = TimeSpan.milliseconds(100)
  /// The number of samples from one emitted position to the next: one position a second.
  static let positionEvery = 10

  /// The last sampled positions of the transmitters, then those of the observers.
  var places: [Point?]
  /// The last emitted positions, in the same order.
  var reportedPlaces: [Point?]
  /// For each of them and each area, whether they are in it.
  var isInArea: [Bool]
  /// For each link whether the beacon is in range.
  var isInRange: [Bool]
  /// For each transmitter whether it was on air when last looked at.
  var wasOnAir: [Bool]

  init(_ scene: Scene) {
    let bodies = scene.transmitters.count + scene.observers.count
    places = Array(repeating: nil, count: bodies)
    reportedPlaces = places
    isInArea = Array(repeating: false, count: bodies * scene.areas.count)
    isInRange = Array(repeating: false, count: scene.transmitters.count * scene.observers.count)
    wasOnAir = Array(repeating: false, count: scene.transmitters.count)
  }
}

extension Simulation {
  /// Emits a fact about an observer.
  mutating func emit(_ fact: TruthEvent.Fact, observer: Scene.Observer, at time: TimeSpan) {
    facts.append(
      TruthEvent(
        time: scene.start + time,
        subject: .observer(observer.id),
        name: observer.id.description,
        fact: fact
      )
    )
  }

  /// Samples all positions, emits all changes, and schedules the next sample a period later.
  mutating func observeTruth(tick: Int, at time: TimeSpan) {
    let count = scene.transmitters.count
    var hasMoved = Array(repeating: false, count: truth.places.count)
    for body in truth.places.indices {
      let path = body < count ? scene.transmitters[body].path : scene.observers[body - count].path
      let place = path.position(at: time)
      hasMoved[body] = truth.places[body] != place
      truth.places[body] = place
      if hasMoved[body] { emitAreas(of: body, at: place, time: time) }
      if tick % TruthState.positionEvery == 0, truth.reportedPlaces[body] != place {
        truth.reportedPlaces[body] = place
        emit(.position(place), body: body, at: time)
      }
    }
    for transmitter in 0..<count {
      let isOnAir = scene.transmitters[transmitter].onAir.contains(time)
      let hasSwitched = truth.wasOnAir[transmitter] != isOnAir
      truth.wasOnAir[transmitter] = isOnAir
      for observer in scene.observers.indices
      where hasSwitched || hasMoved[transmitter] || hasMoved[count + observer] {
        emitRange(of: transmitter, observer: observer, isOnAir: isOnAir, at: time)
      }
    }
    timetable.add(.observeTruth(tick: tick + 1), at: time + TruthState.period)
  }

  /// Emits first the areas that are left, then those that are entered.
  private mutating func emitAreas(of body: Int, at place: Point, time: TimeSpan) {
    let first = body * scene.areas.count
    for (index, area) in scene.areas.enumerated()
    where truth.isInArea[first + index] && !area.shape.contains(place) {
      truth.isInArea[first + index] = false
      emit(.leavesArea(area.name), body: body, at: time)
    }
    for (index, area) in scene.areas.enumerated()
    where !truth.isInArea[first + index] && area.shape.contains(place) {
      truth.isInArea[first + index] = true
      emit(.entersArea(area.name), body: body, at: time)
    }
  }

  private mutating func emitRange(of transmitter: Int, observer index: Int, isOnAir: Bool, at time: TimeSpan)
  {
    let observer = scene.observers[index]
    let level = scene.expectedLevel(of: scene.transmitters[transmitter], at: observer, time: time)
    let isInRange = isOnAir && level >= observer.sensitivity
    let slot = transmitter * scene.observers.count + index
    guard truth.isInRange[slot] != isInRange else { return }
    truth.isInRange[slot] = isInRange
    let fact: TruthEvent.Fact =
      isInRange ? .entersRange(observer: observer.id) : .leavesRange(observer: observer.id)
    emit(fact, body: transmitter, at: time)
  }

  private mutating func emit(_ fact: TruthEvent.Fact, body: Int, at time: TimeSpan) {
    let count = scene.transmitters.count
    guard body < count else { return emit(fact, observer: scene.observers[body - count], at: time) }
    let transmitter = scene.transmitters[body]
    facts.append(
      TruthEvent(
        time: scene.start + time,
        subject: .beacon(transmitter.beacon),
        name: transmitter.name,
        fact: fact
      )
    )
  }
}
