import PharosReports

extension Evidence {
  /// - Shape: the rule; a number with a bit for each member in the order of their declaration; the members that are there.
  func write(to writer: inout RecordWriter, time: Timestamp) {
    writer.byte(rule.code)
    writer.number(presence)
    if let samples { writer.signed(Int64(samples)) }
    if let counted { writer.signed(Int64(counted)) }
    if let window { writer.milliseconds(window) }
    if let spread { writer.milliseconds(spread) }
    if let gap { writer.milliseconds(gap) }
    if let allowedGap { writer.milliseconds(allowedGap) }
    if let stretch { writer.decimal(stretch, 3) }
    if let interval { writer.milliseconds(interval) }
    if let receptionShare { writer.decimal(receptionShare, 3) }
    if let lossRun { writer.decimal(lossRun, 2) }
    if let level { writer.decimal(level, 2) }
    if let levelDeviation { writer.decimal(levelDeviation, 2) }
    if let sampleLevel { writer.decimal(sampleLevel, 2) }
    if let threshold { writer.decimal(threshold, 2) }
    if let distance { writer.decimal(distance, 3) }
    if let belowFor { writer.milliseconds(belowFor) }
    if let margin { writer.decimal(margin, 3) }
    if let lastHeard { writer.time(lastHeard, from: time) }
    if let fixedRuleAt { writer.time(fixedRuleAt, from: time) }
    if let deafFor { writer.milliseconds(deafFor) }
    if let waitedForProof { writer.milliseconds(waitedForProof) }
    if let silence { silence.write(to: &writer) }
  }

  /// Reads what was written.
  init(from reader: inout RecordReader, time: Timestamp) throws(FieldError) {
    let code = try reader.byte()
    guard let rule = Rule(code: code) else { throw reader.failure(.unknownTag(field: "a rule", tag: code)) }
    self.init(rule: rule)
    let there = Presence(bits: try reader.number())
    if there[0] { samples = Int(try reader.signed()) }
    if there[1] { counted = Int(try reader.signed()) }
    if there[2] { window = try reader.milliseconds() }
    if there[3] { spread = try reader.milliseconds() }
    if there[4] { gap = try reader.milliseconds() }
    if there[5] { allowedGap = try reader.milliseconds() }
    if there[6] { stretch = try reader.decimal(3) }
    if there[7] { interval = try reader.milliseconds() }
    if there[8] { receptionShare = try reader.decimal(3) }
    if there[9] { lossRun = try reader.decimal(2) }
    if there[10] { level = try reader.decimal(2) }
    if there[11] { levelDeviation = try reader.decimal(2) }
    if there[12] { sampleLevel = try reader.decimal(2) }
    if there[13] { threshold = try reader.decimal(2) }
    if there[14] { distance = try reader.decimal(3) }
    if there[15] { belowFor = try reader.milliseconds() }
    if there[16] { margin = try reader.decimal(3) }
    if there[17] { lastHeard = try reader.time(from: time) }
    if there[18] { fixedRuleAt = try reader.time(from: time) }
    if there[19] { deafFor = try reader.milliseconds() }
    if there[20] { waitedForProof = try reader.milliseconds() }
    if there[21] { silence = try SilenceBasis(from: &reader) }
  }

  private var presence: UInt64 {
    var bits: UInt64 = 0
    if samples != nil { bits |= 1 << 0 }
    if counted != nil { bits |= 1 << 1 }
    if window != nil { bits |= 1 << 2 }
    if spread != nil { bits |= 1 << 3 }
    if gap != nil { bits |= 1 << 4 }
    if allowedGap != nil { bits |= 1 << 5 }
    if stretch != nil { bits |= 1 << 6 }
    if interval != nil { bits |= 1 << 7 }
    if receptionShare != nil { bits |= 1 << 8 }
    if lossRun != nil { bits |= 1 << 9 }
    if level != nil { bits |= 1 << 10 }
    if levelDeviation != nil { bits |= 1 << 11 }
    if sampleLevel != nil { bits |= 1 << 12 }
    if threshold != nil { bits |= 1 << 13 }
    if distance != nil { bits |= 1 << 14 }
    if belowFor != nil { bits |= 1 << 15 }
    if margin != nil { bits |= 1 << 16 }
    if lastHeard != nil { bits |= 1 << 17 }
    if fixedRuleAt != nil { bits |= 1 << 18 }
    if deafFor != nil { bits |= 1 << 19 }
    if waitedForProof != nil { bits |= 1 << 20 }
    if silence != nil { bits |= 1 << 21 }
    return bits
  }
}

/// Which members of the evidence are there.
private struct Presence {
  let bits: UInt64

  subscript(_ place: UInt64) -> Bool { bits >> place & 1 == 1 }
}

extension SilenceBasis {
  /// - Shape: a byte with the surroundings (bits 0, 1) and whether there is a tail (2); the numbers in the order of their declaration.
  fileprivate func write(to writer: inout RecordWriter) {
    writer.byte(surroundings.code | (tail == nil ? 0 : 4))
    writer.milliseconds(pace)
    writer.decimal(opportunities, 3)
    writer.decimal(runChance, 9)
    writer.decimal(budget, 12)
    writer.decimal(continued, 3)
    writer.decimal(ended, 3)
    if let tail {
      writer.signed(Int64(tail.from))
      writer.decimal(tail.chance, 9)
      writer.decimal(tail.continuation, 9)
    }
    writer.signed(Int64(misses))
    writer.span(floor)
    writer.span(ceiling)
  }

  fileprivate init(from reader: inout RecordReader) throws(FieldError) {
    let flags = try reader.byte()
    guard flags < 8, let surroundings = LevelClass(code: flags & 3) else {
      throw reader.failure(.unknownTag(field: "a silence", tag: flags))
    }
    self.init(untouched: try reader.milliseconds(), surroundings: surroundings)
    opportunities = try reader.decimal(3)
    runChance = try reader.decimal(9)
    budget = try reader.decimal(12)
    continued = try reader.decimal(3)
    ended = try reader.decimal(3)
    if flags & 4 != 0 {
      var tail = Tail(from: Int(try reader.signed()), chance: 0, continuation: 0)
      tail.chance = try reader.decimal(9)
      tail.continuation = try reader.decimal(9)
      self.tail = tail
    }
    misses = Int(try reader.signed())
    floor = try reader.span()
    ceiling = try reader.span()
  }
}
