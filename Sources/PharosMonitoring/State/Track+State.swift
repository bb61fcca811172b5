import PharosEvents
import PharosReports

extension Track {
  /// Which parts are there; what is not is as in a new track.
  private struct Parts: OptionSet {
    let rawValue: UInt16
    static let listed = Parts(rawValue: 1)
    static let declaredPower = Parts(rawValue: 2)
    static let stale = Parts(rawValue: 4)
    static let crowd = Parts(rawValue: 8)
    static let low = Parts(rawValue: 16)
    static let far = Parts(rawValue: 32)
    static let sampleLevel = Parts(rawValue: 64)
    static let power = Parts(rawValue: 128)
    static let sampleStart = Parts(rawValue: 256)
    static let usual = Parts(rawValue: 512)
    static let kalman = Parts(rawValue: 1_024)
    static let declared = Parts(rawValue: 2_048)
    static let armed = Parts(rawValue: 4_096)
    static let proximity = Parts(rawValue: 8_192)
    static let buckets = Parts(rawValue: 16_384)
    static let extras = Parts(rawValue: 32_768)
  }

  private func parts(isStale: Bool) -> Parts {
    var parts: Parts = isListed ? .listed : []
    if isPowerDeclared { parts.insert(.declaredPower) }
    if isStale { parts.insert(.stale) }
    if isCrowd { parts.insert(.crowd) }
    if surroundings != 0 { parts.insert(surroundings == 1 ? .low : .far) }
    if !sampleLevel.isNaN { parts.insert(.sampleLevel) }
    if !power.isNaN { parts.insert(.power) }
    if sampleStart != lastHeard { parts.insert(.sampleStart) }
    if !usual.level.isNaN { parts.insert(.usual) }
    if !kalman.isEmpty { parts.insert(.kalman) }
    if !declared.isNaN { parts.insert(.declared) }
    if armedAt != .distantFuture { parts.insert(.armed) }
    if proximity.proximity != .unknown { parts.insert(.proximity) }
    if !buckets.open.isEmpty { parts.insert(.buckets) }
    if !extras.isEmpty { parts.insert(.extras) }
    return parts
  }

  /// Writes what is known of the beacon.
  ///
  /// - Parameters:
  ///   - writer: where it is written to.
  ///   - isStale: whether it must look again for who asks about it.
  func write(to writer: inout FieldWriter, isStale: Bool) {
    let parts = parts(isStale: isStale)
    beacon.write(to: &writer)
    writer.write(parts.rawValue)
    writer.write(matchSet)
    writer.write(samples)
    writer.write(sampleKey)
    lastHeard.write(to: &writer)
    intervals.write(to: &writer)
    history.write(to: &writer)
    if parts.contains(.sampleLevel) { writer.write(sampleLevel) }
    if parts.contains(.power) { writer.write(power) }
    if parts.contains(.sampleStart) { sampleStart.write(to: &writer) }
    if parts.contains(.usual) {
      writer.write(usual.level)
      writer.write(usual.deviation)
    }
    if parts.contains(.kalman) { kalman.write(to: &writer) }
    if parts.contains(.declared) { writer.write(declared) }
    if parts.contains(.armed) { armedAt.write(to: &writer) }
    if parts.contains(.proximity) { writer.write(proximity.number) }
    if parts.contains(.buckets) { buckets.write(to: &writer) }
    if parts.contains(.extras) { extras[0].write(to: &writer) }
    first.write(to: &writer)
    for presence in more { presence.write(to: &writer) }
  }

  /// Reads what is known of a beacon.
  ///
  /// - Parameters:
  ///   - reader: where it is read from.
  ///   - sets: the match sets of the state, and what their numbers are here.
  ///   - epoch: the epoch of the tracks that are up to date.
  /// - Throws: what is wrong with the bytes, and where.
  init(from reader: inout FieldReader, sets: borrowing RestoredSets, epoch: UInt32) throws(FieldError) {
    let beacon = try BeaconID(from: &reader)
    let parts = Parts(rawValue: try reader.number(UInt16.self))
    let place = Int(try reader.place("a match set", below: sets.sets.count))
    let samples = try reader.number(UInt32.self)
    let key = try reader.number(UInt64.self)
    let lastHeard = try Timestamp(from: &reader)
    self.init(
      beacon: beacon,
      at: lastHeard,
      number: sets.numbers[place],
      set: sets.sets[place],
      // Zero is no epoch: such a track looks again.
      epoch: parts.contains(.stale) ? 0 : epoch
    )
    self.samples = samples
    sampleKey = key
    isListed = parts.contains(.listed)
    isPowerDeclared = parts.contains(.declaredPower)
    isCrowd = parts.contains(.crowd)
    surroundings = parts.contains(.low) ? 1 : parts.contains(.far) ? 2 : 0
    intervals = try IntervalLearner(from: &reader)
    history = try LossHistory(from: &reader)
    try readLevels(parts, from: &reader)
    if parts.contains(.buckets) { buckets = try SecondBuckets(from: &reader) }
    if parts.contains(.extras) { extras = [try Extras(from: &reader)] }
    first = try Presence(policy: first.policy, from: &reader)
    for place in more.indices { more[place] = try Presence(policy: more[place].policy, from: &reader) }
    noteCalm()
  }

  private mutating func readLevels(_ parts: Parts, from reader: inout FieldReader) throws(FieldError) {
    if parts.contains(.sampleLevel) { sampleLevel = try reader.level("a sample's level") }
    if parts.contains(.power) { power = try reader.level("a measured power") }
    sampleStart = parts.contains(.sampleStart) ? try Timestamp(from: &reader) : lastHeard
    if parts.contains(.usual) {
      usual.level = try reader.level("a usual level")
      usual.deviation = try reader.amount("a usual deviation")
    }
    if parts.contains(.kalman) { kalman = try KalmanLevel(from: &reader) }
    if parts.contains(.declared) { declared = try reader.level("a declared interval") }
    if parts.contains(.armed) { armedAt = try Timestamp(from: &reader) }
    if parts.contains(.proximity) { proximity = try ProximityClassifier(from: &reader) }
  }
}

/// The match sets of a state that is read, and what their numbers are in the engine.
struct RestoredSets {
  /// The sets, as the state numbers them.
  var sets: [MatchSet] = []
  /// Their numbers in the engine's catalog.
  var numbers: [Int32] = []
}
