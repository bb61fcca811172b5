package import PharosReports

extension LagEstimator {
  /// Writes what is known of the lag.
  func write(to writer: inout FieldWriter) {
    writer.write(isGiven)
    lag.write(to: &writer)
    guard !isGiven else { return }
    writer.write(prompt)
    writer.write(total)
    writer.write(sinceRead)
    writer.write(agedSinceRead)
    var used: UInt64 = 0
    for bin in bins.indices where bins[bin] != 0 { used |= 1 << UInt64(bin) }
    writer.write(used)
    for count in bins where count != 0 { writer.write(count) }
  }

  /// Reads what is known of the lag.
  init(from reader: inout FieldReader) throws(FieldError) {
    let isGiven = try reader.flag()
    let lag = try TimeSpan(from: &reader)
    self.init(given: isGiven ? lag : nil)
    guard !isGiven else { return }
    self.lag = min(max(lag, LagEstimator.least), LagEstimator.greatest)
    prompt = try reader.amount("prompt reports")
    total = try reader.amount("reports with ages")
    sinceRead = try reader.number(UInt16.self)
    agedSinceRead = try reader.number(UInt16.self)
    guard agedSinceRead <= sinceRead, sinceRead < LagEstimator.pause else {
      throw reader.failure(.outOfRange(field: "ages of late"))
    }
    let used = try reader.number(UInt64.self)
    guard used >> UInt64(LagEstimator.binCount) == 0 else { throw reader.failure(.outOfRange(field: "ages")) }
    if used != 0 { bins = Array(repeating: 0, count: LagEstimator.binCount) }
    for bin in bins.indices where used >> UInt64(bin) & 1 == 1 { bins[bin] = try reader.amount("ages") }
  }
}

extension ClockOffset {
  /// Writes how far the clock differs.
  func write(to writer: inout FieldWriter) {
    current.write(to: &writer)
    previous.write(to: &writer)
    turned.write(to: &writer)
    writer.write(UInt16(clamping: suspects))
    suspectLow.write(to: &writer)
    suspectHigh.write(to: &writer)
    suspectSince.write(to: &writer)
  }

  /// Reads how far the clock differs.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    current = try TimeSpan(from: &reader)
    previous = try TimeSpan(from: &reader)
    turned = try Timestamp(from: &reader)
    suspects = Int(try reader.number(UInt16.self))
    suspectLow = try TimeSpan(from: &reader)
    suspectHigh = try TimeSpan(from: &reader)
    suspectSince = try Timestamp(from: &reader)
  }
}

extension SequenceCheck {
  /// Writes what came and what was lost.
  package func write(to writer: inout FieldWriter) {
    writer.write(bootID.map { UInt64($0) })
    writer.write(received)
    writer.write(lost)
    writer.write(highest)
    writer.write(seen)
    // Bit 0: interrupted; above it the repeats.
    writer.write(repeats << 1 | (isInterrupted ? 1 : 0))
  }

  /// Reads what came and what was lost.
  package init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    bootID = try reader.optional(UInt64.self).map { UInt32(truncatingIfNeeded: $0) }
    received = try reader.total("datagrams received")
    lost = try reader.total("datagrams lost")
    highest = try reader.number(UInt32.self)
    seen = try reader.number(UInt64.self)
    let byte = try reader.byte()
    isInterrupted = byte & 1 == 1
    repeats = byte >> 1
    guard repeats <= SequenceCheck.mostRepeats + 1 else {
      throw reader.failure(.outOfRange(field: "datagrams that came twice"))
    }
  }
}
