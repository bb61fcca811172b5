import PharosEvents
import PharosReports

/// A narrator that explains in words why a decision was made and what else was considered.
///
/// It makes no decision itself: every number comes from the decision's evidence, from the story of its track, or from
/// fixed rules that received the same adverts.
struct Narrator {
  let findings: Findings
  private let names: EventTable
  private let observerNames: [ObserverID: String]

  init(_ findings: Findings) {
    self.findings = findings
    names = EventTable(site: findings.site)
    observerNames = Dictionary(
      findings.site.observers.compactMap { entry in entry.name.map { (entry.id, $0) } },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// The name of an observer, or its identity.
  func name(_ observer: ObserverID) -> String { observerNames[observer] ?? observer.description }

  /// The name of a beacon, or its identity cut short in the middle.
  func name(_ beacon: BeaconID) -> String { names.name(of: .beacon(beacon)) }

  /// The name of a subject.
  func name(_ subject: SubjectID) -> String { names.name(of: subject) }

  /// What was decided, where and about whom, in one line.
  func headline(_ decision: Decision) -> String {
    let regions = decision.regions.joined(separator: ", ")
    let who = who(decision)
    switch decision.kind {
    case .zone:
      guard case .zone(let transition) = decision.detail else { return who }
      return "\(transition.from ?? "nowhere") → \(transition.to ?? "nowhere") · \(who)"
    case .online, .offline, .restarted, .quarantined: return who
    case .clock, .refused: return decision.application
    case .state:
      guard let transition = decision.transition else { return regions }
      return "\(regions) \(transition.from.name) → \(transition.to.name) · \(who)"
    case .enter, .exit, .unmonitored, .holdExceeded: return regions.isEmpty ? who : "\(regions) · \(who)"
    }
  }

  /// Why it was decided, and what other rules would have said.
  func telling(_ decision: Decision) -> Telling {
    switch decision.detail {
    case .region(let transition): region(decision, transition)
    case .zone(let transition): Telling(zone(transition))
    case .observer(let transition): observer(decision, transition)
    case .regionLimit(let limit, let refused):
      Telling([
        "\(decision.application) holds \(limit) regions, as many as it may, so \(refused) was refused."
      ])
    case .clockStep(let step):
      Telling([
        "The server's clock was set by \(Wording.span(step)). Steps of the clock decide nothing; later times follow it."
      ])
    case .authorisation(let transition):
      Telling([
        "\(decision.application) may now learn of it: \(transition.to.name). Before, this was \(transition.from.name)."
      ])
    case .ranging, .battery, .notification, .fix: Telling([])
    }
  }

  private func who(_ decision: Decision) -> String {
    let subject = name(decision.subject)
    switch decision.subject {
    case .none: return ""
    case .beacon:
      guard decision.kind != .zone, let observer = decision.observer else { return subject }
      return "\(subject) at \(name(observer))"
    case .observer:
      guard let beacon = decision.beacon else { return subject }
      return "\(subject) (\(name(beacon)))"
    }
  }

  private func region(_ decision: Decision, _ transition: RegionTransition) -> Telling {
    var said: Telling
    switch transition.evidence.rule {
    case .samples: said = enter(decision, transition.evidence)
    case .adaptiveSilence: said = adaptiveExit(decision, transition.evidence)
    case .fixedSilence: said = fixedExit(decision, transition.evidence)
    case .level: said = levelExit(decision, transition.evidence)
    case .observerOutage, .scanOff: said = outage(decision, transition)
    case .recovery: said = recovery(decision, transition)
    case .neverHeard: said = neverHeard(decision, transition.evidence)
    case .alreadyInside, .assumed, .displayOn, .requested, .regionChange, .eviction:
      said = Telling([Narrator.sentence(transition.evidence.rule)])
    }
    if !decision.isAnnounced, decision.kind == .enter || decision.kind == .exit {
      said.why.append(
        "The region asks for no \(decision.kind.rawValue) event, so the change of state alone is published."
      )
    }
    return said
  }

  private static func sentence(_ rule: Evidence.Rule) -> String {
    switch rule {
    case .alreadyInside: "Another beacon or observer already settles it."
    case .assumed: "The state was given when monitoring began."
    case .displayOn: "A display was turned on while inside."
    case .requested: "Somebody asked."
    case .regionChange: "The region was removed, replaced or rotated."
    case .eviction:
      "More beacons are heard than are kept, and this one was silent for longest: it is no longer watched, which is "
        + "no exit."
    case .samples, .level, .adaptiveSilence, .fixedSilence, .neverHeard, .observerOutage, .scanOff, .recovery:
      ""
    }
  }
}
