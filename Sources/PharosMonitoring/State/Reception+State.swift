import PharosReports

extension Reception {
  /// Writes what the transmitters say about the radio.
  func write(to writer: inout FieldWriter) {
    latest.write(to: &writer)
    teachesFrom.write(to: &writer)
    writer.write(knocks)
    spans.write(to: &writer)
    writer.write(deafness != nil)
    deafness?.write(to: &writer)
    writer.write(UInt8(places.count))
    var used: UInt64 = 0
    for place in places.indices where places[place].tag != 0 { used |= 1 << UInt64(place) }
    writer.write(used)
    for place in places.indices where places[place].tag != 0 { places[place].write(to: &writer) }
  }

  /// Reads what the transmitters say about the radio.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    latest = try Timestamp(from: &reader)
    teachesFrom = try Timestamp(from: &reader)
    knocks = try reader.byte()
    spans = try DeafSpans(from: &reader)
    if try reader.flag() { deafness = try Deafness(from: &reader) }
    let count = Int(try reader.byte())
    let used = try reader.number(UInt64.self)
    guard [0, 8, 16, 32, 64].contains(count), count == 64 || used >> UInt64(count) == 0 else {
      throw reader.failure(.outOfRange(field: "a table of transmitters"))
    }
    if count > 0 { places = TransmitterTable(count: count) }
    for place in 0..<count where used >> UInt64(place) & 1 == 1 {
      places[place] = try Transmitter(from: &reader)
    }
  }
}

extension Transmitter {
  fileprivate func write(to writer: inout FieldWriter) {
    writer.write(tag)
    writer.write(history)
    writer.write(slot)
    writer.write(age)
    writer.write(usual)
    writer.write(count)
    writer.write(shift)
    writer.write(rounds)
    writer.write(ownPauses)
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    tag = try reader.number(UInt32.self)
    history = try reader.number(UInt64.self)
    slot = try reader.whole("a slot")
    age = try reader.number(Int32.self)
    usual = try reader.amount("a usual share")
    count = try reader.byte()
    shift = try reader.small("the length of a slot", through: 40)
    rounds = try reader.small("rounds", through: 200)
    ownPauses = try reader.byte()
    // Slots are shorter than times, so that a difference of two never leaves the range.
    let isTooFar = slot.magnitude > 1 << (62 - UInt64(shift)) || age > 1 << 30 + 128
    guard tag != 0, shift == 0 || shift >= 20, shift != 0 || count <= Transmitter.lesson, !isTooFar else {
      throw reader.failure(.outOfRange(field: "a transmitter"))
    }
  }
}

extension Deafness {
  fileprivate func write(to writer: inout FieldWriter) {
    since.write(to: &writer)
    writer.write(witnesses)
    askedAt.write(to: &writer)
    thinnedAt.write(to: &writer)
    writer.write(fineSince)
    taughtFrom.write(to: &writer)
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    since = try Timestamp(from: &reader)
    witnesses = try reader.number(UInt64.self)
    askedAt = try Timestamp(from: &reader)
    thinnedAt = try Timestamp(from: &reader)
    fineSince = try reader.optional(Timestamp.self)
    taughtFrom = try Timestamp(from: &reader)
  }
}

extension DeafSpans {
  fileprivate func write(to writer: inout FieldWriter) {
    end.write(to: &writer)
    writer.write(UInt8(spans.count))
    for span in spans {
      writer.write(span.lowerBound)
      writer.write(span.upperBound)
    }
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    end = try Timestamp(from: &reader)
    for _ in 0..<(try reader.small("spans", through: UInt8(DeafSpans.most))) {
      let (start, end) = (try reader.whole("the start of a span"), try reader.whole("the end of a span"))
      guard start < end else { throw reader.failure(.outOfRange(field: "a span")) }
      spans.append(start..<end)
    }
  }
}
