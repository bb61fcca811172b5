package import PharosReports

/// What a surveyor's phone recorded on one walk through a floor, with the truth about where it was.
///
/// The traces of the Indoor Location Competition 2.0 are text: one record a line, columns parted by tabs, the time in
/// column 1 and the type in column 2. Here they become records in order of time. Nothing is thrown at damage: a line
/// that cannot be read is counted by reason, and all others are kept.
///
/// - Source: github.com/location-competition/indoor-location-competition-20.
package struct IndoorTrace: Equatable, Sendable {
  /// What the trace says of itself.
  package internal(set) var header = Header()
  /// Where the surveyor said to be, in order of time: the truth.
  package internal(set) var waypoints: [Waypoint] = []
  /// The beacons heard, in order of time.
  package internal(set) var beacons: [BeaconHeard] = []
  /// The access points of all Wi-Fi scans, in order of the scans' time.
  package internal(set) var accessPoints: [AccessPointHeard] = []
  /// What the motion sensors read, in order of time.
  package internal(set) var motion: [MotionRead] = []
  /// How much was read, and what was passed over.
  package internal(set) var counters = Counters()
  /// The time of the last record read.
  var latest = Timestamp.distantPast

  /// Reads a whole trace from the bytes of its file, unpacked.
  package init(parsing bytes: RawSpan) {
    var fields = TraceFields()
    var start = 0
    while start < bytes.byteCount {
      let end = TraceFields.endOfLine(in: bytes, from: start)
      fields.split(bytes, start..<end)
      take(fields, of: bytes, isWhole: end < bytes.byteCount)
      start = end + 1
    }
    sort()
  }

  /// Reads a whole trace from the bytes of its file, unpacked.
  package init(parsing bytes: [UInt8]) { unsafe self.init(parsing: bytes.span.bytes) }

  /// Reads the header and the waypoints alone: the truth that fixes are scored by.
  ///
  /// Lines of all other types are passed over unread, and counted as lines.
  package init(truthIn bytes: [UInt8]) {
    var fields = TraceFields()
    var start = 0
    let bytes = unsafe bytes.span.bytes
    while start < bytes.byteCount {
      let end = TraceFields.endOfLine(in: bytes, from: start)
      if TraceFields.mayHoldTruth(bytes, start..<end) {
        fields.split(bytes, start..<end)
        take(fields, of: bytes, isWhole: end < bytes.byteCount)
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
  /// What the lines that begin with `#` say.
  package struct Header: Equatable, Sendable {
    /// When the recording began.
    package var start: Timestamp?
    /// When it ended.
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

  /// How much was read, and what was passed over and why.
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
