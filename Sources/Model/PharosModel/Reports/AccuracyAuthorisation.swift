public import PharosDocuments

/// How finely an application may learn where subjects are: Core Location's `CLAccuracyAuthorization`, with a choice of
/// what is left of a reduced location.
///
/// The cases are ordered from the coarsest to the finest.
public enum AccuracyAuthorisation: String, CaseIterable, Hashable, Sendable {
  /// The venue alone.
  case venue
  /// The venue and the building.
  case building
  /// The venue, the building and the floor.
  case floor
  /// The venue, the building, the floor, and the zone, room or hall.
  case zone
  /// Everything that is known.
  case full

  /// Indicates whether a location is reduced: its coordinates are left out.
  public var isReduced: Bool { self < .full }
}

extension AccuracyAuthorisation: Comparable {
  /// Orders by fineness.
  public static func < (left: Self, right: Self) -> Bool { left.code < right.code }
}

extension AccuracyAuthorisation: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "an accuracy" }
}

/// The accuracy that an application has, and the purposes for which it may ask for full accuracy for a time.
package struct AccuracyPolicy: Hashable, Sendable {
  /// The accuracy.
  package var accuracy: AccuracyAuthorisation
  /// The purposes of temporary full accuracy, by the keys that requests name: texts for people, as those of
  /// `NSLocationTemporaryUsageDescriptionDictionary` in an app's `Info.plist`.
  package var purposes: [String: String]

  /// The maximum number of purposes of an application.
  package static let maximumPurposes = 32

  /// Creates a policy; without arguments, that of an application that says nothing of accuracy.
  package init(_ accuracy: AccuracyAuthorisation = .full, purposes: [String: String] = [:]) {
    self.accuracy = accuracy
    self.purposes = purposes
  }
}

extension AccuracyPolicy: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    AccuracyPolicy(
      try coder.field(value().accuracy),
      purposes: try coder.field(value().purposes)
    )
  }
}
