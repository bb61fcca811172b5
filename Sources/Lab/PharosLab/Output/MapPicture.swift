import PharosDocuments
package import PharosModel
import PharosService
package import PharosSpace

/// Pictures of the floors of a venue: the fixes of each subject as a line, and the decisions about it as numbered dots with
/// a list below.
package struct MapPicture {
  /// A fix of a subject on a floor.
  private struct Place {
    let floor: FloorID
    let point: Point
  }

  /// A decision that is drawn: its number is its index plus one.
  private struct Mark {
    let event: Event
    let place: Place
  }

  /// The maximum number of decisions in a picture that a reader can follow.
  private static let maximumMarks = 60

  private let venue: Venue
  private let names: SiteNames
  private let geofences: [(name: String, geofence: Geofence)]
  private let title: String
  /// The latest fix of each subject.
  private var latest: [SubjectID: Place] = [:]
  /// The subjects in the order of their first fixes, which is that of their colours.
  private var subjects: [SubjectID] = []
  /// The lines of each subject: a piece ends where the floor changes.
  private var lines: [SubjectID: [(floor: FloorID, points: [Point])]] = [:]
  private var marks: [Mark] = []
  private var omitted = 0

  /// Creates an empty picture.
  package init(_ venue: Venue, title: String, site: Site) {
    self.venue = venue
    self.title = title
    names = SiteNames(site)
    geofences = site.applications.flatMap { application in
      application.regions.compactMap { region in region.geofence.map { (region.identifier, $0) } }
    }
  }

  /// Takes the events of a run, in their order.
  package mutating func add(_ events: [Event]) {
    for event in events {
      if case .fix(let fix) = event.detail { add(fix, of: event.subject) } else { mark(event) }
    }
  }

  package mutating func add(_ fix: FixDetail, of subject: SubjectID) {
    guard fix.venue == venue.identifier, let place = place(of: fix) else { return }
    if latest[subject] == nil { subjects.append(subject) }
    if latest[subject]?.floor != place.floor { lines[subject, default: []].append((place.floor, [])) }
    latest[subject] = place
    if let last = lines[subject]?.indices.last { lines[subject]?[last].points.append(place.point) }
  }

  /// The place of a fix; outdoors it is drawn on the lowest floor with an entrance.
  private func place(of fix: FixDetail) -> Place? {
    if fix.isIndoors {
      return Place(
        floor: FloorID(building: fix.building, level: fix.level),
        point: Point(x: fix.x, y: fix.y)
      )
    }
    guard let latitude = fix.latitude, let longitude = fix.longitude,
      let coordinate = Coordinate(latitude: latitude, longitude: longitude),
      let (id, floor) = venue.floors.first(where: { !$0.floor.entrances.isEmpty }) ?? venue.floors.first,
      let point = floor.plane.point(of: coordinate)
    else { return nil }
    return Place(floor: id, point: point)
  }

  private mutating func mark(_ event: Event) {
    guard event.kind != .regionState, event.kind != .ranging, let place = latest[event.subject] else {
      return
    }
    guard marks.count < MapPicture.maximumMarks else {
      omitted += 1
      return
    }
    marks.append(Mark(event: event, place: place))
  }

  /// The pictures as a page of HTML.
  package var html: String {
    let shown = venue.floors.reversed().filter { floor in
      floor.id.level == 0 || lines.values.contains { $0.contains { $0.floor == floor.id } }
    }
    return FloorPage(title: title, venue: venue, pictures: shown.map { picture(of: $0.floor, $0.id) }).html
  }

  private func picture(of floor: Floor, _ id: FloorID) -> FloorPicture {
    let numbered = marks.enumerated().filter { $1.place.floor == id }
    let hidden = omitted > 0 ? ", \(Wording.count(omitted, "more decision")) not drawn" : ""
    var picture = FloorPicture(
      floor: id,
      title: floor.name,
      figures: "\(Wording.count(numbered.count, "decision"))\(hidden)",
      extent: extent(of: floor, id)
    )
    picture.labels = floor.pointsOfInterest.map { ($0.name, $0.point) }
    picture.marks = numbered.map { number, mark in
      .init(
        number: number + 1,
        point: mark.place.point,
        color: color(of: mark.event),
        text: line(of: mark.event)
      )
    }
    drawGeofences(on: floor, id, &picture)
    for (number, subject) in subjects.enumerated() {
      let walked = (lines[subject] ?? []).filter { $0.floor == id }.map(\.points.coordinates)
      let color = Palette.series[number % Palette.series.count]
      picture.layers.append(.init(names.name(of: subject), .lines, color, walked))
    }
    return picture
  }

  /// The part of a floor that is shown: what is drawn on it, and what fixes lie beside it.
  private func extent(of floor: Floor, _ id: FloorID) -> Extent? {
    let corners = floor.extent.map { [$0.southWest, $0.northEast] } ?? []
    let fixes = lines.values.joined().filter { $0.floor == id }.flatMap(\.points)
    return Extent(around: corners + fixes)
  }

  /// Draws the geofences of a floor; those of all floors are drawn on the ground floor.
  private func drawGeofences(on floor: Floor, _ id: FloorID, _ picture: inout FloorPicture) {
    func point(_ position: Geofence.Position) -> Point? {
      Coordinate(latitude: position.latitude, longitude: position.longitude).flatMap(floor.plane.point)
    }
    func add(_ shape: FloorPicture.Shape, _ values: [[Double]]) {
      picture.layers.append(.init("", shape, Palette.allowance, width: 1.4, isDashed: true, values))
    }
    for (name, geofence) in geofences where geofence.level ?? 0 == id.level {
      guard geofence.building ?? id.building == id.building else { continue }
      switch geofence.shape {
      case .circle(let center, let radius):
        guard let center = point(center) else { continue }
        add(.circles, [[center.x, center.y, radius.value]])
        picture.labels.append((name, Point(x: center.x, y: center.y + radius.value)))
      case .polygon(let rings):
        let corners = rings.map { ring in ring.compactMap(point) }
        add(.lines, corners.map { ($0 + $0.prefix(1)).coordinates })
        guard let extent = corners.first.flatMap(Extent.init(around:)) else { continue }
        picture.labels.append((name, Point(x: extent.middle.x, y: extent.northEast.y)))
      }
    }
  }

  private func line(of event: Event) -> String {
    let words = [
      Wording.clock(event.time), names.name(of: event.subject), event.kind.word, event.region,
      event.detail.summary(of: event),
    ]
    return words.filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private func color(of event: Event) -> String {
    switch event.kind.tone {
    case .good: Palette.enter
    case .ended: Palette.exit
    case .alarming: Palette.mistake
    case .neutral: Palette.faint
    }
  }
}
