import PharosReports

extension GapModel {
  /// Writes what was learned.
  func writeState(to writer: inout FieldWriter) {
    writer.write(isKnown)
    for number in [beat, count, wait, square] { writer.write(number) }
  }

  /// Reads what was learned.
  init(restoring reader: inout FieldReader) throws(FieldError) {
    self.init()
    isKnown = try reader.flag()
    beat = try reader.finite()
    count = try reader.finite()
    wait = try reader.finite()
    square = try reader.finite()
  }
}

extension LevelGaps {
  /// Writes what was learned, each observer by its place in the plan.
  func writeState(to writer: inout FieldWriter) {
    writer.write(lessons)
    for row in gaps {
      writer.write(place: row.count)
      for gap in row {
        writer.write(place: gap.other)
        for number in [gap.count, gap.mean, gap.variance] { writer.write(number) }
      }
    }
  }

  /// Reads what was learned about so many observers.
  init(restoring reader: inout FieldReader, observers: Int) throws(FieldError) {
    self.init(observers: observers)
    lessons = try reader.counter()
    for observer in 0..<observers {
      let count = try reader.place(below: LevelGaps.mostOthers + 1)
      for _ in 0..<count {
        var gap = Gap(other: try reader.place(below: observers))
        gap.count = try reader.finite()
        gap.mean = try reader.finite()
        gap.variance = try reader.finite()
        gaps[observer].append(gap)
      }
    }
  }

  /// The same for the observers of another plan; what concerns an observer that stands nowhere now is left out.
  func translated(by translation: PlanTranslation, observers: Int) -> LevelGaps {
    var translated = LevelGaps(observers: observers)
    translated.lessons = lessons
    for (old, row) in gaps.enumerated() {
      guard let new = translation.observers[old] else { continue }
      translated.gaps[new] = row.compactMap { gap in
        guard let other = translation.observers[gap.other] else { return nil }
        var copy = Gap(other: other)
        (copy.count, copy.mean, copy.variance) = (gap.count, gap.mean, gap.variance)
        return copy
      }
    }
    return translated
  }
}

extension OffsetTable {
  /// More lessons than an observer's pairs ever give.
  private static let mostLessons = 1e9

  /// Writes the offsets, each observer by its place in the plan.
  func writeState(to writer: inout FieldWriter) {
    writer.write(solvedAt)
    for entry in entries {
      for number in [entry.offset, entry.deviation, entry.lessons, entry.precision] { writer.write(number) }
      writer.write(place: entry.pairs)
      writer.write(entry.isApplied)
    }
  }

  /// Reads the offsets of so many observers.
  init(restoring reader: inout FieldReader, observers: Int, _ rules: ZoneRules) throws(FieldError) {
    self.init(observers: observers, rules)
    solvedAt = try reader.counter()
    for observer in 0..<observers {
      entries[observer].offset = try reader.finite()
      entries[observer].deviation = try reader.finite()
      entries[observer].lessons = min(max(0, try reader.finite()), OffsetTable.mostLessons)
      entries[observer].precision = try reader.finite()
      entries[observer].pairs = Int(try reader.number(UInt32.self))
      entries[observer].isApplied = try reader.flag()
    }
  }

  /// The same for the observers of another plan.
  func translated(by translation: PlanTranslation, observers: Int, _ rules: ZoneRules) -> OffsetTable {
    var translated = OffsetTable(observers: observers, rules)
    translated.solvedAt = solvedAt
    for (old, entry) in entries.enumerated() {
      if let new = translation.observers[old] { translated.entries[new] = entry }
    }
    return translated
  }
}
