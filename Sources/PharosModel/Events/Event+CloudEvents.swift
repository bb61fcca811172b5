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
    case .region(var transition):
      transition.visitBeginning(&json)
      if let start = transition.enteredAt { json.member("duration", (time - start).seconds, decimals: 3) }
      transition.visitDecision(&json)
    case .regionLimit(let limit, let refused):
      json.member("limit", limit)
      json.member("refused", refused)
    case .ranging(let constraint, let beacons):
      json.member("constraint", constraint.description)
      json.array("beacons", of: beacons)
    case .zone(var transition): transition.visitMembers(&json)
    case .observer(var transition): transition.visitMembers(&json)
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
