package import PharosModel

/// room-assistant: the instance that takes a tag to be nearest wins at once; 60 s of silence and it is not home.
///
/// Each instance smooths levels with a Kalman filter of one state and turns them into a distance by the classic curve,
/// rounded to a tenth of a metre. There is neither margin nor dwell, so that a tag between two instances goes back and
/// forth as their noise does.
///
/// - Source: `room-presence-distance.sensor.ts` (nearest in-range instance at once, time-out 60 s), the Kalman filter's
///   constants in the code (R 0.008, Q 4; the documents say 0.0008), the curve in `tag.ts`.
/// - Simplified: no range limit, as by default; instances agree at once, where the real ones talk over a network; the
///   silence of an instance is seen at once, where the real one looks once a second.
package struct RoomAssistant: Comparator {
  /// The name that tables show.
  package let name: String

  /// The silence after which an instance's distance no longer counts.
  package static let timeout = TimeSpan.seconds(60)

  private let observers: [ComparatorObserver]?
  private var presence = SilenceTimeout(span: RoomAssistant.timeout, scope: .site)
  private var places = PairPlaces()
  private var order = HeardOrder()
  private var beacons: [Beacon] = []

  /// Makes the rule; with observers it decides rooms as well.
  package init(observers: [ComparatorObserver]? = nil) {
    self.observers = observers
    name = observers == nil ? "room-assistant 60 s" : "room-assistant nearest"
  }

  /// Takes an advert.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    advance(to: sighting.time - .oneNanosecond, into: &verdicts)
    presence.heard(sighting, into: &verdicts)
    guard let observers, observers.indices.contains(Int(sighting.observer)) else { return }
    order.receive(places.place(observer: sighting.observer, beacon: sighting.beacon), at: sighting.time)
    let beacon = Int(sighting.beacon)
    while beacons.count <= beacon { beacons.append(Beacon(observers: observers.count)) }
    beacons[beacon].hears(sighting)
    evaluate(beacon, at: sighting.time, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    let start = verdicts.count
    presence.advance(to: time, into: &verdicts)
    while let oldest = order.oldest, oldest.time + RoomAssistant.timeout <= time {
      order.remove(oldest.place)
      let pair = places.pairs[oldest.place]
      beacons[Int(pair.beacon)].instances[Int(pair.observer)].distance = nil
      evaluate(Int(pair.beacon), at: oldest.time + RoomAssistant.timeout, into: &verdicts)
    }
    verdicts.sortByTime(from: start)
  }

  private mutating func evaluate(_ beacon: Int, at time: Timestamp, into verdicts: inout [Verdict]) {
    guard let observers else { return }
    let room = beacons[beacon].nearest.flatMap { observers[$0].room }
    guard room != beacons[beacon].room else { return }
    beacons[beacon].room = room
    verdicts.append(Verdict(beacon: Int32(beacon), time: time, change: .room(room)))
  }

  /// The distance of a level: the curve that Radius Networks fitted, a tenth power below one metre.
  ///
  /// - Returns: metres, rounded to tenths.
  package static func distance(level: Double, measuredPower: Double) -> Double {
    guard measuredPower < 0, level < 0 else { return 0 }
    let ratio = level / measuredPower
    let meters = ratio < 1 ? RadioMath.power(ratio, 10) : 0.89976 * RadioMath.power(ratio, 7.7095) + 0.111
    return (meters * 10).rounded() / 10
  }

  private struct Beacon: Sendable {
    var instances: [Instance]
    var room: Int32?

    init(observers: Int) { instances = Array(repeating: Instance(), count: observers) }

    /// The instance with the shortest distance; of equal ones the first.
    var nearest: Int? {
      var nearest: (instance: Int, distance: Double)?
      for index in instances.indices {
        guard let distance = instances[index].distance, distance < nearest?.distance ?? .infinity else {
          continue
        }
        nearest = (index, distance)
      }
      return nearest?.instance
    }

    mutating func hears(_ sighting: Sighting) {
      instances[Int(sighting.observer)].hears(level: sighting.level, measuredPower: sighting.measuredPower)
    }
  }

  /// One instance's view of a tag: a Kalman filter of one state, in dBm, and the distance that it gives.
  private struct Instance: Sendable {
    /// The variance of the level from advert to advert (the code's R), and that of a reading (its Q), in dB².
    static let (wander, noise) = (0.008, 4.0)

    var level: Double?
    var variance = Instance.noise
    var distance: Double?

    mutating func hears(level reading: Double, measuredPower: Double) {
      if let before = level {
        let predicted = variance + Instance.wander
        let gain = predicted / (predicted + Instance.noise)
        level = before + gain * (reading - before)
        variance = predicted - gain * predicted
      } else {
        level = reading
      }
      distance = RoomAssistant.distance(level: level ?? reading, measuredPower: measuredPower)
    }
  }
}
