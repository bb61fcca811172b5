import PharosReports

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
    do throws(TraceRecord.Damage) {
      try takeRecord(fields, of: bytes)
    } catch {
      counters.count(error)
    }
  }

  private mutating func takeRecord(
    _ fields: borrowing TraceFields,
    of bytes: RawSpan
  ) throws(TraceRecord.Damage) {
    guard fields.count >= 2 else { throw .columns }
    let time = try fields.time(0, of: bytes)
    let type = fields.text(1, of: bytes)
    if type == "TYPE_WAYPOINT" {
      waypoints.append(try waypoint(at: time, fields, bytes))
    } else if let kind = TraceRecord.Kind(type) {
      switch try TraceRecord(kind, fields, bytes) {
      case .beacon(let heard): beacons.append(heard)
      case .accessPoint(let heard): accessPoints.append(heard)
      case .motion(let read): motion.append(read)
      }
    } else {
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
  ) throws(TraceRecord.Damage) -> Waypoint {
    guard fields.count == 4 else { throw .columns }
    return Waypoint(time: time, x: try fields.measure(2, of: bytes), y: try fields.measure(3, of: bytes))
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
