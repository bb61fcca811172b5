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
  /// What it is about, and what to do.
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
