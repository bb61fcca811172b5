public import PharosEvents
public import PharosReports

/// Says in words why one event was told: for the interface, the dashboard and whoever reads a journal.
///
/// It knows the event and the site, nothing else: what fixed rules would have said is told by `explain`, which has the
/// capture as well.
public struct EventNarrator: Sendable {
  private let site: Site
  private let table: EventTable

  /// Makes a narrator that knows a site's names.
  public init(site: Site) {
    self.site = site
    table = EventTable(site: site)
  }

  /// The event's reason, sentence by sentence, in plain text.
  public func narrate(_ event: Event) -> String {
    Telling.plain(sentences(event).joined(separator: " "))
  }

  /// The name that the site has for a subject; nil where it has none.
  public func name(of subject: SubjectID) -> String? {
    switch subject {
    case .none: nil
    case .observer(let observer): site.observers.first { $0.id == observer }?.name
    case .beacon(let beacon): site.beacons.first { $0.name != nil && $0.constraint.matches(beacon) }?.name
    }
  }

  private func sentences(_ event: Event) -> [String] {
    switch event.detail {
    case .ranging(_, let beacons): return [ranging(beacons, of: event.subject)]
    case .battery(let millivolts, let observer):
      let volts = Wording.decimal(Double(millivolts) / 1_000, places: 2)
      return ["Its battery has \(volts) V, as \(table.name(of: .observer(observer))) heard."]
    case .notification(let detail): return ["Sent because of rule \(detail.rule): \(detail.text)"]
    case .region, .zone, .observer, .regionLimit, .clockStep, .authorisation:
      var findings = Findings()
      findings.site = site
      let narrator = Narrator(findings)
      return narrator.telling(Decision(event)).why
    }
  }

  private func ranging(_ beacons: [RangedReading], of subject: SubjectID) -> String {
    guard let nearest = beacons.first else { return "No beacon is in range." }
    let others = beacons.count - 1
    let more = others > 0 ? ", and \(Wording.count(others, "more beacon"))" : ""
    guard nearest.accuracy >= 0 else {
      return "\(table.name(of: .beacon(nearest.beacon))) is not heard at present\(more)."
    }
    return
      "\(table.name(of: .beacon(nearest.beacon))) is \(nearest.proximity.rawValue), about "
      + "\(Wording.meters(nearest.accuracy)) away at \(Wording.level(Double(nearest.rssi)))\(more)."
  }
}

extension Decision {
  /// The decision that one event tells by itself.
  init(_ event: Event) {
    self.init(
      kind: Decision.kind(event),
      time: event.time,
      decidedAt: event.decidedAt,
      application: event.application,
      regions: event.region.isEmpty ? [] : [event.region],
      subject: event.subject,
      isAnnounced: true,
      detail: event.detail,
      rules: nil
    )
    if case .observer(let own) = event.subject { observer = own }
    if case .beacon(let own) = event.subject { beacon = own }
    switch event.detail {
    case .region(let transition):
      observer = observer ?? transition.observer
      beacon = beacon ?? transition.refinement
    case .zone(let transition): regions = [transition.from, transition.to].compactMap { $0 }
    case .ranging, .observer, .regionLimit, .battery, .clockStep, .authorisation, .notification: break
    }
  }

  private static func kind(_ event: Event) -> Kind {
    switch event.kind {
    case .regionEnter: .enter
    case .regionExit: .exit
    case .regionUnmonitored: .unmonitored
    case .regionHoldExceeded: .holdExceeded
    case .regionLimitExceeded: .refused
    case .zoneEnter, .zoneExit: .zone
    case .observerOffline: .offline
    case .observerRestarted: .restarted
    case .observerQuarantined: .quarantined
    case .observerOnline: .online
    case .clockStepped: .clock
    default: .state
    }
  }
}
