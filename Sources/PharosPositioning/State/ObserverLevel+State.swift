import PharosReports

extension ObserverLevel {
  /// Writes the levels, the observer by its place in the plan.
  func writeState(to writer: inout FieldWriter) {
    writer.write(place: observer)
    for number in [quick, variance, slow, slowVariance, home, homeSummaries, unrest, summaries, scatter] {
      writer.write(number)
    }
    toldAt.write(to: &writer)
    writer.write(samples)
    writer.write(isDark)
    writer.write(isBack)
    writer.write(isTorn)
    writer.write(levelAtOutage)
    gaps.writeState(to: &writer)
  }

  /// Reads the levels at one of so many observers.
  init(restoring reader: inout FieldReader, observers: Int) throws(FieldError) {
    observer = try reader.place(below: observers)
    quick = try reader.finite()
    variance = try reader.finite()
    slow = try reader.finite()
    slowVariance = try reader.finite()
    home = try reader.finite()
    homeSummaries = try reader.finite()
    unrest = try reader.finite()
    summaries = try reader.finite()
    scatter = try reader.finite()
    toldAt = try Timestamp(from: &reader)
    samples = try reader.number(UInt64.self)
    isDark = try reader.flag()
    isBack = try reader.flag()
    isTorn = try reader.flag()
    levelAtOutage = try reader.flag() ? try reader.finite() : nil
    gaps = try GapModel(restoring: &reader)
  }

  /// The same levels under the observer's place in another plan.
  func heard(by place: Int) -> ObserverLevel {
    var level = self
    level.observer = place
    return level
  }

  /// Resumes after downtime that ended at an instant.
  ///
  /// Silence counts from that instant, and the gap model does not learn from the gap that contains the downtime.
  mutating func resume(at instant: Timestamp) {
    toldAt = max(toldAt, instant)
    isTorn = true
  }
}
