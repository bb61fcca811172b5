import PharosReports

/// Why a line is no record.
private enum Damage: Error {
  case columns
  case number
  case identity
}

extension IndoorTrace {
  /// Takes one line that was split into its columns.
  mutating func take(_ fields: borrowing TraceFields, of bytes: RawSpan, isWhole: Bool) {
    guard fields.hasText else { return }
    counters.lines += 1
    if fields.startsWithHash(bytes) {
      counters.headerLines += 1
      for column in 0..<fields.count { header.take(fields.text(column, of: bytes)) }
      return
    }
    guard isWhole else {
      counters.cutShort += 1
      return
    }
    do throws(Damage) {
      try takeRecord(fields, of: bytes)
    } catch {
      switch error {
      case .columns: counters.wrongColumns += 1
      case .number: counters.wrongNumbers += 1
      case .identity: counters.wrongIdentities += 1
      }
    }
  }

  private mutating func takeRecord(_ fields: borrowing TraceFields, of bytes: RawSpan) throws(Damage) {
    guard fields.count >= 2 else { throw .columns }
    let time = try time(0, fields, bytes)
    switch fields.text(1, of: bytes) {
    case "TYPE_WAYPOINT": waypoints.append(try waypoint(at: time, fields, bytes))
    case "TYPE_BEACON": beacons.append(try beacon(at: time, fields, bytes))
    case "TYPE_WIFI": accessPoints.append(try accessPoint(at: time, fields, bytes))
    case "TYPE_ACCELEROMETER": motion.append(try read(.accelerometer, at: time, fields, bytes))
    case "TYPE_GYROSCOPE": motion.append(try read(.gyroscope, at: time, fields, bytes))
    case "TYPE_MAGNETIC_FIELD": motion.append(try read(.magnetometer, at: time, fields, bytes))
    case "TYPE_ROTATION_VECTOR": motion.append(try read(.rotationVector, at: time, fields, bytes))
    default:
      counters.otherTypes += 1
      return
    }
    if time < latest { counters.outOfOrder += 1 }
    latest = time
  }

  private func waypoint(
    at time: Timestamp,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> Waypoint {
    guard fields.count == 4 else { throw .columns }
    return Waypoint(time: time, x: try decimal(2, fields, bytes), y: try decimal(3, fields, bytes))
  }

  private func beacon(
    at time: Timestamp,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> BeaconHeard {
    // Column 10 is the time again, which older versions of the recorder leave out.
    guard fields.count == 9 || fields.count == 10 else { throw .columns }
    guard let uuid = UUID128(fields.text(2, of: bytes)),
      let address = DeviceAddress(fields.text(8, of: bytes))
    else { throw .identity }
    let major: UInt16 = try integer(3, fields, bytes)
    let minor: UInt16 = try integer(4, fields, bytes)
    return BeaconHeard(
      time: time,
      beacon: .proximity(uuid, major: major, minor: minor),
      address: address,
      rssi: RSSI(reported: try integer(6, fields, bytes)),
      txPower: try integer(5, fields, bytes),
      distance: Meters(try decimal(7, fields, bytes))
    )
  }

  private func accessPoint(
    at time: Timestamp,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> AccessPointHeard {
    guard fields.count == 7 else { throw .columns }
    guard let bssid = DeviceAddress(fields.text(3, of: bytes)) else { throw .identity }
    return AccessPointHeard(
      time: time,
      bssid: bssid,
      rssi: RSSI(reported: try integer(4, fields, bytes)),
      frequency: try integer(5, fields, bytes),
      lastHeard: try self.time(6, fields, bytes)
    )
  }

  private func read(
    _ kind: MotionSample.Kind,
    at time: Timestamp,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> MotionRead {
    guard fields.count == 6 else { throw .columns }
    return MotionRead(
      time: time,
      kind: kind,
      x: Float(try decimal(2, fields, bytes)),
      y: Float(try decimal(3, fields, bytes)),
      z: Float(try decimal(4, fields, bytes)),
      accuracy: try integer(5, fields, bytes)
    )
  }

  /// A time in milliseconds since the epoch; none is before it, or so late that nanoseconds would not hold it.
  private func time(
    _ column: Int,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> Timestamp {
    guard let milliseconds = fields.integer(column, of: bytes), (0...9_000_000_000_000).contains(milliseconds)
    else { throw .number }
    return Timestamp(nanoseconds: milliseconds * 1_000_000)
  }

  private func integer<Number: FixedWidthInteger>(
    _ column: Int,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> Number {
    guard let value = fields.integer(column, of: bytes), let number = Number(exactly: value) else {
      throw .number
    }
    return number
  }

  private func decimal(
    _ column: Int,
    _ fields: borrowing TraceFields,
    _ bytes: RawSpan
  ) throws(Damage) -> Double {
    guard let value = fields.decimal(column, of: bytes) else { throw .number }
    return value
  }
}

extension IndoorTrace.Header {
  /// Takes one `key:value` of a header line; the keys that say nothing about the walk are passed over.
  mutating func take(_ text: String) {
    let text = text.drop { $0 == "#" || $0 == " " }
    guard let colon = text.firstIndex(of: ":") else { return }
    let value = String(text[text.index(after: colon)...])
    switch text[..<colon] {
    case "startTime": start = IndoorTrace.Header.time(value)
    case "endTime": end = IndoorTrace.Header.time(value)
    case "SiteID": site = value
    case "SiteName": siteName = value
    case "FloorName": floor = value
    case "Model": model = value
    default: break
    }
  }

  private static func time(_ text: String) -> Timestamp? {
    guard let milliseconds = Int64(text), (0...9_000_000_000_000).contains(milliseconds) else { return nil }
    return Timestamp(nanoseconds: milliseconds * 1_000_000)
  }
}
