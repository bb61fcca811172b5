import PharosReports

extension IntervalLearner {
  /// Writes what was learned.
  func write(to writer: inout FieldWriter) {
    writer.write(interval)
    writer.write(received)
    writer.write(counts.divisor)
    writer.write(counts.gaps)
    writer.write(counts.regular)
    writer.write(counts.shorts)
  }

  /// Reads what was learned.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    interval = try reader.amount("an interval")
    received = try reader.amount("adverts received")
    counts.divisor = try reader.small("a divisor", through: GapCounts.greatestDivisor)
    counts.gaps = try reader.small("gaps", through: GapCounts.window - 1)
    counts.regular = try reader.small("regular gaps", through: GapCounts.mostRegular)
    counts.shorts = try reader.small("short gaps", through: GapCounts.mostShorts)
  }
}

extension LossHistory {
  /// Which parts are there: nearly all of nearly all histories is zero.
  private struct Parts: OptionSet {
    let rawValue: UInt8
    static let runs = Parts(rawValue: 1)
    static let long = Parts(rawValue: 2)
    static let low = Parts(rawValue: 4)
    static let far = Parts(rawValue: 8)
    static let slowest = Parts(rawValue: 16)
    static let shorter = Parts(rawValue: 32)
    static let candidate = Parts(rawValue: 64)
    static let full = Parts(rawValue: 128)
  }

  private var parts: Parts {
    var parts: Parts = rare.isFull ? .full : []
    if runs != 0 || lost != 0 || recentRuns != 0 || recentLost != 0 { parts.insert(.runs) }
    if rare.longRuns | rare.longLost | rare.longestRuns | rare.longestLost != 0 { parts.insert(.long) }
    if rare.low != RareLosses.Counts() { parts.insert(.low) }
    if rare.far != RareLosses.Counts() { parts.insert(.far) }
    if slowest != 0 { parts.insert(.slowest) }
    if shorter != 0 { parts.insert(.shorter) }
    if candidate != 0 || rare.candidateAt != 0 || rare.candidates != 0 { parts.insert(.candidate) }
    return parts
  }

  /// Writes what was lost.
  func write(to writer: inout FieldWriter) {
    let parts = parts
    writer.write(parts.rawValue)
    if parts.contains(.runs) {
      writer.write(runs)
      writer.write(lost)
      writer.write(recentRuns)
      writer.write(recentLost)
    }
    if parts.contains(.long) {
      for count in [rare.longRuns, rare.longLost, rare.longestRuns, rare.longestLost] { writer.write(count) }
    }
    if parts.contains(.low) { rare.low.write(to: &writer) }
    if parts.contains(.far) { rare.far.write(to: &writer) }
    if parts.contains(.slowest) { writer.write(slowest) }
    if parts.contains(.shorter) { writer.write(shorter) }
    guard parts.contains(.candidate) else { return }
    writer.write(candidate)
    writer.write(rare.candidateAt)
    writer.write(rare.candidates)
  }

  /// Reads what was lost.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    let parts = Parts(rawValue: try reader.byte())
    rare.isFull = parts.contains(.full)
    if parts.contains(.runs) {
      runs = try reader.amount("runs of losses")
      lost = try reader.amount("losses")
      recentRuns = try reader.number(UInt16.self)
      recentLost = try reader.number(UInt16.self)
    }
    if parts.contains(.long) {
      rare.longRuns = try reader.number(UInt16.self)
      rare.longLost = try reader.number(UInt16.self)
      rare.longestRuns = try reader.number(UInt16.self)
      rare.longestLost = try reader.number(UInt16.self)
    }
    if parts.contains(.low) { rare.low = try RareLosses.Counts(from: &reader) }
    if parts.contains(.far) { rare.far = try RareLosses.Counts(from: &reader) }
    if parts.contains(.slowest) { slowest = try reader.amount("the slowest interval") }
    if parts.contains(.shorter) { shorter = try reader.amount("a shorter gap") }
    guard parts.contains(.candidate) else { return }
    rare.candidate = try reader.amount("a longer gap")
    rare.candidateAt = try reader.byte()
    rare.candidates = try reader.small("longer gaps", through: 128)
  }
}

extension RareLosses.Counts {
  fileprivate func write(to writer: inout FieldWriter) {
    writer.write(received)
    writer.write(runs)
    writer.write(lost)
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    received = try reader.number(UInt16.self)
    runs = try reader.number(UInt16.self)
    lost = try reader.number(UInt16.self)
  }
}
