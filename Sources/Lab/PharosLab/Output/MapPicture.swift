import PharosDocuments
package import PharosModel
import PharosService
package import PharosSpace

/// A picture of the floors of a venue: the fixes of each subject as a line, and the decisions about it as numbered dots
/// with a list below.
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
  private static let margin = 24.0
  private static let lineHeight = 17.0

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

  /// The picture as SVG text.
  package func svg() -> String {
    let floors = venue.floors.reversed().filter { floor in
      floor.id.level == 0 || lines.values.contains { $0.contains { $0.floor == floor.id } }
    }
    var top = 92.0
    var drawings: [(id: FloorID, drawing: FloorDrawing)] = []
    for (id, floor) in floors {
      let drawing = FloorDrawing(floor, showing: extent(of: floor, id), around: [], top: top, share: 0.7)
      drawings.append((id, drawing))
      top = drawing.bottom + 22
    }
    let width = max(900, drawings.map(\.drawing.width).max() ?? 0)
    let listed = marks.count + (omitted > 0 ? 1 : 0)
    var picture = SVGDocument(
      width: width,
      height: top + Double(listed) * MapPicture.lineHeight + MapPicture.margin,
      title: title,
      summary: "\(title): \(figures)."
    )
    picture.heading(title, figures, at: SVGPoint(MapPicture.margin, 28))
    let legend = subjects.enumerated().map { number, subject in
      (SVGDocument.LegendMark.line(Stroke(color(number), width: 1.6)), names.name(of: subject))
    }
    picture.legend(legend, at: SVGPoint(MapPicture.margin, 62), right: width - MapPicture.margin)
    for (id, drawing) in drawings {
      let name = venue.floor(id).map(\.name) ?? id.description
      picture.text(
        name,
        at: SVGPoint(MapPicture.margin, drawing.top - 6),
        TextStyle(13, isBold: true)
      )
      drawing.drawPlan(on: &picture, ground: { drawPlaces(of: id, drawing, on: &$0) }) { picture in
        drawGeofences(on: id, drawing, &picture)
        drawLines(on: id, drawing, &picture)
        drawMarks(on: id, drawing, &picture)
      }
    }
    drawList(below: top, on: &picture)
    return picture.text
  }

  private var figures: String {
    let subjects = Wording.count(subjects.count, "subject")
    return "\(subjects), \(Wording.count(marks.count + omitted, "decision"))"
  }

  private func color(_ number: Int) -> String { Palette.series[number % Palette.series.count] }

  /// The part of a floor that is shown: what is drawn on it, and what fixes lie beside it.
  private func extent(of floor: Floor, _ id: FloorID) -> Extent? {
    let corners = floor.extent.map { [$0.southWest, $0.northEast] } ?? []
    let fixes = lines.values.joined().filter { $0.floor == id }.flatMap(\.points)
    return Extent(around: corners + fixes)
  }

  /// Names the points of interest of a floor.
  private func drawPlaces(of id: FloorID, _ drawing: FloorDrawing, on picture: inout SVGDocument) {
    for place in venue.floor(id)?.pointsOfInterest ?? [] {
      let style = TextStyle(10, color: Palette.faint, anchor: .middle)
      picture.text(place.name, at: drawing.place(place.point), style)
    }
  }

  /// Draws the geofences of a floor; those of all floors are drawn on the ground floor.
  private func drawGeofences(on id: FloorID, _ drawing: FloorDrawing, _ picture: inout SVGDocument) {
    guard let plane = venue.floor(id)?.plane else { return }
    let stroke = Stroke(Palette.allowance, width: 1.4, dashes: [6, 3])
    func point(_ position: Geofence.Position) -> Point? {
      Coordinate(latitude: position.latitude, longitude: position.longitude).flatMap(plane.point)
    }
    for (name, geofence) in geofences where geofence.level ?? 0 == id.level {
      guard geofence.building ?? id.building == id.building else { continue }
      var top: Point?
      switch geofence.shape {
      case .circle(let center, let radius):
        guard let center = point(center) else { continue }
        picture.circle(drawing.place(center), radius: radius.value * drawing.scale, stroke)
        top = Point(x: center.x, y: center.y + radius.value)
      case .polygon(let rings):
        let corners = rings.map { $0.compactMap(point) }
        picture.path(corners.map { drawing.path(through: $0) + "Z" }.joined(), stroke: stroke)
        top = corners.first.flatMap(Extent.init(around:)).map { Point(x: $0.middle.x, y: $0.northEast.y) }
      }
      guard let place = top.map(drawing.place) else { continue }
      let style = TextStyle(10, color: Palette.exit, anchor: .middle)
      picture.text(name, at: SVGPoint(place.x, place.y + 12), style)
    }
  }

  private func drawLines(on id: FloorID, _ drawing: FloorDrawing, _ picture: inout SVGDocument) {
    for (number, subject) in subjects.enumerated() {
      for line in lines[subject] ?? [] where line.floor == id {
        picture.path(
          drawing.path(through: line.points),
          stroke: Stroke(color(number), width: 1.6),
          opacity: 0.75
        )
      }
    }
  }

  private func drawMarks(on id: FloorID, _ drawing: FloorDrawing, _ picture: inout SVGDocument) {
    var taken: [SVGPoint] = []
    for (number, mark) in marks.enumerated() where mark.place.floor == id {
      var point = drawing.place(mark.place.point)
      // Decisions at one place stand beside each other.
      while taken.contains(where: { abs($0.x - point.x) < 15 && abs($0.y - point.y) < 15 }) { point.x += 16 }
      taken.append(point)
      picture.dots([point], radius: 8, fill: color(of: mark.event))
      let style = TextStyle(9, color: Palette.paper, isBold: true, anchor: .middle)
      picture.text("\(number + 1)", at: SVGPoint(point.x, point.y + 3), style)
    }
  }

  private func drawList(below top: Double, on picture: inout SVGDocument) {
    for (number, mark) in marks.enumerated() {
      let y = top + Double(number + 1) * MapPicture.lineHeight
      picture.dots([SVGPoint(MapPicture.margin + 8, y - 4)], radius: 7, fill: color(of: mark.event))
      let style = TextStyle(8.5, color: Palette.paper, isBold: true, anchor: .middle)
      picture.text("\(number + 1)", at: SVGPoint(MapPicture.margin + 8, y - 1), style)
      picture.text(line(of: mark.event), at: SVGPoint(MapPicture.margin + 24, y), TextStyle(12))
    }
    guard omitted > 0 else { return }
    let y = top + Double(marks.count + 1) * MapPicture.lineHeight
    let more = "and \(Wording.count(omitted, "more decision"))"
    picture.text(more, at: SVGPoint(MapPicture.margin + 24, y), TextStyle(12, color: Palette.faint))
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
