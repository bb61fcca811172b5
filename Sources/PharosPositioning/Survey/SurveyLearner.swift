package import PharosPlaces
import PharosReports

/// Learns a radio map from walks through a venue.
///
/// Walks are taken in one by one, in any order of floors; of each only the readings and their places are kept. Then
/// ``learned()`` finds out which emitters stay where they are and fits the levels of each on every floor where it was heard.
///
/// The same walks in the same order give the same map to the last bit.
package struct SurveyLearner: Sendable {
  private let venue: Venue
  private let rules: SurveyRules
  private var floors: [FloorSurvey] = []
  private var floorNumbers: [FloorID: Int] = [:]
  private var emitters: [Emitter: EmitterReadings] = [:]
  /// Identities of which a walk heard several addresses in turns: there are as many beacons.
  private var sharedIdentities: Set<BeaconID> = []
  private var report = SurveyReport()
  private var walkCount: Int32 = 0

  /// Starts with no walk.
  ///
  /// - Parameters:
  ///   - venue: the floors; those whose size nothing tells are left out.
  ///   - rules: the constants.
  package init(venue: Venue, rules: SurveyRules = SurveyRules()) {
    self.venue = venue
    self.rules = rules
    for (id, floor) in venue.floors {
      guard let survey = FloorSurvey(id, floor, cell: rules.cell) else { continue }
      floorNumbers[id] = floors.count
      floors.append(survey)
    }
  }

  /// The longest walk.
  ///
  /// A surveyor's battery lasts less.
  static let longestWalk = TimeSpan.minutes(24 * 60)
  /// How far from the origin of a floor's plane a waypoint may lie.
  ///
  /// - Units: metres.
  static let farthest = 100_000.0

  /// Whether a walk's waypoints can be those of a walk.
  private static func isSensible(_ walk: SurveyWalk) -> Bool {
    guard let first = walk.waypoints.map(\.time).min(), let last = walk.waypoints.map(\.time).max(),
      last - first <= longestWalk
    else { return false }
    return walk.waypoints.allSatisfy { $0.point.x.magnitude <= farthest && $0.point.y.magnitude <= farthest }
  }

  /// Takes a walk in; one on a floor that the venue does not have, or without places, is noted and left out.
  package mutating func add(_ walk: SurveyWalk) {
    guard let floor = floorNumbers[walk.floor] else {
      report.strangeWalks.append(walk.name)
      return
    }
    guard SurveyLearner.isSensible(walk) else {
      report.placelessWalks.append(walk.name)
      return
    }
    let path = WalkedPath(waypoints: walk.waypoints, steps: walk.steps)
    guard path.span != nil else {
      report.placelessWalks.append(walk.name)
      return
    }
    let number = walkCount
    walkCount += 1
    report.walks += 1
    report.meters += path.length
    report.pacedStretches += path.pacedStretches
    report.evenStretches += path.evenStretches
    takeAccessPoints(of: walk, along: path, floor: floor, number: number)
    takeBeacons(of: walk, along: path, floor: floor, number: number)
    floors[floor].add(
      path,
      walk: number,
      scanTimes: Set(walk.accessPoints.map(\.time)).sorted(),
      hearsBeacons: !walk.beacons.isEmpty
    )
  }

  private mutating func takeAccessPoints(
    of walk: SurveyWalk,
    along path: WalkedPath,
    floor: Int,
    number: Int32
  ) {
    struct Moment: Hashable {
      var bits: UInt64
      var heard: Timestamp
    }
    var seen: Set<Moment> = []
    for entry in walk.accessPoints.sorted(by: { $0.time < $1.time }) {
      guard seen.insert(Moment(bits: entry.bssid.bits, heard: entry.heard)).inserted else {
        report.repeatedReadings += 1
        continue
      }
      guard let point = path.position(at: entry.heard + rules.accessPointDelay) else {
        report.placelessReadings += 1
        continue
      }
      floors[floor].accessPointReadings += 1
      let reading = EmitterReadings.Reading(
        x: Float(point.x),
        y: Float(point.y),
        level: Float(entry.rssi.dBm),
        floor: Int32(floor),
        walk: number
      )
      emitters[Emitter.accessPoint(entry.bssid).plain, default: EmitterReadings()]
        .add(reading, frequency: entry.frequency)
    }
  }

  private mutating func takeBeacons(
    of walk: SurveyWalk,
    along path: WalkedPath,
    floor: Int,
    number: Int32
  ) {
    noteShared(of: walk)
    for entry in walk.beacons {
      guard let point = path.position(at: entry.time + rules.beaconDelay) else {
        report.placelessReadings += 1
        continue
      }
      floors[floor].beaconReadings += 1
      let reading = EmitterReadings.Reading(
        x: Float(point.x),
        y: Float(point.y),
        level: Float(entry.rssi.dBm),
        floor: Int32(floor),
        walk: number
      )
      let beacon = entry.address.map { entry.beacon.keyed(by: $0) } ?? entry.beacon
      emitters[.beacon(beacon), default: EmitterReadings()].add(reading)
    }
  }

  /// Finds the identities of which an address comes back after another: one beacon that changes its address never returns to an
  /// old one.
  private mutating func noteShared(of walk: SurveyWalk) {
    var heard: [BeaconID: [UInt64]] = [:]
    for entry in walk.beacons.sorted(by: { $0.time < $1.time }) {
      guard let address = entry.address?.bits else { continue }
      let identity = entry.beacon.unkeyed
      let before = heard[identity] ?? []
      guard before.last != address else { continue }
      if before.contains(address) { sharedIdentities.insert(identity) }
      heard[identity] = before.filter { $0 != address } + [address]
    }
  }

  /// The map that the walks give, and what they covered.
  package func learned() -> (map: RadioMap, report: SurveyReport) {
    var report = report
    var floors = floors
    var draft = RadioMapDraft(
      floors: floors.map(\.id),
      grids: floors.map(\.grid),
      walked: floors.map(\.passes)
    )
    for number in floors.indices { floors[number].findFarCells() }
    let census = EmitterCensus(emitters, shared: sharedIdentities, floors: floors, rules: rules)
    report.leftOut = census.leftOut
    let neighbours = FloorNeighbours(floors, emitters: census.kept.map(\.readings))
    let carrying = FloorCarrying(floors: floors, neighbours: neighbours, rules: rules)
    for (emitter, readings) in census.kept {
      guard let entry = EmitterFit(emitter, readings, carrying: carrying, rules: rules).entry else {
        report.leftOut[.tooFew, default: 0] += 1
        continue
      }
      draft.entries.append(entry)
    }
    let map = draft.map()
    report.count(map, floors)
    return (map, report)
  }
}
