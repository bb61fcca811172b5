import PharosReports

extension FixDetail {
  /// The course in degrees from north clockwise, 0 to 360, as JSON tells it.
  var courseInDegrees: Double? {
    // More turns than that are no course, and their digits tell no direction any more.
    guard let course, course.magnitude < 1_000 else { return nil }
    let degrees = course * 180 / .pi
    let turned = degrees - (degrees / 360).rounded(.down) * 360
    // What rounds up to a whole turn is north.
    return turned >= 359.95 ? 0 : turned
  }

  /// - Shape: a byte with a bit for each of floor name, coordinate, speed, course and satellites that are not needed, in this order;
  ///   the sources; venue and building; floor and place if there is a building; what the bits announce; accuracy and age.
  func write(to writer: inout RecordWriter) {
    let hasCoordinate = latitude != nil && longitude != nil
    var flags: UInt8 = 0
    let isThere = [
      isIndoors && !floorName.isEmpty, hasCoordinate, speed != nil, courseInDegrees != nil,
      satellites == .notNeeded,
    ]
    for (bit, flag) in isThere.enumerated() where flag { flags |= 1 << UInt8(bit) }
    writer.byte(flags)
    writer.byte(sources.rawValue)
    writer.name(.text(venue))
    writer.name(.text(building))
    if isIndoors {
      writer.signed(Int64(level))
      if !floorName.isEmpty { writer.name(.text(floorName)) }
      writer.decimal(x, 3)
      writer.decimal(y, 3)
    }
    if hasCoordinate, let latitude, let longitude {
      writer.decimal(latitude, 8)
      writer.decimal(longitude, 8)
    }
    if let speed { writer.decimal(speed, 2) }
    if let courseInDegrees { writer.decimal(courseInDegrees, 1) }
    writer.decimal(horizontalAccuracy, 2)
    writer.milliseconds(age)
  }

  /// Reads what was written.
  init(from reader: inout RecordReader) throws(FieldError) {
    let flags = try reader.byte()
    guard flags < 1 << 5 else { throw reader.failure(.unknownTag(field: "a fix", tag: flags)) }
    let bits = try reader.byte()
    guard bits & ~FixSources.all.rawValue == 0 else {
      throw reader.failure(.unknownTag(field: "a fix's sources", tag: bits))
    }
    let venue = try reader.textName()
    let building = try reader.textName()
    self.init(
      venue: venue,
      building: building,
      horizontalAccuracy: 0,
      sources: FixSources(rawValue: bits),
      age: .zero,
      satellites: flags & 16 != 0 ? .notNeeded : .needed
    )
    if isIndoors {
      level = Int(try reader.signed())
      if flags & 1 != 0 { floorName = try reader.textName() }
      x = try reader.decimal(3)
      y = try reader.decimal(3)
    }
    if flags & 2 != 0 {
      latitude = try reader.decimal(8)
      longitude = try reader.decimal(8)
    }
    if flags & 4 != 0 { speed = try reader.decimal(2) }
    if flags & 8 != 0 { course = try reader.decimal(1) * .pi / 180 }
    horizontalAccuracy = try reader.decimal(2)
    age = try reader.milliseconds()
  }
}
