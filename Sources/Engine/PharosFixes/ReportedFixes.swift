package import PharosDocuments
package import PharosModel
import PharosSpace

/// The fixes of handsets that no venue locates: each is where its own location from outside says.
///
/// Such a fix has no venue and no floor. It is published as every other one is, so that whatever follows fixes follows these.
package struct ReportedFixes: Sendable {
  /// A handset and its last fix.
  private struct Row: SubjectRow {
    let subject: SubjectID
    /// The time at which its last fix was decided.
    var touched: Timestamp
    /// The time of its last fix.
    var latest = Timestamp.distantPast
    /// Counts its fixes, from the time of the first in nanoseconds: no id is given twice, however often it was forgotten.
    var counter: UInt64

    static var vacant: Row { Row(subject: .none, touched: .distantPast, counter: 0) }
    /// Indicates that the next location says all that is known.
    var isNeeded: Bool { false }
  }

  private let stream: String
  private let limit: Int
  private var isSimulated: Bool
  private var subjects = SubjectTable<Row>()
  private var counted = LocatingCounters()

  /// Starts without subjects.
  package init(site: Site, limit: Int) {
    stream = site.stream
    self.limit = limit
    isSimulated = site.positioning.isSimulated
  }

  /// The counters of all subjects.
  package var counters: LocatingCounters {
    var counters = counted
    counters.subjects = subjects.count
    return counters
  }

  /// Returns the fix that a sensing of a handset is.
  ///
  /// - Parameter sensing: the sensing; sensings of other kinds are no location.
  /// - Returns: the fix; nil if there is none, or it is not later than the last one of the handset.
  package mutating func receive(_ sensing: Sensing) -> PublishedFix? {
    guard case .outside(let location) = sensing.body else { return nil }
    guard var detail = FixDetail(location) else {
      counted.invalid &+= 1
      return nil
    }
    let place = place(of: .observer(sensing.observer), at: sensing.decidedAt)
    guard sensing.time > subjects[place].latest else {
      counted.late &+= 1
      return nil
    }
    counted.fixes &+= 1
    subjects[place].touched = sensing.decidedAt
    subjects[place].latest = sensing.time
    subjects[place].counter = max(
      subjects[place].counter + 1,
      UInt64(clamping: sensing.decidedAt.nanoseconds)
    )
    if isSimulated { detail.sourceInformation.insert(.simulatedBySoftware) }
    let event = Event(
      stream: stream,
      kind: .fix,
      time: sensing.time,
      decidedAt: sensing.decidedAt,
      stage: 2,
      subject: subjects[place].subject,
      counter: subjects[place].counter,
      ordinal: subjects[place].counter,
      detail: .fix(detail)
    )
    return PublishedFix(event: event, detail: detail)
  }

  /// Applies the settings of an edited site.
  package mutating func adopt(_ settings: PositioningSettings) { isSimulated = settings.isSimulated }

  /// Forgets a subject.
  package mutating func forget(_ traces: SubjectTraces) {
    for place in subjects.places(of: traces) { subjects.remove(place) }
  }

  private mutating func place(of id: SubjectID, at instant: Timestamp) -> Int {
    if let place = subjects.place(of: id) { return place }
    for place in subjects.evictions(limit: limit) {
      counted.evictions &+= 1
      subjects.remove(place)
    }
    return subjects.insert(Row(subject: id, touched: instant, counter: 0))
  }
}

extension FixDetail {
  /// Creates the detail of a location from outside; nil if it is nowhere on the Earth, or its accuracy is no distance.
  fileprivate init?(_ location: OutsideFix) {
    let radius = location.horizontalAccuracy.value
    guard Coordinate(latitude: location.latitude, longitude: location.longitude) != nil, radius.isFinite,
      radius > 0, location.attitude?.isUnit != false
    else { return nil }
    self.init(
      venue: "",
      latitude: location.latitude,
      longitude: location.longitude,
      horizontalAccuracy: radius,
      speed: location.speed.flatMap { $0.isFinite && $0 >= 0 ? Double($0) : nil },
      course: location.course.map { Double($0) * .pi / 180 },
      sources: .outside,
      age: .zero
    )
    ellipsoidalAltitude = location.altitude?.value
    verticalAccuracy = location.altitude.flatMap { _ in location.verticalAccuracy?.value }
    speedAccuracy = speed.flatMap { _ in location.speedAccuracy.map(Double.init) }
    courseAccuracy = course.flatMap { _ in location.courseAccuracy.map { Double($0) * .pi / 180 } }
    sourceInformation = location.information
    if location.source == .vps { sourceInformation.insert(.visualPositioning) }
    attitude = location.attitude
  }
}

extension ReportedFixes {
  /// Hands the handsets to a coder.
  package mutating func visitWhereabouts<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    if C.isReader { subjects = SubjectTable() }
    try subjects.visitRows(&coder) { (row, coder) throws(C.Failure) in
      var handset = Row(
        subject: try coder.field(row().subject),
        touched: try coder.field(row().touched),
        counter: try coder.field(row().counter)
      )
      handset.latest = try coder.field(row().latest)
      return handset
    }
  }
}
