import PharosReports

/// What the state of an engine is read with: whatever arithmetic relies on is checked here, so that no bytes at all can
/// make an engine that stops later.
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
  private static let mostLevel: Float = 1e9

  /// Reads a level, or what stands for none.
  mutating func level(_ field: String) throws(FieldError) -> Float {
    let number = try float()
    guard number.isNaN || number.magnitude <= FieldReader.mostLevel else {
      throw failure(.outOfRange(field: field))
    }
    return number
  }

  /// A level that was moved, held to what a state may hold; none stays none.
  static func held(_ level: Float) -> Float {
    level.isNaN ? level : min(mostLevel, max(-mostLevel, level))
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
