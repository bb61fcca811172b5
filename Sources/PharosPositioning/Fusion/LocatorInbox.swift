import PharosReports

/// What waits for its time, in order of event time; what shares an instant stays in order of arrival.
struct LocatorInbox: Sendable {
  /// A reading and the event time of its report.
  struct Entry: Sendable {
    var time: Timestamp
    var reading: RadioReading
  }

  /// How many readings wait at most: two scans of a mall, where phones hear 250 to 560 access points.
  static let most = 1_024

  private var readings: [Entry] = []
  private var first = 0
  private var outside: [(time: Timestamp, fix: OutsideFix)] = []

  /// How many locations from outside wait at most; one a second is usual.
  private static let mostOutside = 16

  /// How many bytes wait.
  var bytes: Int { readings.count * MemoryLayout<Entry>.stride + outside.count * 64 }

  /// The time of what comes next.
  var nextTime: Timestamp? {
    switch (first < readings.count ? readings[first].time : nil, outside.first?.time) {
    case (let reading?, let fix?): min(reading, fix)
    case (let reading?, nil): reading
    case (nil, let fix): fix
    }
  }

  /// Adds a reading.
  ///
  /// - Returns: whether there was room.
  mutating func add(_ reading: RadioReading, told time: Timestamp) -> Bool {
    guard readings.count - first < LocatorInbox.most else { return false }
    var place = readings.count
    while place > first, readings[place - 1].time > time { place -= 1 }
    readings.insert(Entry(time: time, reading: reading), at: place)
    return true
  }

  /// Adds a location from outside.
  ///
  /// - Returns: whether there was room.
  mutating func add(_ fix: OutsideFix, told time: Timestamp) -> Bool {
    guard outside.count < LocatorInbox.mostOutside else { return false }
    let place = outside.firstIndex { $0.time > time } ?? outside.endIndex
    outside.insert((time, fix), at: place)
    return true
  }

  /// Takes the next reading of exactly a time.
  mutating func reading(at time: Timestamp) -> RadioReading? {
    guard first < readings.count, readings[first].time == time else { return nil }
    defer {
      first += 1
      if first == readings.count {
        readings = []
        first = 0
      } else if first >= 512 {
        readings.removeFirst(first)
        first = 0
      }
    }
    return readings[first].reading
  }

  /// Takes the next location from outside of exactly a time.
  mutating func outsideFix(at time: Timestamp) -> OutsideFix? {
    guard let found = outside.first, found.time == time else { return nil }
    return outside.removeFirst().fix
  }
}
