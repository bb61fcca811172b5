import PharosReports

extension RoomDrill {
  /// A house of 6 × 4 m with four rooms of 3 × 2 m and an observer in the outer corner of each; tags lie still.
  package static let house = RoomDrill(
    name: "house, still",
    rooms: houseRooms,
    observers: houseObservers
  )

  /// The same house; tags are carried to a neighbouring room every minute or two.
  package static let carried = RoomDrill(
    name: "house, carried",
    rooms: houseRooms,
    observers: houseObservers,
    rest: .seconds(40)...(.seconds(120))
  )

  /// The same house; what scatters the levels of still tags changes slowly: people, doors and hands.
  package static let restless = RoomDrill(
    name: "house, still, slow noise",
    rooms: houseRooms,
    observers: houseObservers,
    noise: Drill.Noise(slow: 2.5, time: .seconds(20), fast: 2.5)
  )

  /// Three floors of two rooms of 8 × 6 m with an observer in the middle of each; tags lie still.
  ///
  /// One observer of the highest floor hears everything 12 dB louder than the others do.
  package static let building = RoomDrill(
    name: "three floors, still",
    rooms: buildingRooms,
    observers: buildingObservers
  )

  /// The same building; tags are carried to the next room, also up and down the stairs.
  package static let stairs = RoomDrill(
    name: "three floors, carried",
    rooms: buildingRooms,
    observers: buildingObservers,
    rest: .seconds(60)...(.seconds(240))
  )

  /// All of them.
  package static let all = [house, restless, carried, building, stairs]

  private static let houseRooms = [
    Room(name: "kitchen", x: 0...3, y: 0...2, neighbours: [1, 2]),
    Room(name: "bath", x: 3...6, y: 0...2, neighbours: [0, 3]),
    Room(name: "living", x: 0...3, y: 2...4, neighbours: [0, 3]),
    Room(name: "bedroom", x: 3...6, y: 2...4, neighbours: [1, 2]),
  ]

  private static let houseObservers = [
    Station(room: 0, x: 0.2, y: 0.2), Station(room: 1, x: 5.8, y: 0.2), Station(room: 2, x: 0.2, y: 3.8),
    Station(room: 3, x: 5.8, y: 3.8),
  ]

  private static let buildingRooms = (0..<3).flatMap { floor in
    let base = 2 * floor
    let stairs = [base - 2, base + 2].filter { (0..<6).contains($0) }
    return [
      Room(name: "west \(floor)", floor: floor, x: 0...8, y: 0...6, neighbours: [base + 1] + stairs),
      Room(name: "east \(floor)", floor: floor, x: 8...16, y: 0...6, neighbours: [base]),
    ]
  }

  private static let buildingObservers = (0..<6).map { room in
    Station(room: room, x: room % 2 == 0 ? 4 : 12, y: 3, gain: room == 4 ? 12 : 0)
  }
}
