import PharosReports

extension ComparisonReport {
  /// The same figures for machines: one JSON object.
  ///
  /// Times are seconds; a delay that nothing was measured of is null.
  var json: String {
    var json = JSONText()
    json.openObject()
    json.member("headline", headline)
    json.openArray("captures")
    for capture in captures { json.element(capture) }
    json.closeArray()
    json.member("site", ifPresent: sitePath)
    json.member("first", ifPresent: survey.first?.rfc3339)
    json.member("last", ifPresent: survey.last?.rfc3339)
    json.member("seconds", survey.length.seconds, decimals: 3)
    json.member("isLongEnough", isLongEnough)
    json.member("adverts", survey.adverts)
    json.member("beacons", survey.beacons.count)
    json.member("beaconsLeftOut", compared.leftOut)
    json.member("observers", survey.observers.count)
    json.member("subjects", rowCount)
    writePresence(to: &json)
    writeRooms(to: &json)
    writeWorst(to: &json)
    json.openArray("notes")
    for note in notes { json.element(note) }
    json.closeArray()
    json.closeObject()
    return json.text
  }

  private func writePresence(to json: inout JSONText) {
    json.openArray("presence")
    for rule in presence {
      json.openObject()
      json.member("rule", rule.name)
      json.member("enters", rule.enters)
      json.member("exits", rule.exits)
      json.member("backWithinMinute", rule.returnsWithinMinute)
      json.member("backWithinTenMinutes", rule.returns)
      json.member("unmonitored", rule.unmonitored)
      if rule.exits > 0 {
        json.member("delayP50", rule.delays.percentile(50).seconds, decimals: 3)
        json.member("delayP95", rule.delays.percentile(95).seconds, decimals: 3)
      } else {
        json.null("delayP50")
        json.null("delayP95")
      }
      json.closeObject()
    }
    json.closeArray()
  }

  private func writeRooms(to json: inout JSONText) {
    json.openArray("rooms")
    for rule in rooms {
      json.openObject()
      json.member("rule", rule.name)
      json.member("changes", rule.changes)
      json.member("backWithinMinute", rule.returns)
      json.closeObject()
    }
    json.closeArray()
  }

  private func writeWorst(to json: inout JSONText) {
    json.openArray("worst")
    for row in worst {
      json.openObject()
      json.member("application", row.application)
      json.member("region", row.region)
      json.member("subject", row.subject.text)
      json.member("adverts", row.adverts)
      json.openArray("rules")
      for (rule, standing) in zip(presence, row.standings) {
        json.openObject()
        json.member("rule", rule.name)
        json.member("exits", standing.exits)
        json.member("backWithinTenMinutes", standing.returns)
        json.closeObject()
      }
      json.closeArray()
      json.closeObject()
    }
    json.closeArray()
  }
}

extension SubjectID {
  /// The identity as text.
  fileprivate var text: String {
    switch self {
    case .none: ""
    case .observer(let observer): observer.description
    case .beacon(let beacon): beacon.description
    }
  }
}
