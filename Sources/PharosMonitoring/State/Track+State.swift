import PharosEvents
package import PharosReports

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
    static let proximity = Parts(rawValue: 8_192)
    static let seconds = Parts(rawValue: 16_384)
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
    if sample.number != 0 { parts.insert(.sampleStart) }
    if !usual.level.isNaN { parts.insert(.usual) }
    if !kalman.isEmpty { parts.insert(.kalman) }
    if declaredInterval != nil { parts.insert(.declared) }
    if proximity.proximity != .unknown { parts.insert(.proximity) }
    if !seconds.open.isEmpty { parts.insert(.seconds) }
    if box?.extras.window != nil || hasOthers { parts.insert(.extras) }
    return parts
  }

  /// Writes what is known of the beacon.
  ///
  /// - Parameters:
  ///   - writer: where it is written to.
  ///   - isStale: whether it must look again for who asks about it.
  package func write(to writer: inout FieldWriter, isStale: Bool) {
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
    if parts.contains(.sampleStart) { writer.write(sample.number) }
    if parts.contains(.usual) {
      writer.write(usual.level)
      writer.write(usual.deviation)
    }
    if parts.contains(.kalman) { kalman.write(to: &writer) }
    if parts.contains(.declared), let declaredInterval { writer.write(declaredInterval) }
    if parts.contains(.proximity) { writer.write(proximity.number) }
    if parts.contains(.seconds) { seconds.write(to: &writer) }
    if parts.contains(.extras), let box { box.extras.write(to: &writer) }
    for place in 0..<presenceCount { self[presence: place].write(to: &writer) }
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
    if parts.contains(.seconds) { seconds = try SecondBuckets(from: &reader) }
    if parts.contains(.extras) { try readExtras(from: &reader) }
    for place in 0..<presenceCount {
      self[presence: place] = try Presence(policy: UInt16(policy(at: place)), from: &reader)
    }
    noteCalm()
  }

  private mutating func readLevels(_ parts: Parts, from reader: inout FieldReader) throws(FieldError) {
    if parts.contains(.sampleLevel) { sampleLevel = try reader.level("a sample's level") }
    if parts.contains(.power) { power = try reader.level("a measured power") }
    sample.number = parts.contains(.sampleStart) ? try reader.sinceSample() : 0
    if parts.contains(.usual) {
      usual.level = try reader.level("a usual level")
      usual.deviation = try reader.amount("a usual deviation")
    }
    if parts.contains(.kalman) { kalman = try KalmanLevel(from: &reader) }
    if parts.contains(.declared) { declaredInterval = try reader.level("a declared interval") }
    if parts.contains(.proximity) { proximity = try ProximityClassifier(from: &reader) }
  }
}

extension FieldReader {
  /// Reads how long before it was last heard a sample began, in nanoseconds, or what stands for none.
  mutating func sinceSample() throws(FieldError) -> UInt32 {
    let number = try number(UInt32.self)
    guard number == Track.noSample || number <= Track.joinSpan.nanoseconds else {
      throw failure(.outOfRange(field: "a sample"))
    }
    return number
  }
}

/// The match sets of a state that is read, and what their numbers are in the engine.
struct RestoredSets {
  /// The sets, as the state numbers them.
  var sets: [MatchSet] = []
  /// Their numbers in the engine's catalog.
  var numbers: [Int32] = []
}
