/// The people that a door, an area or a connector is meant for, from everyone to none.
///
/// Ways lead through what is meant for everyone. Only where there is no such way do they use what is meant for fewer, and
/// their instructions say so. They never use an emergency exit, nor anything out of service.
public enum Access: String, CaseIterable, Hashable, Comparable, Sendable {
  /// Everyone.
  case everyone
  /// People with a key, a pass or a ticket.
  case restricted
  /// Staff.
  case staff
  /// Vehicles.
  case vehicles
  /// Everyone, in an emergency.
  case emergencies = "emergency"
  /// Out of service.
  case outOfService

  /// Indicates whether a way may use it where there is no other.
  package var isPassable: Bool { self < .emergencies }

  /// The place in the order of the cases.
  package var rank: Int { Access.allCases.firstIndex(of: self) ?? 0 }

  /// Orders from everyone to none.
  public static func < (left: Access, right: Access) -> Bool { left.rank < right.rank }

  /// The words of IMDF.
  ///
  /// - Source: OGC 20-094, categories of restrictions, access control, openings and units.
  private static let words: [String: Access] = [
    // Restrictions.
    "restricted": .restricted, "employeesonly": .staff,
    // Access control.
    "badgereader": .restricted, "fingerprintreader": .restricted, "guard": .restricted,
    "keyaccess": .restricted, "passwordaccess": .restricted, "retinascanner": .restricted,
    "voicerecognition": .restricted, "outofservice": .outOfService,
    // Openings.
    "service": .staff, "automobile": .vehicles, "bicycle": .vehicles, "emergencyexit": .emergencies,
    // Units.
    "nonpublic": .staff, "kitchen": .staff, "mailroom": .staff, "serverroom": .staff, "storage": .staff,
    "privatelounge": .restricted,
  ]

  /// The access that a category, a restriction or a kind of access control states; nil for one that states none.
  init?(imdf word: String) {
    guard let access = Access.words[word.lowercased()] else { return nil }
    self = access
  }
}
