package import PharosModel
import PharosSpace

/// What keeps back the fixes that a subscriber does not want: Core Location's `distanceFilter` and `desiredAccuracy`.
///
/// The filter knows no clock: fixes come in order.
package struct LocationFilter: Sendable {
  /// The distance from the last fix that was passed on within which none is, in metres, or nil for no such limit.
  private let distance: Double?
  /// The accuracy that is desired, in metres, or nil for the best that there is.
  private let accuracy: Double?
  /// The last fix that was passed on.
  private var last: VisitFix?

  /// The time after a fix for which a vaguer one than is desired waits for a better one.
  ///
  /// 10 s: as long as Core Location's `requestLocation` waits.
  package static let patience = TimeSpan.seconds(10)

  /// Creates a filter that has passed nothing on yet; a distance or an accuracy that is not above 0 is no limit.
  package init(distance: Double? = nil, accuracy: Double? = nil) {
    self.distance = distance.flatMap { $0 > 0 ? $0 : nil }
    self.accuracy = accuracy.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Returns whether a fix is passed on; the first one always is.
  ///
  /// One on another floor, or in or out of doors, is far away, whatever its distance.
  package mutating func passes(_ fix: VisitFix) -> Bool {
    guard let last else {
      self.last = fix
      return true
    }
    if let accuracy, fix.accuracy > accuracy, fix.time - last.time < Self.patience { return false }
    if let distance, fix.ground == last.ground, fix.distance(to: last) ?? .infinity < distance {
      return false
    }
    self.last = fix
    return true
  }

  /// Records a fix that is passed on for another reason.
  package mutating func record(_ fix: VisitFix) { last = fix }
}

extension VisitFix {
  /// The distance from another fix in metres: on the plane of a floor that both are on, else on the Earth; nil where it is not
  /// known.
  func distance(to other: VisitFix) -> Double? {
    if ground == other.ground, ground.floor != nil { return point.distance(to: other.point) }
    return coordinate.flatMap { here in other.coordinate.map { here.distance(to: $0) } }
  }
}
