public import PharosPlaces
import PharosReports

/// A venue made ready for locating: its floors, the ways between them, and its radio map.
///
/// Made once, in some 10 ms a floor, and shared by all subjects; a copy costs a pointer.
public struct Ground: Sendable {
  /// What all copies share.
  package final class Content: Sendable {
    let venue: Venue
    let radio: RadioMap
    let rules: FusionRules
    package let floors: [GroundFloor]
    let levels: LevelTable
    /// What scans say by what they do not list.
    package let unlisted: UnlistedField
    /// For each floor of the radio map the floor of the ground; nil where the venue does not have it.
    let floorOfRadio: [Int?]
    let hasConnectors: Bool
    /// For each floor and each cell of its radio grid the logarithm of how probable it is to be there at first.
    let priors: [[Float]]
    /// For each floor of the radio map how far each cell is from the nearest surveyed one, in metres; empty without a survey.
    private let remotenesses: [[Float]]
    /// For each floor the next ones up and down in the same building, and how their planes lie on each other.
    let neighbours: [[(floor: Int, change: PlaneChange)]]

    init(venue: Venue, radio: RadioMap, rules: FusionRules) {
      self.venue = venue
      self.radio = radio
      self.rules = rules
      levels = LevelTable(freedom: rules.tailFreedom)
      unlisted = UnlistedField(radio, rules)
      remotenesses = radio.walked.indices.map { radio.grids[$0].distances(from: radio.walked[$0]) }
      let all = venue.floors
      floorOfRadio = radio.floors.map { id in all.firstIndex { $0.id == id } }
      let exits = Ground.exits(of: venue)
      floors = all.enumerated().map { number, entry in
        GroundFloor(
          entry.floor,
          id: entry.id,
          exits: exits[number],
          reach: Double(rules.connectorReach),
          radio: radio.floors.firstIndex(of: entry.id)
        )
      }
      priors = floors.map { $0.priors(radio, rules) }
      hasConnectors = exits.contains { !$0.isEmpty }
      neighbours = all.indices.map { Ground.neighbours(of: $0, in: all.map { ($0.id, $0.floor.plane) }) }
    }

    /// The number of an emitter in the radio map; asked here, since to hand out the map costs more than the answer.
    func emitter(_ emitter: Emitter) -> Int32? { radio.emitter(emitter) }

    /// The number of a beacon that was heard with an address.
    func emitter(ofBeacon beacon: BeaconID, address: DeviceAddress?) -> Int32? {
      radio.emitter(ofBeacon: beacon, address: address)
    }

    /// How far a place is from the nearest surveyed one, in metres; 0 where there was no survey.
    func remoteness(of point: Point, floor: Int) -> Float {
      guard !remotenesses.isEmpty else { return 0 }
      return radio.grids[floor].index(of: point).map { remotenesses[floor][$0] } ?? .infinity
    }
  }

  package let content: Content

  /// Prepares a venue.
  ///
  /// - Parameters:
  ///   - venue: the venue.
  ///   - radio: the radio map that a survey of it gave; nil to derive one from the places of the venue's radios.
  public init(venue: Venue, radio: RadioMap? = nil) { self.init(venue: venue, radio: radio, rules: FusionRules()) }

  /// Prepares a venue for locating with constants other than the usual ones.
  package init(venue: Venue, radio: RadioMap? = nil, rules: FusionRules) {
    content = Content(venue: venue, radio: radio ?? RadioMap(placed: venue), rules: rules)
  }

  /// The venue.
  public var venue: Venue { content.venue }
  /// Its radio map.
  public var radio: RadioMap { content.radio }
  /// The constants.
  package var rules: FusionRules { content.rules }

  /// For each floor the ways that lead from it to others.
  private static func exits(of venue: Venue) -> [[GroundFloor.Exit]] {
    let ids = venue.floors.map(\.id)
    var found = [[GroundFloor.Exit]](repeating: [], count: ids.count)
    for connector in venue.connectors {
      for start in connector.stops {
        guard let from = ids.firstIndex(of: start.floor) else { continue }
        for end in connector.stops where end.floor != start.floor {
          guard let to = ids.firstIndex(of: end.floor) else { continue }
          let rise = end.floor.level - start.floor.level
          found[from].append(
            GroundFloor.Exit(point: start.point, floor: to, arrival: end.point, rise: rise)
          )
        }
      }
    }
    return found
  }

  private static func neighbours(
    of number: Int,
    in floors: [(id: FloorID, plane: FloorPlane)]
  ) -> [(floor: Int, change: PlaneChange)] {
    floors.indices.compactMap { other in
      let isNext =
        floors[other].id.building == floors[number].id.building
        && abs(floors[other].id.level - floors[number].id.level) == 1
      guard isNext else { return nil }
      return PlaneChange(from: floors[number].plane, to: floors[other].plane).map { (other, $0) }
    }
  }
}
