extension Event {
  /// Writes the event as CloudEvents 1.0 in structured JSON, one object, as the value of a key if one is given.
  ///
  /// - Source: CloudEvents 1.0.2, JSON event format; `partitionkey` is its partitioning extension.
  public func write(to json: inout JSONText, stream: String, as key: StaticString? = nil) {
    json.openObject(key)
    json.member("specversion", "1.0")
    json.member("id", id.description)
    json.member("source", "/pharos/\(stream)")
    json.member("type", kind.type)
    if subject != .none { json.member("subject", subject.description) }
    json.member("time", time.rfc3339)
    json.member("datacontenttype", "application/json")
    json.openObject("data")
    if !application.isEmpty { json.member("application", application) }
    if !region.isEmpty { json.member(kind == .zoneEnter || kind == .zoneExit ? "zone" : "region", region) }
    json.member("decidedAt", decidedAt.rfc3339)
    switch subject {
    case .none: break
    case .observer: json.member("subjectKind", "observer")
    case .beacon: json.member("subjectKind", "beacon")
    }
    detail.write(to: &json, endingAt: time)
    json.closeObject()
    json.closeObject()
  }

  /// The event as one line of CloudEvents JSON, without the line's end.
  public func cloudEvent(stream: String) -> String {
    var json = JSONText()
    write(to: &json, stream: stream)
    return json.text
  }
}

extension EventDetail {
  fileprivate func write(to json: inout JSONText, endingAt time: Timestamp) {
    switch self {
    case .region(let transition): transition.write(to: &json, endingAt: time)
    case .regionLimit(let limit, let refused):
      json.member("limit", limit)
      json.member("refused", refused)
    case .ranging(let constraint, let beacons):
      json.member("constraint", constraint.description)
      json.openArray("beacons")
      for beacon in beacons { beacon.write(to: &json) }
      json.closeArray()
    case .zone(let transition): transition.write(to: &json)
    case .observer(let transition):
      json.member("lastHeard", ifPresent: transition.lastHeard?.rfc3339)
      json.member("allowedGap", ifPresent: transition.allowedGap)
      if let bootID = transition.bootID { json.member("bootId", bootID) }
    case .battery(let millivolts, let observer):
      json.member("millivolts", millivolts)
      json.member("observer", observer.description)
    case .clockStep(let span):
      json.member("step", span.seconds, decimals: 9)
    case .authorisation(let transition): transition.write(to: &json)
    case .notification(let detail): detail.write(to: &json)
    case .fix(let detail): detail.write(to: &json)
    }
  }
}

extension RegionTransition {
  fileprivate func write(to json: inout JSONText, endingAt time: Timestamp) {
    json.member("from", from.name)
    json.member("to", to.name)
    json.member("refinement", ifPresent: refinement?.description)
    json.member("observer", ifPresent: observer?.description)
    if let enteredAt {
      json.member("enteredAt", enteredAt.rfc3339)
      json.member("duration", (time - enteredAt).seconds, decimals: 3)
    }
    if isAnswer { json.member("answer", true) }
    json.openObject("evidence")
    evidence.write(to: &json)
    json.closeObject()
  }
}

extension Evidence {
  /// Writes what is known; times in seconds, levels in dBm.
  public func write(to json: inout JSONText) {
    json.member("rule", rule.rawValue)
    if let samples { json.member("samples", samples) }
    if let counted { json.member("counted", counted) }
    json.member("window", ifPresent: window)
    json.member("spread", ifPresent: spread)
    json.member("gap", ifPresent: gap)
    json.member("allowedGap", ifPresent: allowedGap)
    if let stretch { json.member("stretch", stretch, decimals: 3) }
    json.member("interval", ifPresent: interval)
    if let receptionShare { json.member("receptionShare", receptionShare, decimals: 3) }
    if let lossRun { json.member("lossRun", lossRun, decimals: 2) }
    if let level { json.member("level", level, decimals: 2) }
    if let levelDeviation { json.member("levelDeviation", levelDeviation, decimals: 2) }
    if let sampleLevel { json.member("sampleLevel", sampleLevel, decimals: 2) }
    if let threshold { json.member("threshold", threshold, decimals: 2) }
    if let distance { json.member("distance", distance, decimals: 3) }
    json.member("belowFor", ifPresent: belowFor)
    if let margin { json.member("margin", margin, decimals: 3) }
    json.member("lastHeard", ifPresent: lastHeard?.rfc3339)
    json.member("fixedRuleAt", ifPresent: fixedRuleAt?.rfc3339)
    json.member("deafFor", ifPresent: deafFor)
    json.member("waitedForProof", ifPresent: waitedForProof)
    guard let silence else { return }
    json.openObject("silence")
    silence.write(to: &json)
    json.closeObject()
  }
}

extension ZoneTransition {
  fileprivate func write(to json: inout JSONText) {
    json.member("from", ifPresent: from)
    json.member("to", ifPresent: to)
    if let margin { json.member("margin", margin, decimals: 2) }
    json.member("dwell", ifPresent: dwell)
    json.member("reason", reason.rawValue)
    if let probability { json.member("probability", probability, decimals: 4) }
    if let runnerUp {
      json.openObject("runnerUp")
      json.member("zone", runnerUp.zone)
      json.member("probability", runnerUp.probability, decimals: 4)
      json.closeObject()
    }
    guard !hearings.isEmpty else { return }
    json.openArray("hearings")
    for hearing in hearings {
      json.openObject()
      json.member("observer", hearing.observer.description)
      json.member("level", hearing.level, decimals: 2)
      json.member("offset", hearing.offset, decimals: 2)
      json.closeObject()
    }
    json.closeArray()
  }
}

extension FixDetail {
  /// Writes the members of an open object: metres, metres a second, degrees, seconds.
  ///
  /// Unknown values are left out, as are the floor and its plane outdoors.
  public func write(to json: inout JSONText) {
    json.member("venue", venue)
    if isIndoors {
      json.member("building", building)
      json.member("level", level)
      if !floorName.isEmpty { json.member("floorName", floorName) }
    }
    if let latitude, let longitude {
      json.member("latitude", latitude, decimals: 8)
      json.member("longitude", longitude, decimals: 8)
    }
    if isIndoors {
      json.member("x", x, decimals: 3)
      json.member("y", y, decimals: 3)
    }
    json.member("horizontalAccuracy", horizontalAccuracy, decimals: 2)
    if let speed { json.member("speed", speed, decimals: 2) }
    if let courseInDegrees { json.member("course", courseInDegrees, decimals: 1) }
    json.openArray("sources")
    for (source, name) in FixSources.names where sources.contains(source) { json.element(name) }
    json.closeArray()
    json.member("age", age.seconds, decimals: 3)
    json.member("satellites", satellites.name)
  }
}

extension RangedReading {
  fileprivate func write(to json: inout JSONText) {
    json.openObject()
    json.member("beacon", beacon.description)
    json.member("proximity", proximity.rawValue)
    json.member("rssi", rssi, decimals: 1)
    json.member("accuracy", accuracy, decimals: 2)
    json.member("deviation", deviation, decimals: 2)
    json.member("samples", samples)
    json.closeObject()
  }
}

extension RegionState {
  /// The state as events spell it.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .inside: "inside"
    case .outside: "outside"
    case .unmonitored: "unmonitored"
    }
  }
}

extension JSONText {
  fileprivate mutating func member(_ key: StaticString, ifPresent span: TimeSpan?) {
    if let span { member(key, span.seconds, decimals: 3) }
  }
}
