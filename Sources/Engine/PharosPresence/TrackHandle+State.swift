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
  /// The greatest level that a state may hold: far beyond any real one.
  ///
  /// - Units: dB.
  fileprivate static let maximumLevel: Float = 1e9

  /// A level that was moved, held to what a state may hold; none stays none.
  static func held(_ level: Float) -> Float {
    level.isNaN ? level : min(maximumLevel, max(-maximumLevel, level))
  }
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

  /// The parts of a track.
  func parts(isStale: Bool) -> Parts {
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

  /// Hands what is known of the beacon to a coder, behind what it takes to make its track.
  ///
  /// A writer changes nothing, since the copy of an engine may share the track.
  func visitFields<Coder: FieldCoder>(_ parts: Parts, _ coder: inout Coder) throws(Coder.Failure) {
    var (learner, levelClass) = (learner, levelClass)
    var history = Coder.isReader ? LossHistory() : history
    var (hot, power) = (hot, cold.power)
    try coder.code(parts: &learner)
    try coder.code(parts: &history)
    if parts.contains(.levelClass) { try coder.code(&levelClass) }
    if parts.contains(.level) { try coder.code(&hot.level) }
    if parts.contains(.power) { try coder.code(level: &power, "a measured power") }
    if parts.contains(.sampleStart) {
      try coder.code(&hot.sinceSample)
      let isNear = hot.sinceSample <= TrackHandle.joinSpan.nanoseconds
      try coder.check(isNear || hot.sinceSample == HotTrack.noSample, "a sample")
    } else {
      hot.sinceSample = 0
    }
    if parts.contains(.usual) {
      try coder.code(level: &hot.usual.level, "a usual level")
      try coder.code(amount: &hot.usual.deviation, "a usual deviation")
    }
    if parts.contains(.kalman) { try coder.code(parts: &hot.kalman) }
    if Coder.isReader {
      self.hot = hot
      // Earlier versions kept what is no power.
      cold.power = MeasuredPower.known(Double(power)) == nil ? .nan : power
      (self.learner, self.history, self.levelClass) = (learner, history, levelClass)
    }
    try visitExtras(parts, &coder)
    for place in 0..<presenceCount {
      var presence = presence(place)
      try coder.code(parts: &presence)
      if Coder.isReader { keep(presence, at: place) }
    }
  }

  private func visitExtras<Coder: FieldCoder>(_ parts: Parts, _ coder: inout Coder) throws(Coder.Failure) {
    guard !parts.isDisjoint(with: [.declared, .proximity, .seconds, .extras]) else { return }
    var extras = cold.box?.extras ?? Extras()
    if parts.contains(.declared) { try coder.code(level: &extras.declared, "a declared interval") }
    if parts.contains(.proximity) { try coder.code(parts: &extras.proximity) }
    if parts.contains(.seconds) {
      try coder.code(parts: &extras.halves)
      try coder.code(parts: &extras.seconds)
    }
    if parts.contains(.extras) { try coder.code(parts: &extras) }
    guard Coder.isReader else { return }
    changeExtras { $0 = extras }
    if parts.contains(.extras) { recordExtras() }
  }

  /// Takes over what was read of a track that was just made.
  func restore(_ parts: Parts, samples: UInt32, key: UInt64) {
    sampleKey = key
    set(.listed, parts.contains(.listed))
    set(.crowd, parts.contains(.crowd))
    set(.weak, parts.contains(.weak))
    set(.unallowed, parts.contains(.unallowed))
    if parts.contains(.declaredPower) { hot.flags.insert(.declaredPower) }
    cold.samples = samples
    hot.samples = UInt16(truncatingIfNeeded: samples)
    cold.flushed = hot.samples
  }
}

/// The match sets of a state that is read, and what their numbers are in the engine.
struct RestoredSets {
  /// The sets, as the state numbers them.
  var sets: [MatchSet] = []
  /// Their numbers in the engine's catalog.
  var numbers: [Int32] = []
}

/// Whatever arithmetic relies on is checked as it is read, so that no bytes at all can make an engine that stops later.
extension FieldCoder {
  /// The greatest number of anything that is counted, in a state that is believed: three years of a million a second.
  private static var maximum: UInt64 { 1 << 56 }

  /// Codes a count.
  mutating func code(total: inout UInt64, _ field: StaticString) throws(Failure) {
    try code(&total, in: 0...Self.maximum, field)
  }

  /// Codes what event ids are counted with: it may begin anywhere, but must have room ahead.
  mutating func code(ids: inout UInt64, _ field: StaticString) throws(Failure) {
    try code(&ids, in: 0...(.max - Self.maximum), field)
  }

  /// Codes an amount: finite, not negative, at most a thousand million.
  mutating func code(amount: inout Float, _ field: StaticString) throws(Failure) {
    try code(&amount, in: 0...1e9, field)
  }

  /// Codes a level, or what stands for none.
  mutating func code(level: inout Float, _ field: StaticString) throws(Failure) {
    try code(&level)
    try check(level.isNaN || level.magnitude <= HotTrack.maximumLevel, field)
  }

  /// Codes a finite number.
  mutating func code(finite number: inout Double, _ field: StaticString) throws(Failure) {
    // Spans in nanoseconds, the longest of which is 9.2e18, are the greatest numbers that are kept.
    try code(&number, in: -1e19...1e19, field)
  }

  /// Codes a small whole number.
  mutating func code(small number: inout UInt8, through maximum: UInt8, _ field: StaticString) throws(Failure)
  {
    try code(&number, in: 0...maximum, field)
  }

  /// Codes a place in a list of so many.
  mutating func code(place: inout Int32, below count: Int, _ field: StaticString) throws(Failure) {
    try code(&place)
    try check(place >= 0 && place < count, field)
  }

  /// Codes a list of places in a list of so many.
  mutating func code(places: inout [Int32], below count: Int, _ field: StaticString) throws(Failure) {
    try code(&places)
    try check(places.allSatisfy { $0 >= 0 && $0 < count }, field)
  }

  /// Codes a number of slots or the like that is far from the ends of its range.
  mutating func code(whole number: inout Int64, _ field: StaticString) throws(Failure) {
    try code(&number, in: -1 << 62...1 << 62, field)
  }

  /// Codes the number of a second that is far from the ends of its range.
  mutating func code(second: inout Int64) throws(Failure) {
    try code(&second, in: -1 << 50...1 << 50, "a second")
  }
}
