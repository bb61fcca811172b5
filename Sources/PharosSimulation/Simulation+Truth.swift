import PharosPlaces
import PharosReports

/// What has been told of the truth so far.
struct TruthState: Sendable {
  /// The period at which the simulation samples the truth.
  ///
  /// A person walks 13 cm in that time, and a delay of that length in a decision is irrelevant.
  static let period = TimeSpan.milliseconds(100)
  /// The number of samples from one emitted position to the next: one position a second.
  static let positionEvery = 10

  /// Where the transmitters were when last looked at, then the observers.
  var places: [Point?]
  /// Where they were when last told.
  var toldPlaces: [Point?]
  /// For each of them and each area, whether they are in it.
  var isInArea: [Bool]
  /// For each link whether the beacon is in range.
  var isInRange: [Bool]
  /// For each transmitter whether it was on air when last looked at.
  var wasOnAir: [Bool]

  init(_ scene: Scene) {
    let bodies = scene.transmitters.count + scene.observers.count
    places = Array(repeating: nil, count: bodies)
    toldPlaces = places
    isInArea = Array(repeating: false, count: bodies * scene.areas.count)
    isInRange = Array(repeating: false, count: scene.transmitters.count * scene.observers.count)
    wasOnAir = Array(repeating: false, count: scene.transmitters.count)
  }
}

extension Simulation {
  /// Tells of an observer's fault.
  mutating func tell(_ fact: TruthEvent.Fact, observer: Scene.Observer, at time: TimeSpan) {
    facts.append(
      TruthEvent(
        time: scene.start + time,
        subject: .observer(observer.id),
        name: observer.id.description,
        fact: fact
      )
    )
  }

  /// Looks at all that moves, tells what has changed, and comes back a period later.
  mutating func observeTruth(tick: Int, at time: TimeSpan) {
    let count = scene.transmitters.count
    var hasMoved = Array(repeating: false, count: truth.places.count)
    for body in truth.places.indices {
      let path = body < count ? scene.transmitters[body].path : scene.observers[body - count].path
      let place = path.position(at: time)
      hasMoved[body] = truth.places[body] != place
      truth.places[body] = place
      if hasMoved[body] { tellAreas(of: body, at: place, time: time) }
      if tick % TruthState.positionEvery == 0, truth.toldPlaces[body] != place {
        truth.toldPlaces[body] = place
        tell(.position(place), body: body, at: time)
      }
    }
    for transmitter in 0..<count {
      let isOnAir = scene.transmitters[transmitter].onAir.contains(time)
      let hasSwitched = truth.wasOnAir[transmitter] != isOnAir
      truth.wasOnAir[transmitter] = isOnAir
      for observer in scene.observers.indices
      where hasSwitched || hasMoved[transmitter] || hasMoved[count + observer] {
        tellRange(of: transmitter, observer: observer, isOnAir: isOnAir, at: time)
      }
    }
    agenda.add(.observeTruth(tick: tick + 1), at: time + TruthState.period)
  }

  /// Tells first what is left, then what is entered.
  private mutating func tellAreas(of body: Int, at place: Point, time: TimeSpan) {
    let first = body * scene.areas.count
    for (index, area) in scene.areas.enumerated()
    where truth.isInArea[first + index] && !area.shape.contains(place) {
      truth.isInArea[first + index] = false
      tell(.leavesArea(area.name), body: body, at: time)
    }
    for (index, area) in scene.areas.enumerated()
    where !truth.isInArea[first + index] && area.shape.contains(place) {
      truth.isInArea[first + index] = true
      tell(.entersArea(area.name), body: body, at: time)
    }
  }

  private mutating func tellRange(of transmitter: Int, observer index: Int, isOnAir: Bool, at time: TimeSpan)
  {
    let observer = scene.observers[index]
    let level = scene.expectedLevel(of: scene.transmitters[transmitter], at: observer, time: time)
    let isInRange = isOnAir && level >= observer.sensitivity
    let slot = transmitter * scene.observers.count + index
    guard truth.isInRange[slot] != isInRange else { return }
    truth.isInRange[slot] = isInRange
    let fact: TruthEvent.Fact =
      isInRange ? .entersRange(observer: observer.id) : .leavesRange(observer: observer.id)
    tell(fact, body: transmitter, at: time)
  }

  private mutating func tell(_ fact: TruthEvent.Fact, body: Int, at time: TimeSpan) {
    let count = scene.transmitters.count
    guard body < count else { return tell(fact, observer: scene.observers[body - count], at: time) }
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
