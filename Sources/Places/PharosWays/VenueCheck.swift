public import PharosSpace

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
  /// The smallest area that is worth a finding; no way leads to smaller ones.
  ///
  /// - Units: square metres.
  static let smallestArea = WalkableMesh.smallestPiece

  /// The number of findings of one kind on a floor, above which they become one list.
  static let maximumSeparate = 5

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
    let reach = VenueReach(venue)
    for (id, floor) in venue.floors { check(floor, id, reach.floors[id]) }
    for (id, _) in venue.floors { checkPlaces(id, reach.floors[id]?.places ?? []) }
    checkRepeats()
    for connector in venue.connectors { check(connector) }
    if !venue.floors.isEmpty, venue.floors.allSatisfy({ $0.floor.entrances.isEmpty }) {
      findings.append(.noEntrance)
    }
  }

  private mutating func check(_ floor: Floor, _ id: FloorID, _ reach: VenueReach.FloorReach?) {
    if let alignment = floor.plan?.alignment {
      for anchor in alignment.doubtfulAnchors {
        findings.append(.doubtfulAnchor(id, anchor: anchor, residual: alignment.residuals[anchor]))
      }
    }
    let space = FloorSpace(floor)
    for (thing, point) in floor.things { checkPlace(thing, point, floor, id, space) }
    let stops = stops[id] ?? []
    let isIsolated = floor.entrances.isEmpty && stops.isEmpty
    if isIsolated, hasWaysIn { findings.append(.isolated(id)) }
    guard !floor.walkable.isEmpty else {
      findings.append(.noWalkableArea(id))
      return
    }
    for stop in stops where !space.areas.isCovered(stop.point) {
      guard let meters = space.distanceToBoundary(from: stop.point) else { continue }
      guard meters > VenueCheck.connectorTolerance else { continue }
      findings.append(.offFloor(connector: stop.connector, id, meters: meters))
    }
    guard let reach else { return }
    if reach.isCutOff, !isIsolated { findings.append(.cutOff(id)) }
    checkReach(floor, id, reach)
  }

  /// The areas that cannot be walked to, the largest first, each with the cause.
  private mutating func checkReach(_ floor: Floor, _ id: FloorID, _ reach: VenueReach.FloorReach) {
    let cutOff = reach.areas.filter { floor.walkable[$0].size >= VenueCheck.smallestArea }
      .sorted { (floor.walkable[$0].size, $1) > (floor.walkable[$1].size, $0) }
    guard !cutOff.isEmpty else { return }
    let reached = Set(floor.walkable.indices).subtracting(reach.areas)
    let doorways = Doorways(floor)
    var separate: [VenueFinding] = []
    var doorless: [VenueFinding.UnreachableArea] = []
    var isOpenable = false
    for index in cutOff {
      let area = floor.walkable[index]
      let name = area.name.isEmpty ? "walkable area \(index + 1)" : "\"\(area.name)\""
      let found = VenueFinding.UnreachableArea(name: name, squareMeters: area.size)
      let sides = area.sides
      let doors = floor.doors.filter { door in sides.contains { door.segment.lies(along: $0) } }
      guard doors.isEmpty else {
        if area.access == .outOfService || !doors.contains(where: \.access.isPassable) {
          separate.append(.unreachable(id, found, .impassable))
          continue
        }
        let gaps = doors.map { doorways.gap(at: $0.segment) }
        let gap = gaps.compactMap { $0 }.max()
        separate.append(.unreachable(id, found, .door(gap: gap)))
        continue
      }
      doorless.append(found)
      isOpenable =
        isOpenable
        || !venue.hasOpenRooms
          && sides.contains { !doorways.opening(along: $0, of: index, towards: reached).joined.isEmpty }
    }
    if doorless.count > VenueCheck.maximumSeparate {
      separate.append(.unreachableRooms(id, doorless, isOpenable: isOpenable))
    } else {
      separate += doorless.map { .unreachable(id, $0, .noDoor(isOpenable: isOpenable)) }
    }
    findings += separate
  }

  /// The places that cannot be walked to.
  private mutating func checkPlaces(_ id: FloorID, _ places: [PointOfInterest]) {
    guard places.count > VenueCheck.maximumSeparate else {
      findings += places.map { .unreachablePlaces(id, [$0.name]) }
      return
    }
    findings.append(.unreachablePlaces(id, places.map(\.name)))
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

extension Segment {
  /// The distance from a side of a room up to which a door is taken for one that is meant for the room.
  ///
  /// - Units: metres.
  private static let doorReach = 1.0

  /// Returns whether a door lies beside a side of a room.
  fileprivate func lies(along side: Segment) -> Bool {
    guard let forward = (side.end - side.start).direction else { return false }
    let ends = [start - side.start, end - side.start]
    let middle = forward.dot(start.interpolated(to: end, share: 0.5) - side.start)
    return ends.allSatisfy { forward.cross($0).magnitude <= Segment.doorReach } && middle > 0
      && middle < side.length
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
  /// People cannot walk to an area from the largest part of the building.
  case unreachable(FloorID, UnreachableArea, Cause)
  /// People cannot walk to rooms that have no door.
  case unreachableRooms(FloorID, [UnreachableArea], isOpenable: Bool)
  /// People cannot walk to places from the largest part of the building.
  case unreachablePlaces(FloorID, [String])
  /// No way leads from the largest part of the building to a floor, though it has an entrance or a connector.
  case cutOff(FloorID)
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

  /// An area that people cannot walk to.
  public struct UnreachableArea: Hashable, Sendable {
    /// The name in quotes, or a number.
    public let name: String
    /// The size.
    public let squareMeters: Double
  }

  /// The reason why people cannot walk to an area.
  public enum Cause: Hashable, Sendable {
    /// It has no door; where it touches an area that people can walk to, rooms without doors could be open.
    case noDoor(isOpenable: Bool)
    /// It has a door; the outlines there lie so far apart, or there is no other area within some metres.
    case door(gap: Double?)
    /// All of its doors are emergency exits or out of service.
    case impassable
  }
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
    case .unreachable(let floor, let area, let cause):
      "floor \(floor): \(VenueFinding.text(area)) cannot be walked to: \(VenueFinding.text(cause))"
    case .unreachableRooms(let floor, let rooms, let isOpenable):
      "floor \(floor): \(rooms.count) areas without a door cannot be walked to: "
        + rooms.map(VenueFinding.text).joined(separator: ", ")
        + (isOpenable ? ". Draw their doors. \(VenueFinding.remedy)" : ". Draw their doors.")
    case .unreachablePlaces(let floor, let places) where places.count == 1:
      "floor \(floor): one cannot walk to the place \"\(places[0])\": is a door missing, or its position wrong?"
    case .unreachablePlaces(let floor, let places):
      "floor \(floor): one cannot walk to \(places.count) places: \"\(places.joined(separator: "\", \""))\""
    case .cutOff(let floor):
      "floor \(floor): no way leads to it from the largest part of the building: is a door of its stairs or lift missing?"
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

  private static func text(_ area: UnreachableArea) -> String {
    "\(area.name) (\(text(area.squareMeters)) m²)"
  }

  private static func text(_ cause: Cause) -> String {
    switch cause {
    case .noDoor(let isOpenable):
      "is a door, a lift or an entrance missing?" + (isOpenable ? " \(remedy)" : "")
    case .door(let gap?) where gap > Doorways.wallThickness:
      "the outlines at its door lie \((gap * 1_000).rounded() / 1_000) m apart, and a door joins areas up to "
        + "\(Doorways.wallThickness) m apart"
    case .door(let gap?):
      "the area behind its door is cut off as well (the outlines there lie \((gap * 1_000).rounded() / 1_000) m apart)"
    case .door(nil): "no area lies behind its door"
    case .impassable:
      "its doors are emergency exits or out of service (category and access_control in opening.geojson)"
    }
  }

  /// The remedy for maps without doors.
  private static let remedy =
    "If the map has no doors, \"roomsWithoutDoors: open\" in venue.yaml opens such rooms towards the corridors that they touch."

  /// A number with one decimal.
  private static func text(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
