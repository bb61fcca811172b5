import PharosEvents
import PharosMonitoring
import PharosReports

extension TrackInsight {
  /// Writes all that is known; times in seconds, levels in dBm.
  func write(to json: inout JSONText) {
    json.openObject()
    json.member("observer", observer.description)
    json.member("beacon", beacon.description)
    json.member("lastHeard", lastHeard.rfc3339)
    json.member("samples", samples)
    if let level { json.member("level", level, decimals: 2) }
    if let levelDeviation { json.member("levelDeviation", levelDeviation, decimals: 2) }
    json.member("interval", ifPresent: interval)
    json.member("slowestInterval", ifPresent: slowestInterval)
    json.member("declaredInterval", ifPresent: declaredInterval)
    if let receptionShare { json.member("receptionShare", receptionShare, decimals: 3) }
    if let lossRun { json.member("lossRun", lossRun, decimals: 2) }
    json.member("telling", isTelling)
    if silenceFrom != .distantPast { json.member("silenceFrom", silenceFrom.rfc3339) }
    json.openArray("regions")
    for region in regions { region.write(to: &json) }
    json.closeArray()
    json.closeObject()
  }
}

extension RegionInsight {
  fileprivate func write(to json: inout JSONText) {
    json.openObject()
    json.member("application", application)
    json.member("region", region)
    json.member("subject", isAboutBeacons ? "beacon" : "observer")
    json.member("state", state.name)
    json.member("since", ifPresent: since?.rfc3339)
    json.member("allowedGap", ifPresent: allowedGap)
    json.member("silenceDeadline", ifPresent: silenceDeadline?.rfc3339)
    json.member("levelDeadline", ifPresent: levelDeadline?.rfc3339)
    json.member("waitingForProof", isWaitingForProof)
    if let enterLevel { json.member("enterLevel", enterLevel, decimals: 2) }
    if let exitLevel { json.member("exitLevel", exitLevel, decimals: 2) }
    json.closeObject()
  }
}

extension Board.RangingWord {
  /// Writes the ranging as events tell it.
  func write(to json: inout JSONText) {
    json.openObject()
    json.member("application", key.application)
    json.member("observer", key.observer.description)
    json.member("constraint", key.constraint.description)
    json.member("time", time.rfc3339)
    json.openArray("beacons")
    for reading in beacons {
      json.openObject()
      json.member("beacon", reading.beacon.description)
      json.member("proximity", reading.proximity.rawValue)
      json.member("rssi", reading.rssi, decimals: 1)
      json.member("accuracy", reading.accuracy, decimals: 2)
      json.member("deviation", reading.deviation, decimals: 2)
      json.member("samples", reading.samples)
      json.closeObject()
    }
    json.closeArray()
    json.closeObject()
  }
}

extension JSONText {
  /// Writes a span in seconds, or nothing for nil.
  mutating func member(_ key: StaticString, ifPresent span: TimeSpan?) {
    if let span { member(key, span.seconds, decimals: 3) }
  }
}
