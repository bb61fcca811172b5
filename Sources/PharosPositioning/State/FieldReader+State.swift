import PharosReports

extension FieldReader {
  /// Reads a number that is used in computations: any that is finite.
  mutating func finite() throws(FieldError) -> Double {
    let number = try double()
    guard number.isFinite else { throw failure(.unknownTag(field: "a finite number", tag: 0)) }
    return number
  }

  /// Reads a count of transitions, which may go on for another 2^63 of them.
  mutating func counter() throws(FieldError) -> UInt64 {
    let counter = try number(UInt64.self)
    guard counter <= UInt64(Int64.max) else {
      throw failure(.unknownTag(field: "a counter", tag: UInt8(truncatingIfNeeded: counter >> 56)))
    }
    return counter
  }

  /// Reads a place in a list of so many.
  mutating func place(below count: Int) throws(FieldError) -> Int {
    let place = Int(try number(UInt32.self))
    guard place < count else {
      throw failure(.unknownTag(field: "a place in a list", tag: UInt8(truncatingIfNeeded: place)))
    }
    return place
  }

  /// Reads a place in a list of so many, or that there is none.
  mutating func optionalPlace(below count: Int) throws(FieldError) -> Int? {
    try flag() ? try place(below: count) : nil
  }

  /// Reads a region's state.
  mutating func state() throws(FieldError) -> RegionState {
    let tag = try byte()
    guard let state = RegionState(rawValue: tag) else {
      throw failure(.unknownTag(field: "a region's state", tag: tag))
    }
    return state
  }
}

extension FieldWriter {
  /// Writes a place in a list.
  mutating func write(place: Int) { write(UInt32(truncatingIfNeeded: place)) }

  /// Writes a place in a list, or that there is none.
  mutating func write(optionalPlace place: Int?) {
    write(place != nil)
    if let place { write(place: place) }
  }
}
