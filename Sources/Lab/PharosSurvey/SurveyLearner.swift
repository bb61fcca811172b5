package import PharosFixes
package import PharosModel
package import PharosSpace

/// Learns a radio map from walks through a venue.
///
/// Walks are added one by one, in any order of floors. Of each walk only the readings and their places are kept. Then
/// ``learned()`` determines which emitters stay where they are, and fits the levels of each on every floor where it
/// was heard.
///
/// The same walks in the same order give the same map to the last bit.
package struct SurveyLearner: Sendable {
  private let venue: Venue
  private let rules: SurveyRules
  private var floors: [FloorSurvey] = []
  private var floorNumbers: [FloorID: Int] = [:]
  /// The directions of the walks on each floor.
  private var orientations: [PlanOrientation] = []
  private var emitters: [Emitter: EmitterReadings] = [:]
  /// Identities of which a walk heard several addresses in turns, which shows that several beacons share them.
  private var sharedIdentities: Set<BeaconID> = []
  private var report = SurveyReport()
  private var walkCount: Int32 = 0

  /// Starts with no walk.
  ///
  /// - Parameters:
  ///   - venue: the venue, whose floors of unknown extent are left out.
  ///   - rules: the constants.
  package init(venue: Venue, rules: SurveyRules = SurveyRules()) {
    self.venue = venue
    self.rules = rules
    for (id, floor) in venue.floors {
      guard let survey = FloorSurvey(id, floor, cells: rules.fineCell...rules.cell) else { continue }
      floorNumbers[id] = floors.count
      floors.append(survey)
      orientations.append(PlanOrientation())
    }
  }

  /// The longest walk.
  ///
  /// A surveyor's battery lasts less.
  static let maximumWalk = TimeSpan.minutes(24 * 60)
  /// The maximum distance of a waypoint from the origin of a floor's plane, along each axis.
  ///
  /// - Units: metres.
  static let farthest = 100_000.0

  /// Returns whether a walk's waypoints lie within the limits of time and distance.
  private static func isSensible(_ walk: SurveyWalk) -> Bool {
    guard let first = walk.waypoints.map(\.time).min(), let last = walk.waypoints.map(\.time).max(),
      last - first <= maximumWalk
    else { return false }
    return walk.waypoints.allSatisfy { $0.point.x.magnitude <= farthest && $0.point.y.magnitude <= farthest }
  }

  /// Adds a walk.
  ///
  /// A walk on a floor that the venue does not have, or without places, is recorded in the report and left out.
  package mutating func add(_ walk: SurveyWalk) {
    guard let floor = floorNumbers[walk.floor] else {
      report.unmatchedWalks.append(walk.name)
      return
    }
    guard SurveyLearner.isSensible(walk) else {
      report.placelessWalks.append(walk.name)
      return
    }
    let steps = walk.steps
    let path = WalkedPath(waypoints: walk.waypoints, steps: steps)
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
    orientations[floor].add(waypoints: walk.waypoints, steps: steps)
    recordAccessPoints(of: walk, along: path, floor: floor, number: number)
    recordBeacons(of: walk, along: path, floor: floor, number: number)
    floors[floor].add(
      path,
      walk: number,
      scanTimes: Set(walk.accessPoints.map(\.time)).sorted(),
      hearsBeacons: !walk.beacons.isEmpty
    )
  }

  private mutating func recordAccessPoints(
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
      let isPlaced = record(
        Emitter.accessPoint(entry.bssid).plain,
        entry.rssi,
        frequency: entry.frequency,
        at: path.position(at: entry.heard + rules.accessPointDelay),
        floor: floor,
        number: number
      )
      if isPlaced { floors[floor].accessPointReadings += 1 }
    }
  }

  private mutating func recordBeacons(
    of walk: SurveyWalk,
    along path: WalkedPath,
    floor: Int,
    number: Int32
  ) {
    recordShared(of: walk)
    for entry in walk.beacons {
      let beacon = entry.address.map { entry.beacon.keyed(by: $0) } ?? entry.beacon
      let isPlaced = record(
        .beacon(beacon),
        entry.rssi,
        at: path.position(at: entry.time + rules.beaconDelay),
        floor: floor,
        number: number
      )
      if isPlaced { floors[floor].beaconReadings += 1 }
    }
  }

  /// Records a level of an emitter, and returns whether its place is known.
  private mutating func record(
    _ emitter: Emitter,
    _ rssi: RSSI,
    frequency: UInt16 = 0,
    at point: Point?,
    floor: Int,
    number: Int32
  ) -> Bool {
    guard let point else {
      report.placelessReadings += 1
      return false
    }
    let reading = EmitterReadings.Reading(
      x: Float(point.x),
      y: Float(point.y),
      level: Float(rssi.dBm),
      floor: Int32(floor),
      walk: number
    )
    emitters[emitter, default: EmitterReadings()].add(reading, frequency: frequency)
    return true
  }

  /// Finds the identities of which an address comes back after another: one beacon that changes its address never returns to an
  /// old one.
  private mutating func recordShared(of walk: SurveyWalk) {
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

  /// Learns the map from the walks, and reports their coverage.
  package func learned() -> (map: RadioMap, report: SurveyReport) {
    var report = report
    var floors = floors
    var draft = RadioMapDraft(
      floors: floors.map(\.id),
      grids: floors.map(\.grid),
      walked: floors.map(\.passes)
    )
    draft.turns = zip(orientations, floors).compactMap { $0.turn($1.id) }
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

/// The constants of learning a radio map from walks.
package struct SurveyRules: Hashable, Sendable {
  /// The side of the map's cells on a large floor.
  ///
  /// - Units: metres. Levels indoors change over some 7 m; between cells of 3 m straight lines are off by less than 1 dB.
  package var cell: Float = 3
  /// The side of the map's cells on a small floor, where more of them cost little.
  ///
  /// - Units: metres. On three floors of 88 by 42 m, walks with a scan every six seconds and no motion are placed 4 to
  ///   6 % better than with 3 m.
  package var fineCell: Float = 2
  /// The side of the squares whose readings are pooled before fitting.
  ///
  /// - Units: metres. A surveyor passes through in two seconds, the time of one scan.
  package var pool: Float = 2
  /// The distance to which the map has levels of an emitter beyond the places where it was heard.
  ///
  /// - Units: metres.
  package var margin: Float = 18
  /// The deviation of an emitter's levels from path loss: one standard deviation of the shadows of walls and shelves.
  ///
  /// - Units: dB.
  package var shadow: Float = 7
  /// The distance over which shadows change.
  ///
  /// - Units: metres.
  package var shadowLength: Float = 6
  /// The scatter of a single reading at one place.
  ///
  /// - Units: dB. People, hands, channels and the slow fading that a pool's mean does not level out.
  package var readingNoise: Float = 5
  /// The error of a pool's mean, however many readings it has: they share an afternoon, a hand and a direction.
  ///
  /// - Units: dB.
  package var poolNoise: Float = 2.5
  /// The level that stands for "passed and not heard".
  ///
  /// - Units: dBm. Handsets report down to −95 or so, and miss more and more below −85.
  package var silentLevel: Float = -93
  /// The deviation from that level at a place where the emitter was not heard: scans miss emitters of any level.
  ///
  /// - Units: dB.
  package var silentNoise: Float = 14
  /// The usual loss per tenfold distance.
  ///
  /// - Units: dB. Halls and corridors guide radio: with 15, levels away from the walks were predicted 1 dB better than
  ///   with 30.
  package var usualSlope: Float = 15
  /// One standard deviation of the loss per tenfold distance.
  ///
  /// - Units: dB.
  package var slopeDeviation: Float = 5
  /// Indicates whether levels are carried to the unsurveyed parts of the floors above and below.
  package var carriesFloors = true
  /// The amount by which a level is lowered that is carried from the next floor.
  ///
  /// - Units: dB. On held-back walks, 20 to 80 m from the others, the error of single looks is 25.1 m with 0 dB, 26.6 m
  ///   with 10 dB, and 29.6 m without carrying. With 10 dB the floor of a single look is right more often (94 % against
  ///   91 %), but the floor of walks that are followed as a whole is right less often.
  package var floorLoss: Float = 0
  /// The deviation of an emitter's level from the level that the next floor's level at the same place predicts.
  ///
  /// - Units: dB. 9 dB for faint and 13 dB for loud emitters on the surveyed malls.
  package var floorDeviation: Float = 12
  /// The time after an access point's last-heard time at which the handset reached the place that the level belongs
  /// to.
  ///
  /// Handsets timestamp readings with the beginning of their scan and smooth them, and surveyors tap a waypoint a
  /// moment after they passed it. On the surveyed malls held-back levels fit best with 2 s, and worse with 0 s and 3
  /// s.
  package var accessPointDelay = TimeSpan.milliseconds(2_000)
  /// The time after a beacon's timestamp at which the handset reached the place that the level belongs to.
  ///
  /// Found as ``accessPointDelay`` was.
  package var beaconDelay = TimeSpan.milliseconds(1_500)
  /// The fewest readings with which an emitter is kept.
  package var minimumReadings = 5
  /// The most pools for one emitter on one floor; where there are more, pools are made larger.
  package var maximumPools = 192
  /// The most emitters of a map.
  package var maximumEmitters = 100_000

  /// Creates the rules that were found on surveyed malls.
  package init() {}
}
