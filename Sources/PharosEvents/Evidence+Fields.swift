public import PharosReports

/// The evidence to the last bit, as a checkpoint stores it; an ``EventRecord`` stores it as published.
extension Evidence: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(rule.code)
    writer.write(count: samples)
    writer.write(count: counted)
    writer.write(window)
    writer.write(spread)
    writer.write(gap)
    writer.write(allowedGap)
    writer.write(stretch)
    writer.write(interval)
    writer.write(receptionShare)
    writer.write(lossRun)
    writer.write(level)
    writer.write(levelDeviation)
    writer.write(sampleLevel)
    writer.write(threshold)
    writer.write(distance)
    writer.write(belowFor)
    writer.write(margin)
    writer.write(lastHeard)
    writer.write(fixedRuleAt)
    writer.write(deafFor)
    writer.write(waitedForProof)
    writer.write(silence)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let code = try reader.byte()
    guard let rule = Rule(code: code) else {
      throw reader.failure(.unknownTag(field: "a rule", tag: code))
    }
    self.init(rule: rule)
    samples = try reader.count()
    counted = try reader.count()
    window = try reader.optional(TimeSpan.self)
    spread = try reader.optional(TimeSpan.self)
    gap = try reader.optional(TimeSpan.self)
    allowedGap = try reader.optional(TimeSpan.self)
    stretch = try reader.optional(Double.self)
    interval = try reader.optional(TimeSpan.self)
    receptionShare = try reader.optional(Double.self)
    lossRun = try reader.optional(Double.self)
    level = try reader.optional(Double.self)
    levelDeviation = try reader.optional(Double.self)
    sampleLevel = try reader.optional(Double.self)
    threshold = try reader.optional(Double.self)
    distance = try reader.optional(Double.self)
    belowFor = try reader.optional(TimeSpan.self)
    margin = try reader.optional(Double.self)
    lastHeard = try reader.optional(Timestamp.self)
    fixedRuleAt = try reader.optional(Timestamp.self)
    deafFor = try reader.optional(TimeSpan.self)
    waitedForProof = try reader.optional(TimeSpan.self)
    silence = try reader.optional(SilenceBasis.self)
  }
}

extension SilenceBasis: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    pace.write(to: &writer)
    writer.write(surroundings.code)
    writer.write(opportunities)
    writer.write(runChance)
    writer.write(budget)
    writer.write(continued)
    writer.write(ended)
    writer.write(tail)
    writer.write(Int64(misses))
    floor.write(to: &writer)
    ceiling.write(to: &writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let pace = try TimeSpan(from: &reader)
    let code = try reader.byte()
    guard let surroundings = LevelClass(code: code) else {
      throw reader.failure(.unknownTag(field: "surroundings", tag: code))
    }
    self.init(untouched: pace, surroundings: surroundings)
    opportunities = try reader.double()
    runChance = try reader.double()
    budget = try reader.double()
    continued = try reader.double()
    ended = try reader.double()
    tail = try reader.optional(Tail.self)
    misses = Int(try reader.number(Int64.self))
    floor = try TimeSpan(from: &reader)
    ceiling = try TimeSpan(from: &reader)
  }

  /// A basis whose numbers are still to be read, as they were written: rounding would round what was rounded.
  init(untouched pace: TimeSpan, surroundings: LevelClass) {
    self.init(
      pace: pace,
      surroundings: surroundings,
      opportunities: 0,
      runChance: 0,
      budget: 0,
      continued: 0,
      ended: 0,
      floor: .zero,
      ceiling: .zero
    )
    self.pace = pace
  }
}

extension SilenceBasis.Tail: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(Int64(from))
    writer.write(chance)
    writer.write(continuation)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(from: Int(try reader.number(Int64.self)), chance: 0, continuation: 0)
    chance = try reader.double()
    continuation = try reader.double()
  }
}

extension FieldWriter {
  fileprivate mutating func write(count: Int?) { write(count.map { UInt64(bitPattern: Int64($0)) }) }
}

extension FieldReader {
  fileprivate mutating func count() throws(FieldError) -> Int? {
    try optional(UInt64.self).map { Int(Int64(bitPattern: $0)) }
  }
}
