import PharosPipeline
import PharosReports

/// What a comparison must know before it begins: who is heard, how often and by whom, from when to when.
struct CaptureSurvey {
  /// How a beacon is heard.
  struct Heard {
    /// How many adverts of it there are.
    var adverts = 0
    /// Whether more than one observer hears it.
    var isShared = false
    fileprivate var observer: ObserverID
  }

  /// The beacons.
  private(set) var beacons: [BeaconID: Heard] = [:]
  /// How many reports each observer has.
  private(set) var observers: [ObserverID: Int] = [:]
  /// The site that a recording brings.
  private(set) var recordedSite: Site?
  /// The R of the first report.
  private(set) var first: Timestamp?
  /// The R of the last report.
  private(set) var last: Timestamp?
  /// How many adverts have an identity.
  private(set) var adverts = 0
  /// How many adverts were of beacons beyond the bound.
  private(set) var overflow = 0

  /// The maximum number of distinct beacons, and of distinct observers, that the survey keeps.
  static let mostIdentities = 100_000

  private var heard: HeardBeacons

  /// Starts with nothing heard.
  init(companies: [UInt16] = []) { heard = HeardBeacons(companies: companies) }

  /// How long it all lasts.
  var length: TimeSpan {
    guard let first, let last else { return .zero }
    return last - first
  }

  /// Takes one input of a capture.
  mutating func take(_ input: PipelineInput) {
    switch input {
    case .site(let site): recordedSite = recordedSite ?? site
    case .reports(let batch): take(batch)
    case .change, .adoption, .restored, .tick, .clockStep, .pause: return
    }
  }

  private mutating func take(_ batch: ReportBatch) {
    for report in batch.reports {
      first = first ?? report.received
      last = max(last ?? report.received, report.received)
      guard batch.observers.indices.contains(Int(report.observer)) else { continue }
      let observer = batch.observers[Int(report.observer)]
      if observers[observer] != nil || observers.count < CaptureSurvey.mostIdentities {
        observers[observer, default: 0] += 1
      }
      heard.find(in: report, of: batch)
      if !heard.found.isEmpty { adverts += 1 }
      for identity in heard.found { note(identity.beacon, by: observer) }
    }
  }

  private mutating func note(_ beacon: BeaconID, by observer: ObserverID) {
    guard beacons[beacon] != nil || beacons.count < CaptureSurvey.mostIdentities else {
      overflow += 1
      return
    }
    beacons[beacon, default: Heard(observer: observer)].adverts += 1
    if beacons[beacon]?.observer != observer { beacons[beacon]?.isShared = true }
  }
}
