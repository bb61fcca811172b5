import PharosEvents
import PharosReports

/// One decision as it is explained: an event, or several that say the same of different regions.
struct Decision {
  /// What was decided.
  enum Kind: String {
    /// A subject came into a region.
    case enter
    /// A subject left a region.
    case exit
    /// A state that is neither.
    case state
    /// A region became unmonitored: no observer can tell whether the subject is inside.
    case unmonitored
    /// Unmonitored for longer than the region allows.
    case holdExceeded = "held long"
    /// A beacon changed zones.
    case zone
    /// An observer is heard, or heard again.
    case online
    /// An observer fell silent.
    case offline
    /// An observer restarted.
    case restarted
    /// An observer was heard that is neither in the site file nor accepted.
    case quarantined
    /// A region was refused.
    case refused
    /// The server's clock was set.
    case clock = "clock set"
  }

  var kind: Kind
  /// When it happened.
  var time: Timestamp
  /// When it was decided.
  var decidedAt: Timestamp
  /// The application, or an empty string.
  var application: String
  /// The regions, all with the same reason; for a zone decision the zone left and the zone entered.
  var regions: [String]
  /// Whom it is about.
  var subject: SubjectID
  /// Whose hearing settled it.
  var observer: ObserverID?
  /// Which beacon settled it.
  var beacon: BeaconID?
  /// Whether an event told it beside the change of state.
  var isAnnounced: Bool
  /// What the event says.
  var detail: EventDetail
  /// The rules of the region.
  var rules: PresencePolicy?

  /// The track that settled it, if one did.
  var track: TrackKey? {
    guard let observer, let beacon else { return nil }
    return TrackKey(observer: observer, beacon: beacon)
  }

  /// The transition, if it is about a region.
  var transition: RegionTransition? {
    guard case .region(let transition) = detail else { return nil }
    return transition
  }

  /// The rows that it is about.
  var rows: [RowKey] {
    guard transition != nil else { return [] }
    return regions.map { RowKey(region: RegionKey(application: application, region: $0), subject: subject) }
  }

  /// Whether another decision says the same of another region, for the same reason.
  func says(theSameAs other: Decision) -> Bool {
    guard let mine = transition, let theirs = other.transition else { return false }
    return kind == other.kind && time == other.time && decidedAt == other.decidedAt
      && application == other.application && subject == other.subject && observer == other.observer
      && beacon == other.beacon && isAnnounced == other.isAnnounced && rules == other.rules
      && mine.from == theirs.from && mine.to == theirs.to && mine.enteredAt == theirs.enteredAt
      && mine.evidence == theirs.evidence
  }
}
