public import PharosDocuments

/// The estimated location of a subject and its properties.
public struct FixDetail: Hashable, Sendable {
  /// The venue's identifier; empty where the site has no venue.
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
  /// The radius meant to hold 68 % of truths, or, as in Core Location, −1 if the fix has no coordinates.
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
  /// The probability that the floor is the right one, 0 to 1, or nil outdoors.
  public var floorCertainty: Double?
  /// The height above mean sea level, or nil if neither a source nor the floor gives one.
  ///
  /// - Units: metres. On a floor it is the height of the floor.
  public var altitude: Double?
  /// The height above the WGS 84 ellipsoid, or nil if neither a source nor the floor gives one.
  ///
  /// - Units: metres.
  public var ellipsoidalAltitude: Double?
  /// The difference in height meant to hold 68 % of truths, or nil if it is not known.
  ///
  /// - Units: metres.
  public var verticalAccuracy: Double?
  /// The difference meant to hold 68 % of true speeds, or nil if it is not known.
  ///
  /// - Units: m/s.
  public var speedAccuracy: Double?
  /// The angle meant to hold 68 % of true courses, or nil if it is not known.
  ///
  /// - Units: radians; JSON states it in degrees.
  public var courseAccuracy: Double?
  /// The direction that the handset points in, clockwise from north, or nil if it is not known.
  ///
  /// It is the direction of its top, or of its back where it is held upright. North is that of its compass, or, while
  /// visual positioning knows it, true north.
  ///
  /// - Units: radians; JSON states it in degrees.
  public var heading: Double?
  /// The angle meant to hold 68 % of true headings, or nil if it is not known.
  ///
  /// - Units: radians; JSON states it in degrees.
  public var headingAccuracy: Double?
  /// Statements about the making of the fix beyond its evidence.
  public var sourceInformation: SourceInformation = []
  /// The rotation from the handset's axes to east, north and up, or nil if it is not known.
  ///
  /// Its north is that of ``heading``.
  public var attitude: Rotation?
  /// The accuracy to which the fix was reduced for a reader; full where it was not, as in all that is stored.
  public internal(set) var accuracy = AccuracyAuthorisation.full

  /// Makes a fix of what every one has; what is left out is not known, and what is not among it is set afterwards.
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

  /// Writes the members of an open object: metres, metres a second, degrees, seconds.
  public func write(to json: inout JSONText) {
    var copy = self
    copy.visitMembers(&json)
  }
}

extension FixDetail: EventData {
  var detail: EventDetail { .fix(self) }

  /// Leaves the members as they are: none of them is a time or an identity.
  mutating func visit(_: inout MemberWalk) {}

  func summary(of _: Event) -> String {
    guard !accuracy.isReduced else { return accuracy.rawValue }
    let floor = floorName.isEmpty ? "\(building)/\(level)" : floorName
    return "±\(Wording.meters(horizontalAccuracy)) \(isIndoors ? room ?? place ?? floor : "outdoors")"
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    guard !accuracy.isReduced else { return ["The location is reduced to the \(accuracy.rawValue)."] }
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
    if isIndoors, let floorCertainty, floorCertainty < FixDetail.doubtfulFloor {
      said.append("The floor is the right one with a probability of \(Wording.probability(floorCertainty)).")
    }
    if sourceInformation.isSimulatedBySoftware { said.append("Software simulates it.") }
    if isIndoors, satellites == .notNeeded {
      said.append("Its satellite receiver may rest: what it hears indoors says more.")
    }
    return said
  }

  /// The least speed that is published.
  ///
  /// - Units: m/s. Below a third of walking speed a person turns about rather than walks.
  private static let minimumSpeed = 0.4

  /// The certainty below which sentences name a floor as doubtful.
  private static let doubtfulFloor = 0.9

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

/// The members, from which JSON, its schema and records come: unknown values are left out, as are the floor and its plane
/// outdoors.
///
/// A further member stands at the end and may be missing, so that records from before it are read: they lack its flag.
extension FixDetail: EventMembers {
  static var unread: FixDetail {
    FixDetail(venue: "", horizontalAccuracy: 0, sources: [], age: .zero)
  }

  /// The members of documents.
  package static let members = DocumentField<FixDetail>.listed

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("venue", &venue, decimals: 0, "The venue; empty where the site has none.")
    try visitPlace(&coder)
    try coder.member(
      "horizontalAccuracy",
      &horizontalAccuracy,
      decimals: 2,
      MemberNote(
        "Metres: the radius meant to hold 68 % of truths; -1 where the fix is reduced and has no coordinates.",
        minimum: -1
      )
    )
    try coder.member("speed", &speed, decimals: 2, MemberNote("Metres a second.", minimum: 0))
    try coder.member(
      "course",
      &writtenCourse,
      decimals: 1,
      MemberNote("Degrees from north clockwise.", minimum: 0)
    )
    try coder.member("sources", &sources, decimals: 0, "What it was made from.")
    try coder.member(
      "age",
      &age,
      decimals: 3,
      "How old the newest evidence of a radio, or from outside, was; seconds."
    )
    try coder.member(
      "satellites",
      &satellites,
      decimals: 0,
      "Whether the handset's satellite receiver is worth its power here."
    )
    try coder.part(
      "itinerary",
      &progress,
      "The place along the subject's itinerary; missing if it has none or is not near it."
    )
    try visitAccuracies(&coder)
  }

  private mutating func visitAccuracies<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member(
      "floorCertainty",
      &writtenFloorCertainty,
      decimals: 2,
      MemberNote("The probability that the floor is the right one; missing outdoors.", minimum: 0, maximum: 1)
    )
    try coder.member("altitude", &altitude, decimals: 2, "Metres above mean sea level.")
    try coder.member("ellipsoidalAltitude", &ellipsoidalAltitude, decimals: 2, "Metres above WGS 84.")
    try coder.member(
      "verticalAccuracy",
      &verticalAccuracy,
      decimals: 2,
      MemberNote("Metres: the difference in height meant to hold 68 % of truths.", minimum: 0)
    )
    try coder.member(
      "speedAccuracy",
      &speedAccuracy,
      decimals: 2,
      MemberNote("Metres a second, as the other accuracies.", minimum: 0)
    )
    try coder.member(
      "courseAccuracy",
      &writtenCourseAccuracy,
      decimals: 1,
      MemberNote("Degrees, as the other accuracies.", minimum: 0)
    )
    try coder.member(
      "heading",
      &writtenHeading,
      decimals: 1,
      MemberNote("Where the handset points; degrees from north clockwise.", minimum: 0)
    )
    try coder.member(
      "headingAccuracy",
      &writtenHeadingAccuracy,
      decimals: 1,
      MemberNote("Degrees, as the other accuracies.", minimum: 0)
    )
    try coder.member(
      "sourceInformation",
      &writtenSourceInformation,
      decimals: 0,
      "What is known of its making; missing where there is nothing to say."
    )
    try coder.part(
      "attitude",
      &attitude,
      "The unit quaternion that turns the handset's axes to east, north and up."
    )
    try coder.member(
      "reducedTo",
      &writtenAccuracy,
      decimals: 0,
      "What the application's accuracy leaves of the location; missing at full accuracy."
    )
  }

  private mutating func visitPlace<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member(
      "building",
      &writtenBuilding,
      decimals: 0,
      "Missing outdoors, as are level, floorName, x and y."
    )
    try coder.member("level", &writtenLevel, decimals: 0, "The floor's number; 0 is the ground floor.")
    try coder.member("floorName", &writtenFloorName)
    try coder.member("room", &writtenRoom, decimals: 0, "The room that it is in, by the venue's own name.")
    try coder.member("place", &writtenPlace, decimals: 0, "The point of interest that it is at, by name.")
    try coder.member("latitude", &writtenLatitude, decimals: 8, "Degrees north, WGS 84.")
    try coder.member("longitude", &writtenLongitude, decimals: 8, "Degrees east, WGS 84.")
    try coder.member("x", &writtenX, decimals: 3, "Metres east on the floor's plane.")
    try coder.member("y", &writtenY, decimals: 3, "Metres north on the floor's plane.")
  }
}

/// The properties as they are written.
extension FixDetail {
  private func indoors<Value>(_ value: Value?) -> Value? { isIndoors ? value : nil }

  private var writtenBuilding: String? {
    get { indoors(building) }
    set { building = newValue ?? "" }
  }

  private var writtenLevel: Int? {
    get { accuracy >= .floor ? indoors(level) : nil }
    set { level = newValue ?? 0 }
  }

  private var writtenFloorName: String? {
    get { floorName.isEmpty ? nil : indoors(floorName) }
    set { floorName = newValue ?? "" }
  }

  private var writtenRoom: String? {
    get { indoors(room) }
    set { room = newValue }
  }

  private var writtenPlace: String? {
    get { indoors(place) }
    set { place = newValue }
  }

  private var writtenLatitude: Double? {
    get { longitude == nil ? nil : latitude }
    set { latitude = newValue }
  }

  private var writtenLongitude: Double? {
    get { latitude == nil ? nil : longitude }
    set { longitude = newValue }
  }

  private var writtenX: Double? {
    get { accuracy.isReduced ? nil : indoors(x) }
    set { x = newValue ?? 0 }
  }

  private var writtenY: Double? {
    get { accuracy.isReduced ? nil : indoors(y) }
    set { y = newValue ?? 0 }
  }

  private var writtenAccuracy: AccuracyAuthorisation? {
    get { accuracy.isReduced ? accuracy : nil }
    set { accuracy = newValue ?? .full }
  }

  private var writtenFloorCertainty: Double? {
    get { indoors(floorCertainty) }
    set { floorCertainty = newValue }
  }

  private var writtenSourceInformation: SourceInformation? {
    get { sourceInformation.isEmpty ? nil : sourceInformation }
    set { sourceInformation = newValue ?? [] }
  }

  private var writtenCourse: WrittenAngle? {
    get { WrittenAngle(course) }
    set { course = newValue?.radians }
  }

  private var writtenCourseAccuracy: WrittenAngle? {
    get { WrittenAngle(courseAccuracy) }
    set { courseAccuracy = newValue?.radians }
  }

  private var writtenHeading: WrittenAngle? {
    get { WrittenAngle(heading) }
    set { heading = newValue?.radians }
  }

  private var writtenHeadingAccuracy: WrittenAngle? {
    get { WrittenAngle(headingAccuracy) }
    set { headingAccuracy = newValue?.radians }
  }
}

/// A direction, or an accuracy of one, that JSON and records state in degrees, 0 to 360, as Core Location does.
private struct WrittenAngle: MemberValue {
  var radians: Double

  /// Creates an angle, or nil of one that is missing, or of so many turns that its digits hold no direction.
  init?(_ radians: Double?) {
    guard let radians, radians.magnitude < 1_000 else { return nil }
    self.radians = radians
  }

  private var degrees: Double {
    let degrees = radians * 180 / .pi
    let turned = degrees - (degrees / 360).rounded(.down) * 360
    // What rounds up to a whole turn is north.
    return turned >= 359.95 ? 0 : turned
  }

  static var schema: Schema { .number }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.member(key, degrees, decimals: decimals)
  }

  func write(to record: inout RecordWriter, decimals: Int) { record.decimal(degrees, decimals) }

  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    radians = try record.decimal(decimals) * .pi / 180
  }

  func write(to writer: inout FieldWriter) { writer.write(radians) }

  init(from reader: inout FieldReader) throws(FieldError) { radians = try reader.read() }
}

extension Float: MemberValue {
  static var schema: Schema { .number }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.member(key, Double(self), decimals: decimals)
  }

  func write(to record: inout RecordWriter, decimals: Int) { record.decimal(Double(self), decimals) }

  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    self = Float(try record.decimal(decimals))
  }
}

/// A fix in a record of before its members were listed, which is read and never written.
///
/// - Shape: a byte with a bit for each of floor name, coordinate, speed, course, satellites that are not needed, itinerary, room and place,
///   in this order; the sources; venue and building; floor and place if there is a building; what the bits announce; accuracy and age; the
///   itinerary: a byte with bits for off the route and a place, distance, share and deviation, the place.
struct EarlierFix {
  private var fix: FixDetail
}

extension EarlierFix: EventData {
  var detail: EventDetail { .fix(fix) }

  func write(to json: inout JSONText, endingAt time: Timestamp) { fix.write(to: &json, endingAt: time) }
  func write(to record: inout RecordWriter) { fix.write(to: &record) }
  func summary(of event: Event) -> String { fix.summary(of: event) }

  init(from reader: inout RecordReader) throws(FieldError) {
    let flags = try reader.byte()
    let sources = try FixSources(from: &reader, decimals: 0)
    let venue = try reader.textName()
    let building = try reader.textName()
    fix = FixDetail(venue: venue, building: building, horizontalAccuracy: 0, sources: sources, age: .zero)
    if flags & 16 != 0 { fix.satellites = .notNeeded }
    if fix.isIndoors {
      fix.level = Int(try reader.signed())
      if flags & 1 != 0 { fix.floorName = try reader.textName() }
      if flags & 64 != 0 { fix.room = try reader.textName() }
      if flags & 128 != 0 { fix.place = try reader.textName() }
      fix.x = try reader.decimal(3)
      fix.y = try reader.decimal(3)
    }
    if flags & 2 != 0 {
      fix.latitude = try reader.decimal(8)
      fix.longitude = try reader.decimal(8)
    }
    if flags & 4 != 0 { fix.speed = try reader.decimal(2) }
    if flags & 8 != 0 { fix.course = try reader.decimal(1) * .pi / 180 }
    fix.horizontalAccuracy = try reader.decimal(2)
    fix.age = try reader.milliseconds()
    if flags & 32 != 0 { fix.progress = try EarlierFix.progress(&reader) }
  }

  private static func progress(_ reader: inout RecordReader) throws(FieldError) -> ItineraryProgress {
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
    return read
  }
}
