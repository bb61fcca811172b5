package import PharosPlaces
package import PharosReports

/// One thing that somebody does on a ``Journey``.
package enum Errand: Hashable, Sendable {
  /// Walks to a place on the same floor, around what stands in the way.
  case walk(to: Point)
  /// Stands still for a time.
  case stay(TimeSpan)
  /// Walks to a stair, lift, escalator or ramp, by its identifier, and takes it to another floor.
  case take(String, to: FloorID)
  /// Walks to an entrance, by its identifier, through it, and straight on to a place outdoors.
  case leave(through: String, to: Point)
  /// Walks straight through an entrance from outdoors, to the place behind it.
  case enter(through: String)
}
