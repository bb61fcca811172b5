public import PharosDocuments

/// A stay of a subject at one place: Core Location's `CLVisit`, with the evidence for it.
///
/// Each visit is published twice under one ``visit``: with its arrival while the subject is there, and complete once the
/// subject has left.
public struct VisitDetail: Hashable, Sendable {
  /// The identity of the visit: the id of the event of its arrival.
  public var visit: EventID
  /// The estimated time of the arrival.
  public var arrival: Timestamp
  /// The estimated time of the departure, or nil while the subject is there; JSON then has Core Location's distant future.
  public var departure: Timestamp?
  /// The venue's identifier; empty where only a zone is known.
  public var venue: String
  /// The floor, or nil outdoors and where only a zone is known.
  public var floor: Floor?
  /// Degrees north, WGS 84, or nil if the place on the Earth is not known.
  public var latitude: Double?
  /// Degrees east, WGS 84, or nil if the place on the Earth is not known.
  public var longitude: Double?
  /// The radius around the centre meant to hold 68 % of truths, or nil where only a zone is known; JSON then has −1, as
  /// Core Location does.
  ///
  /// - Units: metres.
  public var horizontalAccuracy: Double?
  /// The place that the visit lies in, or nil if it lies in none or that is not sure.
  public var place: Place?
  /// The evidence.
  public var evidence: Evidence
  /// The accuracy to which the visit was reduced for a reader; full where it was not, as in all that is stored.
  public internal(set) var accuracy = AccuracyAuthorisation.full

  /// Makes a visit; what is left out is not known.
  public init(
    visit: EventID,
    arrival: Timestamp,
    departure: Timestamp? = nil,
    venue: String = "",
    floor: Floor? = nil,
    latitude: Double? = nil,
    longitude: Double? = nil,
    horizontalAccuracy: Double? = nil,
    place: Place? = nil,
    evidence: Evidence = Evidence()
  ) {
    self.visit = visit
    self.arrival = arrival
    self.departure = departure
    self.venue = venue
    self.floor = floor
    self.latitude = latitude
    self.longitude = longitude
    self.horizontalAccuracy = horizontalAccuracy
    self.place = place
    self.evidence = evidence
  }

  /// The length of the visit, or nil while it lasts.
  public var duration: TimeSpan? { departure.map { $0 - arrival } }

  /// The floor of a visit, and the centre of the visit on it.
  public struct Floor: Hashable, Sendable {
    /// The building's identifier.
    public var building: String
    /// The floor's number, 0 for the ground floor.
    public var level: Int
    /// The display name of the floor, or nil if it has none.
    public var name: String?
    /// The distance of the centre east on the floor's plane.
    ///
    /// - Units: metres.
    public var x: Double
    /// The distance of the centre north on the floor's plane.
    ///
    /// - Units: metres.
    public var y: Double

    /// Makes a floor.
    public init(building: String, level: Int, name: String? = nil, x: Double, y: Double) {
      self.building = building
      self.level = level
      self.name = name
      self.x = x
      self.y = y
    }
  }

  /// A place with a name.
  public struct Place: Hashable, Sendable {
    /// The kind of a place.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
      /// A point of interest of the venue.
      case pointOfInterest
      /// A named area of a floor: a room, a hall.
      case area
      /// A zone of the site.
      case zone
    }

    /// The kind.
    public var kind: Kind
    /// The identifier of the point of interest or zone; the name of an area.
    public var identifier: String
    /// The display name, or nil if it has none.
    public var name: String?
    /// The probability that the subject is in it.
    public var probability: Double?

    /// Makes a place.
    public init(kind: Kind, identifier: String, name: String? = nil, probability: Double? = nil) {
      self.kind = kind
      self.identifier = identifier
      self.name = name
      self.probability = probability
    }
  }

  /// The evidence for a visit.
  public struct Evidence: Hashable, Sendable {
    /// The number of fixes at the place; 0 where a zone was the evidence.
    public var fixes: Int
    /// The root mean square distance of the fixes from the centre.
    ///
    /// - Units: metres.
    public var spread: Double?
    /// The longest time between two fixes at the place, or without any knowledge of the zone.
    public var maximumGap: TimeSpan
    /// The reason for the end.
    public var end: End

    /// The reason for the end of a visit.
    public enum End: String, CaseIterable, Hashable, Sendable {
      /// The visit lasts.
      case lasting
      /// The subject moved away.
      case moved
      /// The subject changed floors, or went in or out of doors.
      case changedFloor
      /// The beacon left the zone.
      case leftZone
      /// There was no evidence for longer than a visit is held: the departure is the time of the last evidence.
      case silence
      /// The site no longer asks for visits, or too many subjects had one: the departure is the time of the last evidence.
      case dropped
    }

    /// Makes evidence.
    public init(fixes: Int = 0, spread: Double? = nil, maximumGap: TimeSpan = .zero, end: End = .lasting) {
      self.fixes = fixes
      self.spread = spread
      self.maximumGap = maximumGap
      self.end = end
    }
  }
}

extension VisitDetail: EventData, EventMembers {
  var detail: EventDetail { .visit(self) }

  static var unread: VisitDetail {
    VisitDetail(visit: EventID(high: 0, low: 0), arrival: .distantPast)
  }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("visit", &visit)
    try coder.member("arrivalDate", &arrival)
    try coder.member("departureDate", &departure)
    try coder.member("venue", &venue)
    try coder.part(nil, &floor)
    try coder.member("latitude", &latitude, decimals: 8)
    try coder.member("longitude", &longitude, decimals: 8)
    try coder.member("horizontalAccuracy", &horizontalAccuracy, decimals: 2)
    try coder.part("place", &place)
    try coder.part("evidence", &evidence)
  }

  func write(to record: inout RecordWriter) { record.write(self) }
  init(from record: inout RecordReader) throws(FieldError) { self = try record.part() }

  func write(to json: inout JSONText, endingAt _: Timestamp) { write(to: &json) }

  /// Writes the members of an open object: metres, degrees, seconds.
  public func write(to json: inout JSONText) {
    DocumentField.write(VisitDetail.members, of: self, to: &json)
  }

  /// The members of documents: those of the floor that the accuracy leaves, and of what is not known none.
  package static let members: [DocumentField<VisitDetail>] = [
    .always("visit", .text, "The id of the event of the arrival.") { $0.visit.description },
    .always("arrivalDate", .moment) { $0.arrival },
    .always("departureDate", .text(.time), "4001-01-01T00:00:00Z while the visit lasts.") {
      $0.departure?.rfc3339 ?? Timestamp.visitDistantFuture
    },
    .sometimes("duration", .seconds(decimals: 3, .number(0...)), "Seconds; only once the visit has ended.") {
      $0.duration
    },
    .sometimes("venue", .text) { $0.venue.isEmpty ? nil : $0.venue },
    .sometimes("building", .text) { $0.floor?.building },
    .sometimes("level", .integer) { $0.accuracy >= .floor ? $0.floor?.level : nil },
    .sometimes("floorName", .text) { $0.floor?.name },
    .sometimes("x", .number(decimals: 3)) { $0.accuracy.isReduced ? nil : $0.floor?.x },
    .sometimes("y", .number(decimals: 3)) { $0.accuracy.isReduced ? nil : $0.floor?.y },
    .sometimes(
      "reducedTo",
      .text(.words(AccuracyAuthorisation.allCases.filter(\.isReduced).map(\.rawValue))),
      "What the application's accuracy leaves of the place; missing at full accuracy."
    ) { $0.accuracy.isReduced ? $0.accuracy.rawValue : nil },
    .sometimes("latitude", .number(decimals: 8)) { $0.longitude == nil ? nil : $0.latitude },
    .sometimes("longitude", .number(decimals: 8)) { $0.latitude == nil ? nil : $0.longitude },
    .always(
      "horizontalAccuracy",
      .number(decimals: 2),
      "Metres; -1 where only a zone is known, or the visit is reduced."
    ) { $0.horizontalAccuracy ?? -1 },
    .sometimes("place", .object(DocumentField<Place>.listed)) { $0.place },
    .always("evidence", .object(DocumentField<Evidence>.listed)) { $0.evidence },
  ]

  func summary(of _: Event) -> String {
    guard !accuracy.isReduced else { return accuracy.rawValue }
    let name = place.map { $0.name ?? $0.identifier } ?? floor.map { "\($0.building)/\($0.level)" } ?? ""
    guard let duration else { return name }
    let stayed = "stayed \(TimeSpan.seconds(duration.seconds.rounded()).written)"
    return name.isEmpty ? stayed : "\(name), \(stayed)"
  }

  func sentences(in _: String, _: SiteNames) -> [String] {
    guard !accuracy.isReduced else { return ["The place is reduced to the \(accuracy.rawValue)."] }
    var said: [String] = []
    let name = place.map { "in \($0.name ?? $0.identifier)" }
    let story = floor.map { "on \($0.name ?? "floor \($0.level)") of \($0.building)" }
    let place = name ?? story ?? "outdoors"
    if let duration, let departure {
      said.append(
        "It stayed \(Wording.span(duration)) \(place), from \(Wording.clock(arrival)) to \(Wording.clock(departure))."
      )
    } else {
      said.append("It has stayed \(place) since \(Wording.clock(arrival)).")
    }
    if let probability = self.place?.probability {
      said.append("The place is the right one with a probability \(VisitDetail.chance(probability)).")
    }
    if evidence.fixes > 0 {
      let spread = evidence.spread.map { " within \(Wording.meters($0)) of their centre" } ?? ""
      said.append(
        "\(evidence.fixes == 1 ? "1 fix" : "\(evidence.fixes) fixes")\(spread) \(evidence.fixes == 1 ? "shows" : "show") it."
      )
    }
    switch evidence.end {
    case .moved: said.append("It ended because the subject moved away.")
    case .changedFloor:
      said.append("It ended because the subject changed floors, or went in or out of doors.")
    case .leftZone: said.append("It ended because the beacon left the zone.")
    case .silence:
      said.append("Nothing showed the subject for too long: the departure is the time of the last evidence.")
    case .dropped: said.append("It was given up: the departure is the time of the last evidence.")
    case .lasting: break
    }
    return said
  }

  private static func chance(_ probability: Double) -> String {
    let text = Wording.probability(probability)
    return text.hasPrefix("over") || text.hasPrefix("under") ? text : "of \(text)"
  }
}

extension VisitDetail.Floor: EventMembers {
  static var unread: VisitDetail.Floor { VisitDetail.Floor(building: "", level: 0, x: 0, y: 0) }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("building", &building)
    try coder.member("level", &level)
    try coder.member("floorName", &name)
    try coder.member("x", &x, decimals: 3)
    try coder.member("y", &y, decimals: 3)
  }
}

extension VisitDetail.Place: EventMembers {
  static var unread: VisitDetail.Place { VisitDetail.Place(kind: .area, identifier: "") }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.choice("kind", &kind, .behind)
    try coder.member("id", &identifier)
    try coder.member("name", &name)
    try coder.member(
      "probability",
      &probability,
      decimals: 4,
      MemberNote("The probability that the subject is in it.", minimum: 0, maximum: 1)
    )
  }
}

extension VisitDetail.Evidence: EventMembers {
  static var unread: VisitDetail.Evidence { VisitDetail.Evidence() }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("fixes", &fixes)
    try coder.member(
      "spread",
      &spread,
      decimals: 2,
      MemberNote("Metres: the root mean square distance of the fixes from the centre.", minimum: 0)
    )
    try coder.member("maximumGap", &maximumGap)
    try coder.choice("end", &end, .behind)
  }
}

extension VisitDetail.Place.Kind: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "a place's kind" }
}

extension VisitDetail.Evidence.End: MemberChoice {
  /// The name of the field.
  public static var fieldName: String { "the end of a visit" }
}

/// The visit to the last bit, as a checkpoint stores it; an ``EventRecord`` stores it as published.
extension VisitDetail: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    var copy = self
    copy.visitMembers(&writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self = .unread
    try visitMembers(&reader)
  }
}
