import PharosFixes
import PharosModel
import PharosSimulation
import PharosSpace
import PharosSurvey
import PharosWays
import PharosWire
import Synchronization

/// The simulated mall, with its radio map as a survey gives it or as its plan alone does.
struct ScenarioHouse {
  /// How it is known where what is heard how loud.
  enum Knowledge: String, CaseIterable {
    /// A surveyor walked through it with a handset and marked places on the plan.
    case surveyed
    /// Only the places of beacons, access points and observers are known.
    case placed
  }

  let venue: Venue
  let planner: JourneyPlanner
  let seed: UInt64

  init(hasAccessPoints: Bool = true, hasBeacons: Bool = true, hasObservers: Bool = false, seed: UInt64 = 1) {
    venue = SimulatedMall.venue(
      hasAccessPoints: hasAccessPoints,
      hasBeacons: hasBeacons,
      hasObservers: hasObservers
    )
    planner = JourneyPlanner(venue: venue, storey: SimulatedMall.storey)
    self.seed = seed
  }

  /// The venue made ready.
  func ground(_ knowledge: Knowledge, rules: FusionRules = FusionRules()) throws -> LocatableVenue {
    switch knowledge {
    case .placed: LocatableVenue(venue: venue, rules: rules)
    case .surveyed: LocatableVenue(venue: venue, radio: try SurveyedMaps.map(of: self), rules: rules)
    }
  }

  /// The map that two walks over each floor give.
  fileprivate func survey() throws -> RadioMap {
    var learner = SurveyLearner(venue: venue)
    for level in 0...2 {
      for walk in 0..<2 { learner.add(try surveyWalk(level: level, number: walk)) }
    }
    return learner.learned().map
  }

  /// A walk of a surveyor over a floor.
  func surveyWalk(level: Int, number: Int) throws -> SurveyWalk {
    let journey = try planner.survey(
      seed: seed &* 1_000 &+ UInt64(level * 10 + number),
      of: SimulatedMall.floor(level),
      legs: 14
    )
    let name = "survey \(level) \(number)"
    let scene = IndoorScene(
      name: "survey",
      duration: journey.duration,
      venue: venue,
      storey: SimulatedMall.storey,
      handsets: [Handset(id: .name(name), journey: journey, hasBarometer: false)]
    )
    var walk = SurveyWalk(
      name: name,
      floor: SimulatedMall.floor(level),
      waypoints: journey.waypoints.map { SurveyWalk.Waypoint(time: scene.start + $0.time, point: $0.place) }
    )
    for item in try IndoorSimulation(scene, seed: seed) {
      if case .datagram(let datagram) = item { walk.receive(datagram.reports) }
    }
    return walk
  }
}

/// The maps that were surveyed so far: a survey takes longer than what is tried with it.
private enum SurveyedMaps {
  private static let maps = Mutex<[UInt64: RadioMap]>([:])

  /// The map of the usual house of a seed.
  static func map(of house: ScenarioHouse) throws -> RadioMap {
    try maps.withLock { maps in
      if let map = maps[house.seed] { return map }
      let map = try house.survey()
      maps[house.seed] = map
      return map
    }
  }
}

extension SurveyWalk {
  /// Takes the reports of a handset.
  fileprivate mutating func receive(_ batch: ReportBatch) {
    for report in batch.reports {
      guard case .age(let age) = report.timing else { continue }
      let time = report.received - age
      switch report.body {
      case .wifiScan(let range):
        for point in batch.accessPoints[Int(range.lowerBound)..<Int(range.upperBound)] {
          guard let rssi = point.rssi else { continue }
          accessPoints.append(
            AccessPointReading(
              time: time,
              heard: time - point.lastHeard,
              bssid: point.bssid,
              rssi: rssi,
              frequency: point.frequency
            )
          )
        }
      case .motion(let range):
        for sample in batch.motionSamples[Int(range.lowerBound)..<Int(range.upperBound)] {
          motion.append(MotionReading(time: time - sample.age, sample: sample))
        }
      case .advert(let advert):
        guard let rssi = advert.rssi else { continue }
        let bytes = Array(batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)])
        guard let beacon = FrameDecoder().frames(in: bytes.span.bytes).first?.beacon else { continue }
        beacons.append(BeaconReading(time: time, beacon: beacon, address: advert.address, rssi: rssi))
      default: break
      }
    }
  }
}
