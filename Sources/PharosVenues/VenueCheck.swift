/// Looks through a whole venue for what cannot be meant.
public struct VenueCheck: Sendable {
  /// The findings, floor by floor, then connectors.
  public private(set) var findings: [VenueFinding] = []
  private let venue: Venue
  /// The places at which connectors meet each floor.
  private let stops: [FloorID: [(connector: String, point: Point)]]

  /// The distance up to which a thing may hang outside of its floor's areas: masts stand before doors, balconies have
  /// beacons.
  ///
  /// - Units: metres.
  static let outsideTolerance = 5.0
  /// The distance from the walkable areas up to which a connector may stop: a lift's point lies in the middle of its
  /// shaft.
  ///
  /// - Units: metres.
  static let connectorTolerance = 5.0
  /// The smallest area that is worth a finding: smaller ones are slivers between drawn lines.
  ///
  /// - Units: square metres.
  static let smallestArea = 2.0

  /// The number of unreachable areas of a floor that are named; the others are counted.
  static let mostUnreachable = 5

  /// Looks through a venue.
  public init(_ venue: Venue) {
    self.venue = venue
    var stops: [FloorID: [(connector: String, point: Point)]] = [:]
    for connector in venue.connectors {
      for stop in connector.stops {
        stops[stop.floor, default: []].append((connector.identifier, stop.point))
      }
    }
    self.stops = stops
    for (id, floor) in venue.floors { check(floor, id) }
    checkPlaces()
    checkRepeats()
    for connector in venue.connectors { check(connector) }
    if !venue.floors.isEmpty, venue.floors.allSatisfy({ $0.floor.entrances.isEmpty }) {
      findings.append(.noEntrance)
    }
  }

  private mutating func check(_ floor: Floor, _ id: FloorID) {
    if let alignment = floor.plan?.alignment {
      for anchor in alignment.doubtfulAnchors {
        findings.append(.doubtfulAnchor(id, anchor: anchor, residual: alignment.residuals[anchor]))
      }
    }
    let space = FloorSpace(floor)
    for (thing, point) in floor.things { checkPlace(thing, point, floor, id, space) }
    let stops = stops[id] ?? []
    let seeds = floor.entrances.map(\.point) + stops.map(\.point)
    if seeds.isEmpty, hasWaysIn { findings.append(.isolated(id)) }
    guard !floor.walkable.isEmpty else {
      findings.append(.noWalkableArea(id))
      return
    }
    for stop in stops where !space.areas.isCovered(stop.point) {
      guard let meters = space.distanceToBoundary(from: stop.point) else { continue }
      guard meters > VenueCheck.connectorTolerance else { continue }
      findings.append(.offFloor(connector: stop.connector, id, meters: meters))
    }
    checkReach(floor, id, FloorReach(of: floor, in: space, from: seeds))
  }

  /// The largest of what cannot be walked to, and how much more there is.
  private mutating func checkReach(_ floor: Floor, _ id: FloorID, _ reach: FloorReach) {
    let cutOff = reach.unreachable.map { (index: $0, size: floor.walkable[$0].size) }
      .filter { $0.size >= VenueCheck.smallestArea }
      .sorted { ($0.size, $1.index) > ($1.size, $0.index) }
    for (index, size) in cutOff.prefix(VenueCheck.mostUnreachable) {
      let area = floor.walkable[index]
      let name = area.name.isEmpty ? "walkable area \(index + 1)" : "\"\(area.name)\""
      findings.append(.unreachable(id, area: name, squareMeters: size))
    }
    let more = cutOff.dropFirst(VenueCheck.mostUnreachable)
    guard !more.isEmpty else { return }
    let size = more.reduce(0) { $0 + $1.size }
    findings.append(.furtherUnreachable(id, count: more.count, squareMeters: size))
  }

  /// The places that cannot be walked to from an entrance, stairs or a lift.
  private mutating func checkPlaces() {
    guard venue.floors.contains(where: { !$0.floor.pointsOfInterest.isEmpty }) else { return }
    for (id, places) in WalkableGraph(venue).unreachablePlaces {
      for place in places.prefix(VenueCheck.mostUnreachable) {
        findings.append(.unreachablePlace(id, place: place.name))
      }
      let more = places.count - VenueCheck.mostUnreachable
      if more > 0 { findings.append(.furtherUnreachablePlaces(id, count: more)) }
    }
  }

  /// Indicates whether any floor has a way in, so that one that has none is an exception.
  private var hasWaysIn: Bool {
    !venue.connectors.isEmpty || venue.floors.contains { !$0.floor.entrances.isEmpty }
  }

  private mutating func checkPlace(
    _ thing: String,
    _ point: Point,
    _ floor: Floor,
    _ id: FloorID,
    _ space: FloorSpace
  ) {
    guard let meters = floor.distanceOutside(point, space) else { return }
    guard meters > VenueCheck.outsideTolerance else { return }
    findings.append(.outside(id, thing: thing, meters: meters))
  }

  private mutating func checkRepeats() {
    var floors: [String: FloorID] = [:]
    for (id, floor) in venue.floors {
      for (thing, _) in floor.radios {
        if let first = floors.updateValue(id, forKey: thing) {
          findings.append(.twice(thing: thing, first, id))
        }
      }
    }
  }

  private mutating func check(_ connector: Connector) {
    for stop in connector.stops {
      guard venue.floor(stop.floor) == nil else { continue }
      findings.append(.unknownFloor(connector: connector.identifier, stop.floor))
    }
    if Set(connector.stops.map(\.floor)).count < 2 {
      findings.append(.joinsNothing(connector: connector.identifier))
    }
  }
}

extension Floor {
  /// The beacons, observers and access points with how messages call them.
  fileprivate var radios: [(thing: String, point: Point)] {
    beacons.map { ("beacon \($0.beacon)", $0.point) }
      + observers.map { ("observer \($0.observer)", $0.point) }
      + accessPoints.map { ("access point \($0.bssid)", $0.point) }
  }

  /// All that is placed, with how messages call it.
  fileprivate var things: [(thing: String, point: Point)] {
    radios + entrances.map { ("entrance \"\($0.identifier)\"", $0.point) }
  }

  /// Returns the distance of a place outside of all areas, or of the plan where there are none; nil if neither is
  /// known.
  fileprivate func distanceOutside(_ point: Point, _ space: FloorSpace) -> Double? {
    if !walkable.isEmpty { return space.areas.isCovered(point) ? 0 : space.distanceToBoundary(from: point) }
    guard let plan, let pixel = pixel(of: point) else { return nil }
    let dx = max(0, -pixel.x, pixel.x - Double(plan.width))
    let dy = max(0, -pixel.y, pixel.y - Double(plan.height))
    return (dx * dx + dy * dy).squareRoot() * plan.alignment.metersPerPixel
  }
}

/// Something in a venue that is no mistake of a file and yet cannot be meant.
public enum VenueFinding: Hashable, Sendable {
  /// An anchor is left farther off than a careful hand errs; anchors are counted from 0.
  case doubtfulAnchor(FloorID, anchor: Int, residual: Double)
  /// A floor has no walkable area.
  case noWalkableArea(FloorID)
  /// One cannot walk to an area from any entrance, stairs or lift.
  case unreachable(FloorID, area: String, squareMeters: Double)
  /// Further areas that one cannot walk to, and how large they are together.
  case furtherUnreachable(FloorID, count: Int, squareMeters: Double)
  /// One cannot walk to a place from any entrance, stairs or lift.
  case unreachablePlace(FloorID, place: String)
  /// Further places that one cannot walk to.
  case furtherUnreachablePlaces(FloorID, count: Int)
  /// A thing hangs outside of all that is known of its floor, so far from it.
  case outside(FloorID, thing: String, meters: Double)
  /// One beacon, observer or access point hangs at two places.
  case twice(thing: String, FloorID, FloorID)
  /// A connector meets fewer than two floors.
  case joinsNothing(connector: String)
  /// A connector meets a floor that the venue does not have.
  case unknownFloor(connector: String, FloorID)
  /// A connector meets a floor where one cannot walk.
  case offFloor(connector: String, FloorID, meters: Double)
  /// No connector leads to a floor, and it has no entrance.
  case isolated(FloorID)
  /// No floor has an entrance.
  case noEntrance
}

extension VenueFinding: CustomStringConvertible {
  /// The subject of the finding and the remedy.
  public var description: String {
    switch self {
    case .doubtfulAnchor(let floor, let anchor, let residual):
      "floor \(floor): anchor \(anchor + 1) is \(VenueFinding.text(residual)) m off the others: look at its pixel and "
        + "its coordinate again"
    case .noWalkableArea(let floor):
      "floor \(floor): nothing says where one can walk: walls alone will guide fixes"
    case .unreachable(let floor, let area, let size):
      "floor \(floor): \(area) (\(VenueFinding.text(size)) m²) cannot be walked to: is a door, a lift or an entrance missing?"
    case .furtherUnreachable(let floor, let count, let size):
      "floor \(floor): \(count) more areas (\(VenueFinding.text(size)) m² together) cannot be walked to either"
    case .unreachablePlace(let floor, let place):
      "floor \(floor): one cannot walk to the place \"\(place)\": is a door missing, or its position wrong?"
    case .furtherUnreachablePlaces(let floor, let count):
      "floor \(floor): one cannot walk to \(count) more places either"
    case .outside(let floor, let thing, let meters):
      "floor \(floor): \(thing) hangs \(VenueFinding.text(meters)) m outside of it: are its numbers swapped, or its "
        + "floor another?"
    case .twice(let thing, let first, let second):
      "\(thing) hangs on floor \(first) and on floor \(second): one of them is wrong"
    case .joinsNothing(let connector):
      "connector \"\(connector)\" joins nothing: it needs two stops or more"
    case .unknownFloor(let connector, let floor):
      "connector \"\(connector)\" stops at floor \(floor), which the venue does not have"
    case .offFloor(let connector, let floor, let meters):
      "connector \"\(connector)\" stops \(VenueFinding.text(meters)) m from where one can walk on floor \(floor)"
    case .isolated(let floor):
      "floor \(floor): no connector leads to it and it has no entrance"
    case .noEntrance:
      "no floor has an entrance: where satellites take over is not known"
    }
  }

  /// A number with one decimal.
  private static func text(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
