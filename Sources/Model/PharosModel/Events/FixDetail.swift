public import PharosDocuments

/// The estimated location of a subject and its properties.
public struct FixDetail: Hashable, Sendable {
  /// The venue's identifier.
  public var venue: String
  /// The building's identifier; empty outdoors, where there is no floor.
  public var building: String
  /// The floor's number, 0 for the ground floor; 0 outdoors.
  public var level: Int
  /// The display name of the floor; empty outdoors, or where the venue gives it no name.
  public var floorName: String
  /// The room that the location is in, by the venue's own name, or nil if it draws none there.
  public var room: String?
  /// The point of interest that the location is at, by its name, or nil if there is none.
  public var place: String?
  /// Degrees north, WGS 84, or nil if the floor is bound to no place on the Earth.
  public var latitude: Double?
  /// Degrees east, WGS 84, or nil if the floor is bound to no place on the Earth.
  public var longitude: Double?
  /// The distance east on the floor's plane; without meaning outdoors.
  ///
  /// - Units: metres.
  public var x: Double
  /// The distance north on the floor's plane; without meaning outdoors.
  ///
  /// - Units: metres.
  public var y: Double
  /// The radius meant to hold 68 % of truths.
  ///
  /// - Units: metres.
  public var horizontalAccuracy: Double
  /// The speed, or nil if it is not known.
  ///
  /// - Units: m/s.
  public var speed: Double?
  /// The direction in which the subject moves, clockwise from north, or nil if it is not known to move.
  ///
  /// - Units: radians; JSON states it in degrees, as Core Location does.
  public var course: Double?
  /// The kinds of evidence that the fix was computed from.
  public var sources: FixSources
  /// The age of the newest evidence from a radio, or from outside, at the time of the fix.
  public var age: TimeSpan
  /// The advice on whether the subject's satellite receiver is worth its power here.
  public var satellites: SatelliteAdvice
  /// The place along the subject's itinerary, or nil if it has none or is not near it.
  public var progress: ItineraryProgress?

  /// Makes a fix; what is left out is not known.
  public init(
    venue: String,
    building: String = "",
    level: Int = 0,
    floorName: String = "",
    room: String? = nil,
    place: String? = nil,
    latitude: Double? = nil,
    longitude: Double? = nil,
    x: Double = 0,
    y: Double = 0,
    horizontalAccuracy: Double,
    speed: Double? = nil,
    course: Double? = nil,
    sources: FixSources,
    age: TimeSpan,
    satellites: SatelliteAdvice = .needed,
    progress: ItineraryProgress? = nil
  ) {
    self.venue = venue
    self.building = building
    self.level = level
    self.floorName = floorName
    self.room = room
    self.place = place
    self.latitude = latitude
    self.longitude = longitude
    self.x = x
    self.y = y
    self.horizontalAccuracy = horizontalAccuracy
    self.speed = speed
    self.course = course
    self.sources = sources
    self.age = age
    self.satellites = satellites
    self.progress = progress
  }

  /// Indicates whether the subject is on a floor of a building.
  public var isIndoors: Bool { !building.isEmpty }
}

extension FixDetail: EventData {
  var detail: EventDetail { .fix(self) }

  func write(to json: inout JSONText, endingAt _: Timestamp) { write(to: &json) }

  /// Writes the members of an open object: metres, metres a second, degrees, seconds.
  public func write(to json: inout JSONText) { DocumentField.write(FixDetail.members, of: self, to: &json) }

  /// The members in JSON: unknown values are left out, as are the floor and its plane outdoors.
  package static let members: [DocumentField<FixDetail>] = [
    .always("venue", .text) { $0.venue },
    .sometimes("building", .text, "Missing outdoors, as are level, floorName, x and y.") {
      $0.indoors($0.building)
    },
    .sometimes("level", .integer, "The floor's number; 0 is the ground floor.") { $0.indoors($0.level) },
    .sometimes("floorName", .text) { $0.floorName.isEmpty ? nil : $0.indoors($0.floorName) },
    .sometimes("room", .text, "The room that it is in, by the venue's own name.") { $0.indoors($0.room) },
    .sometimes("place", .text, "The point of interest that it is at, by name.") { $0.indoors($0.place) },
    .sometimes("latitude", .number(decimals: 8), "Degrees north, WGS 84.") { $0.coordinate?.latitude },
    .sometimes("longitude", .number(decimals: 8), "Degrees east, WGS 84.") { $0.coordinate?.longitude },
    .sometimes("x", .number(decimals: 3), "Metres east on the floor's plane.") { $0.indoors($0.x) },
    .sometimes("y", .number(decimals: 3), "Metres north on the floor's plane.") { $0.indoors($0.y) },
    .always(
      "horizontalAccuracy",
      .number(decimals: 2, .number(0...)),
      "Metres: the radius meant to hold 68 % of truths."
    ) { $0.horizontalAccuracy },
    .sometimes("speed", .number(decimals: 2, .number(0...)), "Metres a second.") { $0.speed },
    .sometimes("course", .number(decimals: 1, .number(0...)), "Degrees from north clockwise.") {
      $0.courseInDegrees
    },
    .always("sources", .list(.text(.words(FixSources.names.map(\.name)))), "What it was made from.") { fix in
      FixSources.names.filter { fix.sources.contains($0.source) }.map(\.name)
    },
    .always(
      "age",
      .seconds,
      "How old the newest evidence of a radio, or from outside, was; seconds."
    ) { $0.age },
    .always(
      "satellites",
      .text(.words([SatelliteAdvice.needed, .notNeeded].map(\.name))),
      "Whether the handset's satellite receiver is worth its power here."
    ) { $0.satellites.name },
    .sometimes(
      "itinerary",
      .object(ItineraryProgress.members),
      "The place along the subject's itinerary; missing if it has none or is not near it."
    ) { $0.progress },
  ]

  private func indoors<Value>(_ value: Value?) -> Value? { isIndoors ? value : nil }

  private var coordinate: (latitude: Double, longitude: Double)? {
    latitude.flatMap { latitude in longitude.map { (latitude, $0) } }
  }

  /// The course in degrees from north clockwise, 0 to 360, as in JSON.
  var courseInDegrees: Double? {
    // Beyond so many turns the digits hold no direction.
    guard let course, course.magnitude < 1_000 else { return nil }
    let degrees = course * 180 / .pi
    let turned = degrees - (degrees / 360).rounded(.down) * 360
    // What rounds up to a whole turn is north.
    return turned >= 359.95 ? 0 : turned
  }

  /// - Shape: a byte with a bit for each of floor name, coordinate, speed, course, satellites that are not needed, itinerary, room and place, in this order;
  ///   the sources; venue and building; floor and place if there is a building; what the bits announce; accuracy and age; the itinerary: a
  ///   byte with bits for off the route and a place, distance, share and deviation, the place.
  func write(to writer: inout RecordWriter) {
    let hasCoordinate = latitude != nil && longitude != nil
    var flags: UInt8 = 0
    let isThere = [
      isIndoors && !floorName.isEmpty, hasCoordinate, speed != nil, courseInDegrees != nil,
      satellites == .notNeeded, progress != nil, isIndoors && room != nil, isIndoors && place != nil,
    ]
    for (bit, flag) in isThere.enumerated() where flag { flags |= 1 << UInt8(bit) }
    writer.byte(flags)
    writer.byte(sources.rawValue)
    writer.name(.text(venue))
    writer.name(.text(building))
    if isIndoors {
      writer.signed(Int64(level))
      if !floorName.isEmpty { writer.name(.text(floorName)) }
      if let room { writer.name(.text(room)) }
      if let place { writer.name(.text(place)) }
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
    guard let progress else { return }
    let place = progress.latitude.flatMap { latitude in progress.longitude.map { (latitude, $0) } }
    writer.byte((progress.isOffRoute ? 1 : 0) | (place != nil ? 2 : 0))
    writer.decimal(progress.distance, 1)
    writer.decimal(progress.share, 4)
    writer.decimal(progress.deviation, 2)
    guard let (latitude, longitude) = place else { return }
    writer.decimal(latitude, 8)
    writer.decimal(longitude, 8)
  }

  /// Reads what was written.
  init(from reader: inout RecordReader) throws(FieldError) {
    let flags = try reader.byte()
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
      if flags & 64 != 0 { room = try reader.textName() }
      if flags & 128 != 0 { place = try reader.textName() }
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
    guard flags & 32 != 0 else { return }
    let marks = try reader.byte()
    guard marks < 1 << 2 else { throw reader.failure(.unknownTag(field: "an itinerary", tag: marks)) }
    var read = ItineraryProgress(
      distance: try reader.decimal(1),
      share: try reader.decimal(4),
      deviation: try reader.decimal(2),
      isOffRoute: marks & 1 != 0
    )
    if marks & 2 != 0 {
      read.latitude = try reader.decimal(8)
      read.longitude = try reader.decimal(8)
    }
    progress = read
  }

  func summary(of _: Event) -> String {
    let floor = floorName.isEmpty ? "\(building)/\(level)" : floorName
    return "±\(Wording.meters(horizontalAccuracy)) \(isIndoors ? room ?? place ?? floor : "outdoors")"
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    let floor = floorName.isEmpty ? "floor \(level)" : floorName
    let room = (room ?? place).map { "in \($0) " } ?? ""
    let location = isIndoors ? "\(room)on \(floor) of \(building)" : "outdoors"
    var first = "\(Wording.meters(horizontalAccuracy)) accurate \(location)"
    let made = FixDetail.sourceWords.filter { sources.contains($0.source) }.map(\.name)
    first += made.isEmpty ? ", without new evidence" : ", by \(Wording.list(made))"
    if age > .zero { first += "; the newest of it was \(Wording.span(age)) old" }
    var said = ["\(first)."]
    if let speed = speed, speed >= FixDetail.minimumSpeed {
      let course = course.map { " to the \(FixDetail.wind($0))" } ?? ""
      said.append("It goes\(course) at \(Wording.decimal(speed, places: 1))\u{A0}m/s.")
    }
    if let progress {
      let place = "\(Wording.meters(progress.distance)) along its itinerary"
      said.append(progress.isOffRoute ? "It has left its itinerary." : "It is \(place).")
    }
    if isIndoors, satellites == .notNeeded {
      said.append("Its satellite receiver may rest: what it hears indoors says more.")
    }
    return said
  }

  /// The least speed that is published.
  ///
  /// - Units: m/s. Below a third of walking speed a person turns about rather than walks.
  private static let minimumSpeed = 0.4

  /// The sources of a fix, with the words that people use for them.
  private static let sourceWords: [(source: FixSources, name: String)] = [
    (.wifi, "Wi-Fi"), (.beacons, "beacons"), (.observers, "the observers that hear it"),
    (.motion, "its motion"),
    (.outside, "satellites"),
  ]

  /// The nearest of the eight winds of a course in radians from north clockwise.
  private static func wind(_ course: Double) -> String {
    let winds = [
      "north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west",
    ]
    let eighths = Int((course / (.pi / 4)).rounded())
    return winds[((eighths % winds.count) + winds.count) % winds.count]
  }
}

extension ItineraryProgress {
  /// The members in JSON.
  fileprivate static let members: [DocumentField<ItineraryProgress>] = [
    .always("distance", .number(decimals: 1), "Metres along the route.") { $0.distance },
    .always("share", .number(decimals: 4, .number(0...1)), "The same as a share of the whole route.") {
      $0.share
    },
    .always("deviation", .number(decimals: 2, .number(0...)), "Metres from the route.") { $0.deviation },
    .always("offRoute", .flag, "Whether the subject has left the route.") { $0.isOffRoute },
    .sometimes("latitude", .number(decimals: 8), "The nearest place on the route; degrees north.") {
      $0.longitude == nil ? nil : $0.latitude
    },
    .sometimes("longitude", .number(decimals: 8), "The nearest place on the route; degrees east.") {
      $0.latitude == nil ? nil : $0.longitude
    },
  ]
}
