package import PharosPlaces
package import PharosReports

/// Where a subject truly is at a time.
package struct IndoorTruth: Hashable, Sendable {
  /// When.
  package var time: Timestamp
  /// Who: a handset as an observer, a tag as a beacon.
  package var subject: SubjectID
  /// Where, and how it moves.
  package var place: Journey.Place
  /// The same place on the Earth; nil beyond the reach of the floor's plane.
  package var coordinate: Coordinate?

  /// Writes it as one line of JSON.
  ///
  /// Members: `time` (RFC 3339), `kind` (`place`), `subject`, `building`, `level`, `x`, `y` (m), `outdoors`, and
  /// `latitude` and `longitude` where they are known.
  package func write(to json: inout JSONText) {
    json.openObject()
    json.member("time", time.rfc3339)
    json.member("kind", "place")
    json.member("subject", subject.description)
    json.member("building", place.floor.building)
    json.member("level", place.floor.level)
    json.member("x", place.point.x, decimals: 3)
    json.member("y", place.point.y, decimals: 3)
    json.member("outdoors", place.isOutdoors)
    if let coordinate {
      json.member("latitude", coordinate.latitude, decimals: 8)
      json.member("longitude", coordinate.longitude, decimals: 8)
    }
    json.closeObject()
    json.newLine()
  }
}

/// One thing that comes out of an ``IndoorSimulation``.
package enum IndoorItem: Equatable, Sendable {
  /// What the server receives.
  case datagram(SimulatedDatagram)
  /// Where somebody truly is.
  case truth(IndoorTruth)

  /// When it is received or true.
  package var time: Timestamp {
    switch self {
    case .datagram(let datagram): datagram.received
    case .truth(let truth): truth.time
    }
  }
}
