package import PharosModel

/// reelyActive's barnacles and chimps: appearance, displacement whenever another receiver is the strongest, and
/// disappearance after 15 s.
///
/// Decodings are compiled for a second; the receiver with the highest mean level is where the tag is. No margin
/// and no dwell stand between two rooms whose receivers are about as loud.
///
/// - Source: barnacles (delay 1,000 ms, disappearance 15,000 ms, displacement on a change of receiver), the mean for each
///   receiver and second of raddec's signature.
/// - Simplified: a window opens with the first decoding after the last one closed, in place of timers that run on
///   whether anything is heard or not; keep-alives, which change nothing, are left out; equal means go to the receiver
///   with the lower number.
package struct ReelyActive: Comparator {
  /// The name that tables show.
  package let name: String

  /// The time for which decodings are compiled before the rule gives a verdict.
  package static let delay = TimeSpan.seconds(1)
  /// The silence that is a disappearance.
  package static let disappearance = TimeSpan.seconds(15)

  private let observers: [ComparatorObserver]?
  private var timeout = SilenceTimeout(
    span: ReelyActive.disappearance,
    scope: .site,
    enterDelay: .span(ReelyActive.delay)
  )
  private var windows = HeardOrder()
  private var beacons: [Beacon] = []

  /// Makes the rule; with observers it decides rooms as well.
  package init(observers: [ComparatorObserver]? = nil) {
    self.observers = observers
    name = observers == nil ? "reelyActive 15 s" : "reelyActive strongest"
  }

  /// Takes a decoding.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    advance(to: sighting.time - .oneNanosecond, into: &verdicts)
    timeout.heard(sighting, into: &verdicts)
    guard let observers, observers.indices.contains(Int(sighting.observer)) else { return }
    let beacon = Int(sighting.beacon)
    while beacons.count <= beacon { beacons.append(Beacon(observers: observers.count)) }
    if !windows.contains(beacon) { windows.receive(beacon, at: sighting.time) }
    beacons[beacon].levels[Int(sighting.observer)].sum += sighting.level
    beacons[beacon].levels[Int(sighting.observer)].count += 1
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    let start = verdicts.count
    timeout.advance(to: time, into: &verdicts)
    let decidedBefore = verdicts.count
    while let window = windows.oldest, window.time + ReelyActive.delay <= time {
      windows.remove(window.place)
      close(window.place, at: window.time + ReelyActive.delay, into: &verdicts)
    }
    // A window always closes long before the silence that ends the visit.
    for index in start..<decidedBefore {
      guard case .exit = verdicts[index].change else { continue }
      leave(Int(verdicts[index].beacon), at: verdicts[index].time, into: &verdicts)
    }
    verdicts.sortByTime(from: start)
  }

  private mutating func close(_ beacon: Int, at time: Timestamp, into verdicts: inout [Verdict]) {
    var strongest: (observer: Int, level: Double)?
    for observer in beacons[beacon].levels.indices {
      let level = beacons[beacon].levels[observer]
      beacons[beacon].levels[observer] = Beacon.Level()
      guard level.count > 0 else { continue }
      let mean = level.sum / level.count
      if mean > strongest?.level ?? -.infinity { strongest = (observer, mean) }
    }
    guard let observers, let strongest else { return }
    let room = observers[strongest.observer].room
    guard room != beacons[beacon].room else { return }
    beacons[beacon].room = room
    verdicts.append(Verdict(beacon: Int32(beacon), time: time, change: .room(room)))
  }

  private mutating func leave(_ beacon: Int, at time: Timestamp, into verdicts: inout [Verdict]) {
    guard beacons.indices.contains(beacon), beacons[beacon].room != nil else { return }
    beacons[beacon].room = nil
    verdicts.append(Verdict(beacon: Int32(beacon), time: time, change: .room(nil)))
  }

  private struct Beacon: Sendable {
    struct Level: Sendable {
      var sum = 0.0
      var count = 0.0
    }

    var levels: [Level]
    var room: Int32?

    init(observers: Int) { levels = Array(repeating: Level(), count: observers) }
  }
}
