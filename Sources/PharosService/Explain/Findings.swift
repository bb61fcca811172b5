import PharosEvents
import PharosReports

/// All that one run over the captures found out.
struct Findings {
  /// The decisions and the rows.
  var log = DecisionLog()
  /// What every track went through.
  var tracks: [TrackKey: TrackStory] = [:]
  /// The adverts of the tracks that are to be drawn.
  var traces: [TrackKey: TrackTrace] = [:]
  /// When the adverts of the rows that are to be drawn were heard that are of no track drawn.
  var others: [RowKey: [Timestamp]] = [:]
  /// When each observer was down: its last sign of life, when that was noticed, and its return if there was one.
  var outages: [ObserverID: [Outage]] = [:]
  /// Who stood in which zone.
  var site = Site()
  /// The first and the last input.
  var span: ClosedRange<Timestamp>?
  /// How many adverts were read.
  var adverts = 0

  /// A time without a sign of life.
  struct Outage: Hashable {
    /// The last sign of life.
    var silentFrom: Timestamp
    /// When its silence was longer than it ever is.
    var from: Timestamp
    /// When it was back; nil if it was not.
    var until: Timestamp?
  }

  /// How many adverts of others are kept for a row.
  ///
  /// A picture has some thousand columns; beyond, they would be one grey line.
  static let mostOthers = 65_536

  /// All decisions.
  var decisions: [Decision] { log.decisions }

  /// Every observer that was heard of, in order.
  var observers: [ObserverID] {
    var seen = Set(tracks.keys.map(\.observer))
    for decision in decisions { if let observer = decision.observer { seen.insert(observer) } }
    return seen.sorted()
  }

  /// Every beacon that was tracked, in order.
  var beacons: [BeaconID] { Set(tracks.keys.map(\.beacon)).sorted() }

  /// Every region that anything was decided or heard about, in order.
  var regions: [RegionKey] { Set(log.rows.keys.map(\.region)).sorted() }

  /// Whether a beacon was ever placed in a zone.
  func places(_ beacon: BeaconID) -> Bool {
    decisions.contains { $0.kind == .zone && $0.beacon == beacon }
  }

  /// The outages of observers, from the decisions.
  mutating func noteOutages() {
    for decision in decisions {
      guard let observer = decision.observer else { continue }
      switch decision.kind {
      case .offline:
        var outage = Outage(silentFrom: decision.time, from: decision.time)
        if case .observer(let transition) = decision.detail, let lastHeard = transition.lastHeard {
          outage.silentFrom = min(lastHeard, decision.time)
        }
        outages[observer, default: []].append(outage)
      case .online:
        guard let last = outages[observer]?.indices.last, outages[observer]?[last].until == nil else {
          continue
        }
        outages[observer]?[last].until = decision.time
      default: break
      }
    }
  }
}
