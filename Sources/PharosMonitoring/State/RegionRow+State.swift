import PharosReports

extension RegionRow {
  /// Writes where the observer stands; a row that is gone only keeps its place.
  func write(to writer: inout FieldWriter) {
    writer.write(isLive)
    guard isLive else { return }
    writer.write(slot)
    writer.write(state.rawValue)
    writer.write(known.rawValue)
    writer.write(tracksInside)
    writer.write(enteredAt)
    writer.write(counter)
    writer.write(isActive)
    writer.write(isWaiting)
    decideAt.write(to: &writer)
    armedAt.write(to: &writer)
    patience.write(to: &writer)
  }

  /// Reads where the observer stands towards one of so many regions.
  init(from reader: inout FieldReader, slots: Int) throws(FieldError) {
    guard try reader.flag() else {
      self.init(slot: 0, state: .unknown, known: .unknown, counter: 0, isActive: false)
      isLive = false
      return
    }
    let slot = try reader.place("a region", below: slots)
    let state = try reader.state()
    let known = try reader.state()
    self.init(slot: slot, state: state, known: known, counter: 0, isActive: false)
    tracksInside = try reader.place("tracks inside", below: 1 << 30)
    enteredAt = try reader.optional(Timestamp.self)
    counter = try reader.counter("a region's counter")
    isActive = try reader.flag()
    isWaiting = try reader.flag()
    decideAt = try Timestamp(from: &reader)
    armedAt = try Timestamp(from: &reader)
    patience = try TimeSpan(from: &reader)
  }
}

extension FieldReader {
  /// Reads the state of a region.
  mutating func state() throws(FieldError) -> RegionState {
    let tag = try byte()
    guard let state = RegionState(rawValue: tag) else {
      throw failure(.unknownTag(field: "a region's state", tag: tag))
    }
    return state
  }
}
