package import PharosModel

/// The recording of a surveyor's phone on one walk through a floor, with the true positions.
///
/// The traces of the Indoor Location Competition 2.0 are text: one record a line, columns parted by tabs, the time in
/// column 1 and the type in column 2. Here they become records in order of time. Nothing is thrown at damage: a line
/// that cannot be read is counted by reason, and all others are kept.
///
/// - Source: github.com/location-competition/indoor-location-competition-20.
package struct IndoorTrace: Equatable, Sendable {
  /// The header of the trace.
  package internal(set) var header = Header()
  /// The positions that the surveyor marked, in order of time: the ground truth.
  package internal(set) var waypoints: [Waypoint] = []
  /// The beacons heard, in order of time.
  package internal(set) var beacons: [BeaconHeard] = []
  /// The access points of all Wi-Fi scans, in order of the scans' time.
  package internal(set) var accessPoints: [AccessPointHeard] = []
  /// The readings of the motion sensors, in order of time.
  package internal(set) var motion: [MotionRead] = []
  /// The counts of lines read and of lines skipped.
  package internal(set) var counters = Counters()
  /// The time of the last record read.
  var latest = Timestamp.distantPast

  /// Reads a whole trace from the bytes of its file, unpacked.
  package init(parsing bytes: RawSpan) { self.init(bytes, truthOnly: false) }

  /// Reads a whole trace from the bytes of its file, unpacked.
  package init(parsing bytes: [UInt8]) { unsafe self.init(parsing: bytes.span.bytes) }

  /// Reads the header and the waypoints alone: the truth that fixes are scored by.
  ///
  /// Lines of all other types are passed over unread, and counted as lines.
  package init(truthIn bytes: [UInt8]) { unsafe self.init(bytes.span.bytes, truthOnly: true) }

  private init(_ bytes: RawSpan, truthOnly: Bool) {
    var fields = TraceFields()
    var start = 0
    while start < bytes.byteCount {
      let end = TraceFields.endOfLine(in: bytes, from: start)
      if !truthOnly || TraceFields.mayHoldTruth(bytes, start..<end) {
        fields.split(bytes, start..<end)
        read(fields, of: bytes, isWhole: end < bytes.byteCount)
      } else if end > start {
        counters.lines += 1
      }
      start = end + 1
    }
    sort()
  }

  /// Puts every list in order of time; what shares an instant stays in the order of its lines.
  private mutating func sort() {
    IndoorTrace.sort(&waypoints, by: \.time)
    IndoorTrace.sort(&beacons, by: \.time)
    IndoorTrace.sort(&accessPoints, by: \.time)
    IndoorTrace.sort(&motion, by: \.time)
  }

  private static func sort<Record>(_ records: inout [Record], by time: KeyPath<Record, Timestamp>) {
    let isSorted = zip(records, records.dropFirst()).allSatisfy { $0[keyPath: time] <= $1[keyPath: time] }
    guard !isSorted else { return }
    records = records.enumerated()
      .sorted { ($0.element[keyPath: time], $0.offset) < ($1.element[keyPath: time], $1.offset) }
      .map(\.element)
  }
}

extension IndoorTrace {
  /// The contents of the lines that begin with `#`.
  package struct Header: Equatable, Sendable {
    /// The start time of the recording.
    package var start: Timestamp?
    /// The end time of the recording.
    package var end: Timestamp?
    /// The site's identifier.
    package var site: String?
    /// The site's name.
    package var siteName: String?
    /// The floor's name, as `F1` or `B1`: truth, which nothing that is measured may read.
    package var floor: String?
    /// The phone's model.
    package var model: String?

    init() {}
  }

  /// The counts of lines read, and of lines skipped, by reason.
  package struct Counters: Equatable, Sendable {
    /// Lines, empty ones not counted.
    package var lines = 0
    /// Lines of the header.
    package var headerLines = 0
    /// Lines of a type that is not read, as the uncalibrated sensors are.
    package var otherTypes = 0
    /// Lines with fewer or more columns than their type has: two that ran together, or one cut short.
    package var wrongColumns = 0
    /// Lines with a column that is no number, or none in the range of what it measures.
    package var wrongNumbers = 0
    /// Lines with a UUID or an address that is none.
    package var wrongIdentities = 0
    /// Last lines without an end, whose last number may lack digits.
    package var cutShort = 0
    /// Records whose time lies before that of the line before, of the same type or not.
    package var outOfOrder = 0

    /// Lines that should have been records and are not.
    package var damaged: Int { wrongColumns + wrongNumbers + wrongIdentities + cutShort }

    init() {}
  }
}

extension IndoorTrace {
  /// A point of the floor that the surveyor tapped on the map when standing there.
  package struct Waypoint: Equatable, Sendable {
    /// The time of the record.
    package var time: Timestamp
    /// Metres east of the lower left corner of the floor's picture.
    package var x: Double
    /// Metres north of it.
    package var y: Double
  }

  /// An iBeacon that the phone heard.
  package struct BeaconHeard: Equatable, Sendable {
    /// The time of the record.
    package var time: Timestamp
    /// UUID, major and minor.
    ///
    /// In one of the sites they are the same for 337 fixed beacons, which only ``address`` tells apart.
    package var beacon: BeaconID
    /// Its address, whose kind the trace does not tell.
    package var address: DeviceAddress
    /// The level, or nil if the phone had none.
    package var rssi: RSSI?
    /// The level at one metre that the beacon claims, in dBm; some claim nonsense.
    package var txPower: Int8
    /// The distance that the phone's own formula made of both.
    package var distance: Meters
  }

  /// An access point in a Wi-Fi scan.
  ///
  /// A scan repeats what earlier ones found: a pair of address and ``lastHeard`` seen before is no new measurement.
  package struct AccessPointHeard: Equatable, Sendable {
    /// The time at which the scan was delivered.
    package var time: Timestamp
    /// Its address.
    package var bssid: DeviceAddress
    /// The level, or nil if the phone had none.
    package var rssi: RSSI?
    /// The centre frequency in MHz.
    package var frequency: UInt16
    /// The time at which it was really heard.
    package var lastHeard: Timestamp
  }

  /// One reading of one motion sensor, in the axes of the phone.
  package struct MotionRead: Equatable, Sendable {
    /// The time of the record.
    package var time: Timestamp
    /// The sensor, which determines the unit.
    package var kind: MotionSample.Kind
    /// The first value.
    package var x: Float
    /// The second value.
    package var y: Float
    /// The third value.
    package var z: Float
    /// The calibration of the sensor, from 0 (not calibrated) to 3 (well calibrated).
    package var accuracy: UInt8
  }
}

extension IndoorTrace {
  /// Takes one line that was split into its columns.
  mutating func read(_ fields: borrowing TraceFields, of bytes: RawSpan, isWhole: Bool) {
    guard fields.hasText else { return }
    counters.lines += 1
    if fields.startsWithHash(bytes) {
      counters.headerLines += 1
      for column in 0..<fields.count { header.read(fields.text(column, of: bytes)) }
      return
    }
    guard isWhole else {
      counters.cutShort += 1
      return
    }
    do throws(TraceRecord.Damage) {
      try readRecord(fields, of: bytes)
    } catch {
      counters.count(error)
    }
  }

  private mutating func readRecord(
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
  mutating func read(_ text: String) {
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

extension IndoorTrace {
  /// The span that the waypoints cover: only within it is the truth known.
  package var walk: ClosedRange<Timestamp>? {
    guard let first = waypoints.first, let last = waypoints.last else { return nil }
    return first.time...last.time
  }

  /// Returns the surveyor's position: on a straight line between two waypoints, at an even pace.
  ///
  /// The waypoints lie at turns and stops, so that the line is the path. The true pace is not even: a surveyor who
  /// pauses for two seconds between two waypoints is placed up to a metre or two off. Nil outside ``walk``.
  package func position(at time: Timestamp) -> (x: Double, y: Double)? {
    guard let walk, walk.contains(time) else { return nil }
    var low = 0
    var high = waypoints.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if waypoints[middle].time <= time { low = middle } else { high = middle }
    }
    let (before, after) = (waypoints[low], waypoints[high])
    let span = after.time - before.time
    let share = span == .zero ? 0 : (time - before.time) / span
    return (before.x + share * (after.x - before.x), before.y + share * (after.y - before.y))
  }
}
