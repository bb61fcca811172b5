import PharosDocuments
import PharosModel

extension HotTrack {
  /// The content of a free place.
  static let free = HotTrack(
    scope: ScopeTable.none,
    sampleTag: 0,
    key: 0,
    lastHeard: .distantPast,
    epoch: 0
  )
}

extension ColdTrack {
  /// The content of a free place.
  static let free = ColdTrack(sampleKey: 0, hash: 0, matchSet: 0, policy: 0, marks: [])
}

extension TrackHandle {
  /// The parts that are present; absent ones are as in a new track.
  struct Parts: OptionSet {
    let rawValue: UInt16
    static let listed = Parts(rawValue: 1)
    static let declaredPower = Parts(rawValue: 2)
    static let stale = Parts(rawValue: 4)
    static let crowd = Parts(rawValue: 8)
    static let levelClass = Parts(rawValue: 16)
    static let weak = Parts(rawValue: 32)
    static let level = Parts(rawValue: 64)
    static let power = Parts(rawValue: 128)
    static let sampleStart = Parts(rawValue: 256)
    static let usual = Parts(rawValue: 512)
    static let kalman = Parts(rawValue: 1_024)
    static let declared = Parts(rawValue: 2_048)
    static let unallowed = Parts(rawValue: 4_096)
    static let proximity = Parts(rawValue: 8_192)
    static let seconds = Parts(rawValue: 16_384)
    static let extras = Parts(rawValue: 32_768)
  }

  private func parts(isStale: Bool) -> Parts {
    let marks = cold.marks
    var parts: Parts = marks.contains(.listed) ? .listed : []
    if hot.flags.contains(.declaredPower) { parts.insert(.declaredPower) }
    if isStale { parts.insert(.stale) }
    if marks.contains(.crowd) { parts.insert(.crowd) }
    if marks.contains(.weak) { parts.insert(.weak) }
    if levelClass != .usual { parts.insert(.levelClass) }
    if marks.contains(.unallowed) { parts.insert(.unallowed) }
    if hot.level != HotTrack.noLevel { parts.insert(.level) }
    if !cold.power.isNaN { parts.insert(.power) }
    if hot.sinceSample != 0 { parts.insert(.sampleStart) }
    if !hot.usual.level.isNaN { parts.insert(.usual) }
    if !hot.estimate.isNaN { parts.insert(.kalman) }
    guard let extras = cold.box?.extras else { return parts }
    if !extras.declared.isNaN { parts.insert(.declared) }
    if extras.proximity.proximity != .unknown { parts.insert(.proximity) }
    if extras.hasOpenSeconds { parts.insert(.seconds) }
    if !extras.sparse.isEmpty || marks.contains(.shared) { parts.insert(.extras) }
    return parts
  }

  /// Writes what is known of the beacon.
  func write(_ beacon: BeaconID, to writer: inout FieldWriter, isStale: Bool) {
    let parts = parts(isStale: isStale)
    beacon.write(to: &writer)
    writer.write(parts.rawValue)
    writer.write(cold.matchSet)
    writer.write(samples)
    writer.write(cold.sampleKey)
    hot.lastHeard.write(to: &writer)
    learner.write(to: &writer)
    history.write(to: &writer)
    if parts.contains(.levelClass) { writer.write(levelClass) }
    if parts.contains(.level) { writer.write(UInt8(bitPattern: hot.level)) }
    if parts.contains(.power) { writer.write(cold.power) }
    if parts.contains(.sampleStart) { writer.write(hot.sinceSample) }
    if parts.contains(.usual) {
      writer.write(hot.usual.level)
      writer.write(hot.usual.deviation)
    }
    if parts.contains(.kalman) { hot.kalman.write(to: &writer) }
    if let extras = cold.box?.extras {
      if parts.contains(.declared) { writer.write(extras.declared) }
      if parts.contains(.proximity) { writer.write(extras.proximity.number) }
      if parts.contains(.seconds) {
        extras.halves.write(to: &writer)
        extras.seconds.write(to: &writer)
      }
      if parts.contains(.extras) { extras.write(to: &writer) }
    }
    for place in 0..<presenceCount { presence(place).write(to: &writer) }
  }

  /// Reads what is known of the beacon into a new track.
  func read(
    _ parts: Parts,
    samples: UInt32,
    key: UInt64,
    from reader: inout FieldReader
  ) throws(FieldError) {
    sampleKey = key
    set(.listed, parts.contains(.listed))
    set(.crowd, parts.contains(.crowd))
    set(.weak, parts.contains(.weak))
    set(.unallowed, parts.contains(.unallowed))
    if parts.contains(.declaredPower) { hot.flags.insert(.declaredPower) }
    learner = try IntervalLearner(from: &reader)
    history = try LossHistory(from: &reader)
    cold.samples = samples
    hot.samples = UInt16(truncatingIfNeeded: samples)
    cold.flushed = hot.samples
    if parts.contains(.levelClass) { levelClass = try reader.read() }
    if parts.contains(.level) { hot.level = Int8(bitPattern: try reader.byte()) }
    if parts.contains(.power) { cold.power = try reader.level("a measured power") }
    hot.sinceSample = parts.contains(.sampleStart) ? try reader.sinceSample() : 0
    if parts.contains(.usual) {
      hot.usual.level = try reader.level("a usual level")
      hot.usual.deviation = try reader.amount("a usual deviation")
    }
    if parts.contains(.kalman) { hot.kalman = try KalmanLevel(from: &reader) }
    if parts.contains(.declared) { declaredInterval = try reader.level("a declared interval") }
    if parts.contains(.proximity) {
      let proximity = try ProximityClassifier(from: &reader)
      changeExtras { $0.proximity = proximity }
    }
    if parts.contains(.seconds) {
      let halves = try SecondBuckets(from: &reader)
      let seconds = try SecondBuckets(from: &reader)
      changeExtras { ($0.halves, $0.seconds) = (halves, seconds) }
    }
    if parts.contains(.extras) { try readExtras(from: &reader) }
    for place in 0..<presenceCount {
      keep(try Presence(policy: presence(place).policy, from: &reader), at: place)
    }
    settle()
  }

  private func readExtras(from reader: inout FieldReader) throws(FieldError) {
    let sparse = try SparseGaps(from: &reader)
    var others: [OtherAddress] = []
    for _ in 0..<(try reader.small("addresses", through: UInt8(TrackHandle.addresses))) {
      others.append(try OtherAddress(from: &reader))
    }
    changeExtras {
      $0.sparse = sparse
      $0.others = others
    }
    noteExtras()
  }
}

/// The match sets of a state that is read, and what their numbers are in the engine.
struct RestoredSets {
  /// The sets, as the state numbers them.
  var sets: [MatchSet] = []
  /// Their numbers in the engine's catalog.
  var numbers: [Int32] = []
}

/// The reading of an engine's state: whatever arithmetic relies on is checked here, so that no bytes at all can make an
/// engine that stops later.
extension FieldReader {
  /// The greatest number of anything that is counted, in a state that is believed: three years of a million a second.
  static let most: UInt64 = 1 << 56

  /// Reads a count.
  mutating func total(_ field: String) throws(FieldError) -> UInt64 {
    let number = try number(UInt64.self)
    guard number <= FieldReader.most else { throw failure(.outOfRange(field: field)) }
    return number
  }

  /// Reads what event ids are counted with: it may begin anywhere, but must have room ahead.
  mutating func counter(_ field: String) throws(FieldError) -> UInt64 {
    let number = try number(UInt64.self)
    guard number <= .max - FieldReader.most else { throw failure(.outOfRange(field: field)) }
    return number
  }

  /// Reads an amount: finite, not negative, at most a thousand million.
  mutating func amount(_ field: String) throws(FieldError) -> Float {
    let number = try float()
    guard number >= 0, number <= 1e9 else { throw failure(.outOfRange(field: field)) }
    return number
  }

  /// The greatest level that a state may hold: far beyond any real one.
  ///
  /// - Units: dB.
  private static let maximumLevel: Float = 1e9

  /// Reads a level, or what stands for none.
  mutating func level(_ field: String) throws(FieldError) -> Float {
    let number = try float()
    guard number.isNaN || number.magnitude <= FieldReader.maximumLevel else {
      throw failure(.outOfRange(field: field))
    }
    return number
  }

  /// A level that was moved, held to what a state may hold; none stays none.
  static func held(_ level: Float) -> Float {
    level.isNaN ? level : min(maximumLevel, max(-maximumLevel, level))
  }

  /// Reads a finite number.
  mutating func finite(_ field: String) throws(FieldError) -> Double {
    let number = try double()
    // Spans in nanoseconds, the longest of which is 9.2e18, are the greatest numbers that are kept.
    guard number.magnitude <= 1e19 else { throw failure(.outOfRange(field: field)) }
    return number
  }

  /// Reads a small whole number.
  mutating func small(_ field: String, through most: UInt8) throws(FieldError) -> UInt8 {
    let number = try byte()
    guard number <= most else { throw failure(.outOfRange(field: field)) }
    return number
  }

  /// Reads a place in a list of so many.
  mutating func place(_ field: String, below count: Int) throws(FieldError) -> Int32 {
    let number = try number(Int32.self)
    guard number >= 0, number < count else { throw failure(.outOfRange(field: field)) }
    return number
  }

  /// Reads a number of seconds, slots or the like that is far from the ends of its range.
  mutating func whole(_ field: String) throws(FieldError) -> Int64 {
    let number = try number(Int64.self)
    guard number.magnitude <= 1 << 62 else { throw failure(.outOfRange(field: field)) }
    return number
  }
}

extension FieldWriter {
  mutating func write(places: [Int32]) {
    write(UInt32(places.count))
    for place in places { write(place) }
  }
}

extension FieldReader {
  /// Reads a list of places in a list of so many.
  mutating func places(_ field: String, below count: Int) throws(FieldError) -> [Int32] {
    var places: [Int32] = []
    for _ in 0..<(try self.count(ofAtLeast: 4)) { places.append(try place(field, below: count)) }
    return places
  }

  /// Reads how long before it was last heard a sample began, in nanoseconds, or what stands for none.
  mutating func sinceSample() throws(FieldError) -> UInt32 {
    let number = try number(UInt32.self)
    guard number == HotTrack.noSample || number <= TrackHandle.joinSpan.nanoseconds else {
      throw failure(.outOfRange(field: "a sample"))
    }
    return number
  }
}
