import Foundation
import PharosModel
import PharosSimulation

/// What a handset's platform lets through.
enum ScenarioThinning: String, CaseIterable, Sendable {
  /// A scan every two seconds, and every advert.
  case everything = "a scan every 2 s"
  /// A scan every 30 seconds, as throttled handsets give them; every advert.
  case throttled = "a scan every 30 s"
  /// No scan at all: beacons only.
  case beaconsOnly = "beacons only"
  /// Scans every two seconds and no beacon.
  case wiFiOnly = "Wi-Fi only"

  /// Puts it upon a handset.
  func thin(_ handset: inout Handset) {
    switch self {
    case .everything: break
    case .throttled: handset.wiFi = Handset.WiFiScans(period: .seconds(30), hearing: 0.9)
    case .beaconsOnly: handset.wiFi = nil
    case .wiFiOnly: handset.beacons = .none
    }
  }
}

/// How many seeds the tables of scenarios go through.
enum ScenarioSeeds {
  /// The seeds; each draws another house full of shadows, and other people in it.
  ///
  /// One, since a scenario takes a while unoptimised; `PHAROS_SCENARIO_SEEDS=3 swift test -c release` goes through three.
  static let all: [UInt64] = Array(1...max(1, min(20, wanted ?? 1)))

  /// How long people stroll: as long as an unoptimised run bears, unless seeds are asked for.
  static let stroll: TimeSpan = wanted == nil ? .seconds(60) : .minutes(3)

  /// The thinned tables that rides over floors are judged with: two unless seeds are asked for, else all.
  static let rides: [ScenarioThinning] =
    wanted == nil ? [ScenarioThinning.allCases[0], ScenarioThinning.allCases[2]] : ScenarioThinning.allCases

  private static let wanted = ProcessInfo.processInfo.environment["PHAROS_SCENARIO_SEEDS"]
    .flatMap { UInt64($0) }
}
