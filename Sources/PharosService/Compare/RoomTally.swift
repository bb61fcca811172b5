import PharosReports

/// How one rule of rooms did, over all beacons.
struct RoomTally {
  /// What it is called.
  let name: String
  /// How often a beacon was said to be in another room than before.
  private(set) var changes = 0
  /// How many of them led back, within a minute, to the room before.
  private(set) var returns = 0

  private struct Place {
    var room: Int32?
    var before: Int32?
    var since = Timestamp.distantPast
  }

  private var places: [Place] = []

  init(name: String) { self.name = name }

  /// Records the room that the rule assigns to a beacon from `time` on.
  ///
  /// A room of nil means no room. It does not count as a change of room.
  mutating func note(_ room: Int32?, of beacon: Int, at time: Timestamp) {
    while places.count <= beacon { places.append(Place()) }
    guard let room, room != places[beacon].room else { return }
    if let last = places[beacon].room {
      changes += 1
      if places[beacon].before == room, time - places[beacon].since <= PresenceTally.minute { returns += 1 }
      places[beacon].before = last
    }
    places[beacon].room = room
    places[beacon].since = time
  }
}
