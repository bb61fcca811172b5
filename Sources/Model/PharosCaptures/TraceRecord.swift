import PharosModel

/// The sensor data in one line of a trace; this type holds no ground truth.
enum TraceRecord: Equatable, Sendable {
  case beacon(IndoorTrace.BeaconHeard)
  case accessPoint(IndoorTrace.AccessPointHeard)
  case motion(IndoorTrace.MotionRead)

  /// The kind of record that a line holds, according to its second column.
  enum Kind {
    case beacon
    case accessPoint
    case motion(MotionSample.Kind)

    init?(_ type: String) {
      switch type {
      case "TYPE_BEACON": self = .beacon
      case "TYPE_WIFI": self = .accessPoint
      case "TYPE_ACCELEROMETER": self = .motion(.accelerometer)
      case "TYPE_GYROSCOPE": self = .motion(.gyroscope)
      case "TYPE_MAGNETIC_FIELD": self = .motion(.magnetometer)
      case "TYPE_ROTATION_VECTOR": self = .motion(.rotationVector)
      default: return nil
      }
    }
  }

  /// The reason that a line is not a record.
  enum Damage: Error {
    case columns
    case number
    case identity
  }

  /// The time in column 1.
  var time: Timestamp {
    switch self {
    case .beacon(let heard): heard.time
    case .accessPoint(let heard): heard.time
    case .motion(let read): read.time
    }
  }

  /// Reads a line of a kind.
  init(_ kind: Kind, _ fields: borrowing TraceFields, _ bytes: RawSpan) throws(Damage) {
    let time = try fields.time(0, of: bytes)
    switch kind {
    case .beacon: self = .beacon(try TraceRecord.beacon(at: time, fields, bytes))
    case .accessPoint: self = .accessPoint(try TraceRecord.accessPoint(at: time, fields, bytes))
    case .motion(let kind): self = .motion(try TraceRecord.read(kind, at: time, fields, bytes))
    }
  }

  private static func beacon(
    at time: Timestamp,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> IndoorTrace.BeaconHeard {
    // Column 10 is the time again, which older versions of the recorder leave out.
    guard fields.count == 9 || fields.count == 10 else { throw .columns }
    guard let uuid = UUID128(fields.text(2, of: bytes)),
      let address = DeviceAddress(fields.text(8, of: bytes))
    else { throw .identity }
    let major: UInt16 = try fields.number(3, of: bytes)
    let minor: UInt16 = try fields.number(4, of: bytes)
    return IndoorTrace.BeaconHeard(
      time: time,
      beacon: .proximity(uuid, major: major, minor: minor),
      address: address,
      rssi: RSSI(reported: try fields.number(6, of: bytes)),
      txPower: try fields.number(5, of: bytes),
      distance: Meters(try fields.measure(7, of: bytes))
    )
  }

  private static func accessPoint(
    at time: Timestamp,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> IndoorTrace.AccessPointHeard {
    guard fields.count == 7 else { throw .columns }
    guard let bssid = DeviceAddress(fields.text(3, of: bytes)) else { throw .identity }
    return IndoorTrace.AccessPointHeard(
      time: time,
      bssid: bssid,
      rssi: RSSI(reported: try fields.number(4, of: bytes)),
      frequency: try fields.number(5, of: bytes),
      lastHeard: try fields.time(6, of: bytes)
    )
  }

  private static func read(
    _ kind: MotionSample.Kind,
    at time: Timestamp,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> IndoorTrace.MotionRead {
    guard fields.count == 6 else { throw .columns }
    return IndoorTrace.MotionRead(
      time: time,
      kind: kind,
      x: Float(try fields.measure(2, of: bytes)),
      y: Float(try fields.measure(3, of: bytes)),
      z: Float(try fields.measure(4, of: bytes)),
      accuracy: try fields.number(5, of: bytes)
    )
  }
}

extension TraceFields {
  /// A time in milliseconds since the epoch; none is before it, or so late that nanoseconds would not hold it.
  func time(_ column: Int, of bytes: RawSpan) throws(TraceRecord.Damage) -> Timestamp {
    guard let milliseconds = integer(column, of: bytes), (0...9_000_000_000_000).contains(milliseconds)
    else { throw .number }
    return Timestamp(nanoseconds: milliseconds * 1_000_000)
  }

  /// A whole number of a type.
  func number<Number: FixedWidthInteger>(
    _ column: Int,
    of bytes: RawSpan
  ) throws(TraceRecord.Damage) -> Number {
    guard let value = integer(column, of: bytes), let number = Number(exactly: value) else { throw .number }
    return number
  }

  /// A finite number.
  func measure(_ column: Int, of bytes: RawSpan) throws(TraceRecord.Damage) -> Double {
    // Reports carry what a handset senses in four bytes: a value that does not fit is no measurement.
    guard let value = decimal(column, of: bytes), Float(value).isFinite else { throw .number }
    return value
  }
}

extension IndoorTrace.Counters {
  /// Counts a line that should have been a record and is none.
  mutating func count(_ damage: TraceRecord.Damage) {
    switch damage {
    case .columns: wrongColumns += 1
    case .number: wrongNumbers += 1
    case .identity: wrongIdentities += 1
    }
  }
}

/// The columns of one line of a trace, as ranges of the file's bytes; reused from line to line.
struct TraceFields {
  private static let tab = UInt8(ascii: "\t")
  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  /// Powers of ten that a binary64 holds exactly, one for each count of decimals.
  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  ]

  private var columns: [Range<Int>] = []

  /// Returns the end of the line that begins at an offset: the next line feed or the end of the file.
  static func endOfLine(in bytes: RawSpan, from start: Int) -> Int {
    var end = start
    while end < bytes.byteCount, bytes.byte(end) != newline { end += 1 }
    return end
  }

  /// Returns whether a line belongs to the header, or the type in its second column begins like that of a waypoint.
  static func mayHoldTruth(_ bytes: RawSpan, _ line: Range<Int>) -> Bool {
    guard !line.isEmpty else { return false }
    if bytes.byte(line.lowerBound) == UInt8(ascii: "#") { return true }
    var place = line.lowerBound
    while place < line.upperBound, bytes.byte(place) != tab { place += 1 }
    return place + 7 < line.upperBound && bytes.byte(place + 6) == UInt8(ascii: "W")
      && bytes.byte(place + 7) == UInt8(ascii: "A")
  }

  /// The number of columns.
  var count: Int { columns.count }

  /// Indicates whether the line is not empty.
  var hasText: Bool { columns.count > 1 || columns.first?.isEmpty == false }

  /// Splits a line at its tabs; a carriage return before its end does not count.
  mutating func split(_ bytes: RawSpan, _ line: Range<Int>) {
    columns.removeAll(keepingCapacity: true)
    var end = line.upperBound
    if end > line.lowerBound, bytes.byte(end - 1) == TraceFields.carriageReturn { end -= 1 }
    var start = line.lowerBound
    for place in line.lowerBound..<end where bytes.byte(place) == TraceFields.tab {
      columns.append(start..<place)
      start = place + 1
    }
    columns.append(start..<end)
  }

  /// Returns whether the line belongs to the header.
  func startsWithHash(_ bytes: RawSpan) -> Bool {
    guard let first = columns.first, !first.isEmpty else { return false }
    return bytes.byte(first.lowerBound) == UInt8(ascii: "#")
  }

  /// A column as text.
  func text(_ column: Int, of bytes: RawSpan) -> String {
    unsafe bytes.extracting(columns[column]).withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// A column as a whole number, or nil if it is none.
  func integer(_ column: Int, of bytes: RawSpan) -> Int64? {
    let range = columns[column]
    let isNegative = !range.isEmpty && bytes.byte(range.lowerBound) == UInt8(ascii: "-")
    let digits = range.dropFirst(isNegative ? 1 : 0)
    guard !digits.isEmpty, digits.count <= 18 else { return nil }
    var value: Int64 = 0
    for place in digits {
      guard let digit = bytes.digit(place) else { return nil }
      value = value * 10 + digit
    }
    return isNegative ? -value : value
  }

  /// Returns a column as a finite number, correctly rounded, or nil if it is none.
  ///
  /// Up to 15 digits without an exponent, which is what sensors write, make an exact quotient of two exact numbers; all
  /// else is left to the standard library.
  func decimal(_ column: Int, of bytes: RawSpan) -> Double? {
    let range = columns[column]
    let isNegative = !range.isEmpty && bytes.byte(range.lowerBound) == UInt8(ascii: "-")
    var mantissa: Int64 = 0
    var digits = 0
    var decimals: Int?
    for place in range.dropFirst(isNegative ? 1 : 0) {
      if let digit = bytes.digit(place), digits < 15 {
        mantissa = mantissa * 10 + digit
        digits += 1
        decimals = decimals.map { $0 + 1 }
      } else if bytes.byte(place) == UInt8(ascii: "."), decimals == nil {
        decimals = 0
      } else {
        return slowDecimal(column, of: bytes)
      }
    }
    guard digits > 0 else { return nil }
    let value = Double(mantissa) / TraceFields.powersOfTen[decimals ?? 0]
    return isNegative ? -value : value
  }

  private func slowDecimal(_ column: Int, of bytes: RawSpan) -> Double? {
    guard let value = Double(text(column, of: bytes)), value.isFinite else { return nil }
    return value
  }
}

extension RawSpan {
  /// The byte at an offset; trips when it lies past the span.
  fileprivate func byte(_ offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }

  /// The value of the decimal digit at an offset, or nil if there is none.
  fileprivate func digit(_ offset: Int) -> Int64? {
    let digit = byte(offset) &- UInt8(ascii: "0")
    return digit < 10 ? Int64(digit) : nil
  }
}
