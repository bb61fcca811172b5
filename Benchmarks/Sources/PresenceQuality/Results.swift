/// All that came of a run, by scene.
struct Results: Codable, Sendable {
  /// A scene of presence and what came of it.
  struct Presence: Codable, Sendable {
    var name: String
    var result: PresenceResult
  }

  /// A scene of rooms and what came of it.
  struct Rooms: Codable, Sendable {
    var name: String
    var result: RoomResult
  }

  /// In the catalog's order.
  var tags: [Presence] = []
  var groups: [Presence] = []
  var outages: [Presence] = []
  var rooms: [Rooms] = []
}
