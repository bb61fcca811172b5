package import PharosDocuments
package import PharosModel

/// A minute of the calendar, counted from the Unix epoch.
package struct HistoryMinute: Hashable, Comparable, Sendable {
  /// The number of whole minutes since the epoch, 0 or more.
  package var number: Int64

  /// Creates a minute from its number; a minute before the epoch becomes the first one.
  package init(_ number: Int64) { self.number = min(max(0, number), HistoryMinute.last) }

  /// Creates a minute of an hour; of an hour that no calendar has, the first or the last minute of all.
  init(hour: Int64, minute: Int64) {
    let (product, isBeyond) = hour.multipliedReportingOverflow(by: 60)
    self.init(isBeyond ? (hour < 0 ? 0 : .max) : min(product, .max - 60) + minute)
  }

  /// Creates the minute that contains a time.
  package init(containing time: Timestamp) { self.init(time.nanoseconds / HistoryMinute.length) }

  /// The beginning of the minute.
  package var start: Timestamp { Timestamp(nanoseconds: number * HistoryMinute.length) }

  /// The number of whole hours from the epoch to the minute.
  package var hour: Int64 { number / 60 }

  /// The place of the minute in its hour, 0 to 59.
  var place: Int { Int(number % 60) }

  package static func < (left: HistoryMinute, right: HistoryMinute) -> Bool { left.number < right.number }

  private static let length: Int64 = 60_000_000_000
  private static let last = Int64.max / length
}

/// The summary of one minute of a subject.
package struct SubjectMinute: Hashable, Sendable {
  /// The last estimated location within the minute.
  package struct Position: Hashable, Sendable {
    /// The venue's identifier.
    package var venue: String
    /// The building's identifier; empty outdoors.
    package var building: String
    /// The floor's number; 0 outdoors.
    package var level: Int
    /// Degrees north, WGS 84; stored in steps of a millionth, which are 11 cm.
    package var latitude: Double
    /// Degrees east, WGS 84; stored in steps of a millionth.
    package var longitude: Double
    /// The radius meant to hold 68 % of truths, in metres; stored in steps of 10 cm, up to 6.5 km.
    package var accuracy: Double

    package init(
      venue: String,
      building: String,
      level: Int,
      latitude: Double,
      longitude: Double,
      accuracy: Double
    ) {
      self.venue = venue
      self.building = building
      self.level = level
      self.latitude = latitude
      self.longitude = longitude
      self.accuracy = accuracy
    }
  }

  /// The zone that the subject is in, or nil.
  package var zone: String?
  /// Indicates whether the zone is the last one known, because its observers are down.
  package var isZoneUnmonitored: Bool
  /// `inside` if the subject is inside any region, else `unmonitored` if it is so in any, else `outside`; `unknown` if no
  /// region has met it.
  package var state: RegionState
  /// The observer that hears the subject loudest, or the beacon that the subject hears loudest; `none` if nothing was heard.
  package var nearest: SubjectID
  /// The filtered level between the two, rounded to whole dBm, or nil.
  package var rssi: Int?
  /// The position, or nil if the subject was not located.
  package var position: Position?

  package init(
    zone: String? = nil,
    isZoneUnmonitored: Bool = false,
    state: RegionState = .unknown,
    nearest: SubjectID = .none,
    rssi: Int? = nil,
    position: Position? = nil
  ) {
    self.zone = zone
    self.isZoneUnmonitored = isZoneUnmonitored
    self.state = state
    self.nearest = nearest
    self.rssi = rssi
    self.position = position
  }
}

/// The summary of one minute of an observer.
package struct ObserverMinute: Hashable, Sendable {
  /// The number of adverts that it reported within the minute.
  package var adverts: UInt32
  /// Indicates whether it was up at the end of the minute.
  package var isUp: Bool

  package init(adverts: UInt32, isUp: Bool) {
    self.adverts = adverts
    self.isUp = isUp
  }
}

/// The summary of one minute of a zone or region.
package struct PlaceMinute: Hashable, Sendable {
  /// The number of subjects in it at the end of the minute; nil if it was not known, because observers were down.
  package var inside: UInt16?
  /// The number of subjects whose observers were down at the end of the minute.
  package var unmonitored: UInt16

  package init(inside: UInt16?, unmonitored: UInt16) {
    self.inside = inside
    self.unmonitored = unmonitored
  }
}

/// A zone, or a region of an application.
package struct HistoryPlace: Hashable, Sendable {
  /// The application that the region belongs to; empty for a zone.
  package var application: String
  /// The identifier of the zone or region.
  package var identifier: String

  package init(application: String, identifier: String) {
    self.application = application
    self.identifier = identifier
  }

  /// Returns a zone.
  package static func zone(_ identifier: String) -> HistoryPlace {
    HistoryPlace(application: "", identifier: identifier)
  }
}

/// All summaries of one minute.
package struct HistorySample: Hashable, Sendable {
  package var minute: HistoryMinute
  package var subjects: [SubjectID: SubjectMinute] = [:]
  package var observers: [ObserverID: ObserverMinute] = [:]
  package var places: [HistoryPlace: PlaceMinute] = [:]

  package init(minute: HistoryMinute) { self.minute = minute }
}

/// The summaries of all subjects in one minute, by subject.
package struct HistoryFrame: Sendable {
  package var minute: HistoryMinute
  package var subjects: [(subject: SubjectID, summary: SubjectMinute)] = []

  package init(minute: HistoryMinute, subjects: [(subject: SubjectID, summary: SubjectMinute)] = []) {
    self.minute = minute
    self.subjects = subjects
  }
}

/// A subject, observer or place with summaries, and the time that they span.
package struct HistorySeries<Key: Hashable & Sendable>: Hashable, Sendable {
  package var key: Key
  /// The first minute of the first hour with summaries.
  package var first: HistoryMinute
  /// The last minute of the last hour with summaries.
  package var last: HistoryMinute
}

// The rows: an hour of one series each.

/// The minutes of one series within an hour: a bit for each minute that is present, and the summaries of these.
struct HourRow<Minute: FieldCodable>: FieldStruct {
  private var present: UInt64 = 0
  private var minutes: [Minute] = []

  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&present)
    try coder.check(present >> 60 == 0, "the minutes of an hour")
    let written = minutes
    minutes = []
    for place in 0..<present.nonzeroBitCount { minutes.append(try coder.field(written[place])) }
  }

  /// The summary of a minute, by its place in the hour.
  subscript(place: Int) -> Minute? {
    get { present >> UInt64(place) & 1 == 1 ? minutes[index(of: place)] : nil }
    set {
      guard let newValue else { return }
      let index = index(of: place)
      if present >> UInt64(place) & 1 == 1 {
        minutes[index] = newValue
      } else {
        present |= 1 << UInt64(place)
        minutes.insert(newValue, at: index)
      }
    }
  }

  private func index(of place: Int) -> Int { (present & (1 << UInt64(place) - 1)).nonzeroBitCount }
}

extension ObserverMinute: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      adverts: try coder.field(value().adverts),
      isUp: try coder.field(value().isUp)
    )
  }
}

extension PlaceMinute: FieldRecord {
  /// Hands each field to a coder; the largest number stands for none.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let number = try coder.field(value().inside ?? .max)
    let inside = number == .max ? nil : number
    return PlaceMinute(inside: inside, unmonitored: try coder.field(value().unmonitored))
  }
}

/// An hour of a subject: the numbers of the names that its minutes mention, floors with an origin, and the minutes.
///
/// A minute refers to names and floors by their place in these lists, from 1; 0 stands for none. It takes 5 bytes, or 11
/// with a position.
struct SubjectHour: FieldStruct {
  /// A floor and the origin of the positions on it.
  struct Frame: FieldStruct {
    var venue: UInt8 = 0
    var building: UInt8 = 0
    var level: Int32 = 0
    /// Millionths of a degree, as are those of positions.
    var latitude: Int32 = 0
    var longitude: Int32 = 0

    mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.code(&venue)
      try coder.code(&building)
      try coder.code(&level)
      try coder.code(&latitude)
      try coder.code(&longitude)
    }
  }

  /// A minute with places in the lists instead of names.
  struct Entry: FieldStruct {
    var zone: UInt8 = 0
    var isZoneUnmonitored = false
    var state: RegionState = .unknown
    var nearest: UInt8 = 0
    /// dBm, or 0 for none.
    var rssi: Int8 = 0
    var frame: UInt8 = 0
    /// The distances from the origin of the frame, two's complement.
    var north: UInt16 = 0
    var east: UInt16 = 0
    /// Decimetres.
    var accuracy: UInt16 = 0

    private static let unmonitoredBit: UInt8 = 0x80

    mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.code(&zone)
      // The states take two bits of their byte.
      var bits = state.rawValue | (isZoneUnmonitored ? Entry.unmonitoredBit : 0)
      try coder.code(&bits)
      isZoneUnmonitored = bits & Entry.unmonitoredBit != 0
      let known = RegionState(rawValue: bits & ~Entry.unmonitoredBit)
      try coder.check(known != nil, "a region's state")
      state = known ?? .unknown
      try coder.code(&nearest)
      try coder.code(&rssi)
      try coder.code(&frame)
      guard frame > 0 else { return }
      try coder.code(&north)
      try coder.code(&east)
      try coder.code(&accuracy)
    }
  }

  /// The maximum length of a list whose places fit into a byte.
  private static let maximumListLength = 255

  private(set) var names: [Int64] = []
  private var frames: [Frame] = []
  private var row = HourRow<Entry>()

  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&names)
    try coder.code(&frames)
    try coder.code(&row)
  }

  /// Stores a minute.
  ///
  /// - Parameters:
  ///   - minute: the summary.
  ///   - place: the place of the minute in the hour.
  ///   - number: returns the number of a name.
  /// - Throws: the error of `number`.
  mutating func set(
    _ minute: SubjectMinute,
    at place: Int,
    number: (EventName) throws -> Int64
  ) rethrows {
    var entry = Entry(
      isZoneUnmonitored: minute.isZoneUnmonitored,
      state: minute.state,
      rssi: Int8(clamping: minute.rssi ?? 0)
    )
    if let zone = minute.zone { entry.zone = index(of: try number(.text(zone))) }
    if let nearest = EventName(minute.nearest) { entry.nearest = index(of: try number(nearest)) }
    if let position = minute.position { try setPosition(position, of: &entry, number: number) }
    row[place] = entry
  }

  private mutating func setPosition(
    _ position: SubjectMinute.Position,
    of entry: inout Entry,
    number: (EventName) throws -> Int64
  ) rethrows {
    guard position.latitude.magnitude <= 90, position.longitude.magnitude <= 360 else { return }
    let latitude = Int32((position.latitude * 1e6).rounded())
    let longitude = Int32((position.longitude * 1e6).rounded())
    let venue = index(of: try number(.text(position.venue)))
    let building = position.building.isEmpty ? 0 : index(of: try number(.text(position.building)))
    let level = Int32(clamping: position.level)
    func offset(_ value: Int32, from origin: Int32) -> Int16? { Int16(exactly: value - origin) }
    var found = frames.firstIndex {
      $0.venue == venue && $0.building == building && $0.level == level
        && offset(latitude, from: $0.latitude) != nil && offset(longitude, from: $0.longitude) != nil
    }
    if found == nil, frames.count < SubjectHour.maximumListLength {
      found = frames.count
      frames.append(
        Frame(venue: venue, building: building, level: level, latitude: latitude, longitude: longitude)
      )
    }
    guard let found, let north = offset(latitude, from: frames[found].latitude),
      let east = offset(longitude, from: frames[found].longitude)
    else { return }
    entry.frame = UInt8(found + 1)
    entry.north = UInt16(bitPattern: north)
    entry.east = UInt16(bitPattern: east)
    let decimetres = (position.accuracy * 10).rounded()
    entry.accuracy = decimetres.isFinite ? UInt16(clamping: Int64(min(max(decimetres, 0), 1e6))) : .max
  }

  /// Returns the summary of a minute, or nil if there is none.
  ///
  /// - Parameters:
  ///   - place: the place of the minute in the hour.
  ///   - texts: the names behind ``names``.
  /// - Returns: the summary.
  func minute(at place: Int, names texts: [EventName]) -> SubjectMinute? {
    guard let entry = row[place] else { return nil }
    func name(_ index: UInt8) -> EventName? {
      index > 0 && Int(index) <= texts.count ? texts[Int(index) - 1] : nil
    }
    var minute = SubjectMinute(state: entry.state, rssi: entry.rssi == 0 ? nil : Int(entry.rssi))
    minute.zone = name(entry.zone)?.text
    minute.isZoneUnmonitored = entry.isZoneUnmonitored
    minute.nearest = name(entry.nearest)?.subject ?? .none
    guard entry.frame > 0, Int(entry.frame) <= frames.count else { return minute }
    let frame = frames[Int(entry.frame) - 1]
    func degrees(_ origin: Int32, _ offset: UInt16) -> Double {
      Double(Int64(origin) + Int64(Int16(bitPattern: offset))) / 1e6
    }
    minute.position = SubjectMinute.Position(
      venue: name(frame.venue)?.text ?? "",
      building: name(frame.building)?.text ?? "",
      level: Int(frame.level),
      latitude: degrees(frame.latitude, entry.north),
      longitude: degrees(frame.longitude, entry.east),
      accuracy: Double(entry.accuracy) / 10
    )
    return minute
  }

  /// Replaces the numbers of names.
  mutating func replaceNames(_ replacement: (Int64) throws -> Int64) rethrows {
    for index in names.indices { names[index] = try replacement(names[index]) }
  }

  private mutating func index(of number: Int64) -> UInt8 {
    if let index = names.firstIndex(of: number) { return UInt8(index + 1) }
    guard names.count < SubjectHour.maximumListLength else { return 0 }
    names.append(number)
    return UInt8(names.count)
  }
}

extension EventName {
  /// Creates the name of a subject; nil for none.
  init?(_ subject: SubjectID) {
    switch subject {
    case .none: return nil
    case .observer(let observer): self = .observer(observer)
    case .beacon(let beacon): self = .beacon(beacon)
    }
  }

  /// The text, if the name is one.
  var text: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }

  /// The subject, if the name is one.
  var subject: SubjectID? {
    switch self {
    case .text: nil
    case .observer(let observer): .observer(observer)
    case .beacon(let beacon): .beacon(beacon)
    }
  }
}
