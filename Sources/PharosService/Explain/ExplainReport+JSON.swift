import PharosEvents
import PharosMonitoring
import PharosReports

extension ExplainReport {
  /// The report as one JSON object: the same figures, and the same sentences.
  var json: String {
    var json = JSONText()
    json.openObject()
    json.openArray("captures")
    for path in options.captures { json.element(path) }
    json.closeArray()
    if let span = findings.span {
      json.member("from", span.lowerBound.rfc3339)
      json.member("until", span.upperBound.rfc3339)
    }
    json.member("adverts", findings.adverts)
    json.member("decisionsFound", decisions.count)
    json.member("decisionsLeftOut", untold)
    json.openArray("decisions")
    for decision in told { write(decision, to: &json) }
    json.closeArray()
    json.openArray("tracks")
    for track in weighed { write(track, to: &json) }
    json.closeArray()
    json.openArray("fixedRules")
    for row in compared { write(row.key, row.story, to: &json) }
    json.closeArray()
    json.closeObject()
    return json.text
  }

  private func write(_ decision: Decision, to json: inout JSONText) {
    json.openObject()
    json.member("time", decision.time.rfc3339)
    json.member("decidedAt", decision.decidedAt.rfc3339)
    json.member("decision", decision.kind.rawValue)
    if !decision.application.isEmpty { json.member("application", decision.application) }
    json.openArray(decision.kind == .zone ? "zones" : "regions")
    for region in decision.regions { json.element(region) }
    json.closeArray()
    if decision.subject != .none { json.member("subject", decision.subject.description) }
    json.member("observer", ifPresent: decision.observer?.description)
    json.member("beacon", ifPresent: decision.beacon?.description)
    if let transition = decision.transition {
      json.member("from", transition.from.name)
      json.member("to", transition.to.name)
      json.member("announced", decision.isAnnounced)
      json.openObject("evidence")
      transition.evidence.write(to: &json)
      json.closeObject()
      write(rules: decision, transition.evidence, to: &json)
    }
    let telling = narrator.telling(decision).plain
    json.openArray("why")
    for sentence in telling.why { json.element(sentence) }
    json.closeArray()
    json.openArray("compared")
    for sentence in telling.compared { json.element(sentence) }
    json.closeArray()
    json.closeObject()
  }

  /// What fixed rules said of the same silence.
  private func write(rules decision: Decision, _ evidence: Evidence, to json: inout JSONText) {
    guard decision.kind == .exit, let row = decision.rows.first, let story = findings.log.rows[row],
      let lastHeard = evidence.lastHeard
    else { return }
    let began = decision.transition?.enteredAt ?? .distantPast
    json.openArray("fixedRules")
    for rule in story.fixed {
      json.openObject()
      json.member("timeout", rule.timeout.seconds, decimals: 3)
      let left = rule.visits.lazy.compactMap(\.left).first { $0 > lastHeard }
      json.member("exit", ifPresent: left?.rfc3339)
      if let left { json.member("later", (left - decision.time).seconds, decimals: 3) }
      json.openArray("falseExits")
      for mistake in rule.falseExits(story.isStay) where began <= mistake && mistake < decision.time {
        json.element(mistake.rfc3339)
      }
      json.closeArray()
      json.closeObject()
    }
    json.closeArray()
  }

  private func write(_ track: TrackKey, to json: inout JSONText) {
    json.openObject()
    json.member("observer", track.observer.description)
    json.member("beacon", track.beacon.description)
    if let story = findings.tracks[track] {
      json.member("samples", story.samples)
      if let interval = story.last?.interval { json.member("interval", interval.seconds, decimals: 3) }
      if let share = story.last?.receptionShare { json.member("receptionShare", share, decimals: 3) }
      if let run = story.last?.lossRun { json.member("lossRun", run, decimals: 2) }
    }
    json.openArray("considered")
    for group in narrator.considered(track) {
      json.openObject()
      json.openArray("regions")
      for region in group.regions { json.element(region.region) }
      json.closeArray()
      json.openArray("why")
      for sentence in group.sentences { json.element(Telling.plain(sentence)) }
      json.closeArray()
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }

  private func write(_ key: RowKey, _ story: RowStory, to json: inout JSONText) {
    json.openObject()
    json.member("application", key.region.application)
    json.member("region", key.region.region)
    json.member("subject", key.subject.description)
    json.member("exits", story.visits.count { $0.left != nil })
    json.member("returnsWithinMinute", story.returns)
    json.openArray("rules")
    for rule in story.fixed {
      json.openObject()
      json.member("timeout", rule.timeout.seconds, decimals: 3)
      json.member("exits", rule.visits.count { $0.left != nil })
      json.member("falseExits", rule.falseExits(story.isStay).count)
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }
}
