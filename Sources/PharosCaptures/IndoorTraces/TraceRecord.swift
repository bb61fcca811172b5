import PharosReports

/// What one line of a trace says the phone sensed: everything but the truth, of which this type knows nothing.
enum TraceRecord: Equatable, Sendable {
  case beacon(IndoorTrace.BeaconHeard)
  case accessPoint(IndoorTrace.AccessPointHeard)
  case motion(IndoorTrace.MotionRead)

  /// What sort of record a line holds, by its second column.
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

  /// Why a line is no record.
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
