package import PharosEvents
import PharosPlaces
package import PharosReports

extension Locator {
  /// Takes what the subject's handset sensed.
  package mutating func take(_ sensing: Sensing) {
    // What was received before this one is complete: the result must not depend on when anybody asked for time to run on.
    process(through: sensing.decidedAt - rules.lag)
    switch sensing.body {
    case .accessPoints(let points):
      for point in points { take(point, told: sensing.time) }
    case .beacon(let beacon, let address, let rssi, accuracy: _):
      guard let emitter = content.emitter(ofBeacon: beacon, address: address) else {
        counters.unknown += 1
        return
      }
      let reading = RadioReading(
        heard: sensing.time,
        emitter: emitter,
        level: Float(rssi.dBm),
        kind: .beacon
      )
      add(reading, told: sensing.time)
    case .motion(let samples):
      for sample in samples { tracker.take(sample, at: sensing.time - sample.age) }
      newestInput = max(newestInput, sensing.time)
    case .outside(let fix):
      take(fix, told: sensing.time)
    }
  }

  /// Takes how a fixed observer heard the subject, a tag, in a second.
  ///
  /// - Parameters:
  ///   - observer: Who heard it.
  ///   - level: The mean level in dBm.
  ///   - time: When it was last heard in that second.
  ///   - decidedAt: When that was known.
  package mutating func hear(
    _ observer: ObserverID,
    level: Double,
    heard time: Timestamp,
    decidedAt: Timestamp
  ) {
    process(through: decidedAt - rules.lag)
    guard let emitter = content.emitter(.observer(observer)) else {
      counters.unknown += 1
      return
    }
    offset.expectSender(deviation: rules.senderDeviation)
    add(RadioReading(heard: time, emitter: emitter, level: Float(level), kind: .observer), told: time)
  }

  private mutating func take(_ point: AccessPoint, told time: Timestamp) {
    guard let rssi = point.rssi else { return }
    guard let emitter = content.emitter(.accessPoint(point.bssid)) else {
      counters.unknown += 1
      return
    }
    guard point.lastHeard <= rules.oldestReading else {
      counters.repeated += 1
      return
    }
    let age = max(.zero, point.lastHeard)
    let reading = RadioReading(
      heard: time - age,
      emitter: emitter,
      level: Float(rssi.dBm),
      kind: .accessPoint
    )
    add(reading, told: time)
  }

  private mutating func take(_ fix: OutsideFix, told time: Timestamp) {
    let radius = fix.horizontalAccuracy.value
    guard radius.isFinite, radius > 0, Coordinate(latitude: fix.latitude, longitude: fix.longitude) != nil
    else {
      counters.senseless += 1
      return
    }
    guard time > now else {
      counters.late += 1
      return
    }
    newestInput = max(newestInput, time)
    if !inbox.add(fix, told: time) { counters.crowded += 1 }
  }

  private mutating func add(_ reading: RadioReading, told time: Timestamp) {
    guard time > now else {
      counters.late += 1
      return
    }
    newestInput = max(newestInput, time)
    if !inbox.add(reading, told: time) { counters.crowded += 1 }
  }
}
