public import PharosDocuments

extension Event {
  /// Writes the event as CloudEvents 1.0 in structured JSON, one object, as the value of a key if one is given.
  ///
  /// The names beside identities are those that counted at the time of the event, in a live stream and in a later answer alike.
  ///
  /// - Source: CloudEvents 1.0.2, JSON event format; `partitionkey` is its partitioning extension.
  public func write(to json: inout JSONText, stream: String, as key: StaticString? = nil) {
    json.withNames(asOf: time) { writeObject(to: &$0, stream: stream, as: key) }
  }

  private func writeObject(to json: inout JSONText, stream: String, as key: StaticString?) {
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
    if !region.isEmpty { json.member(regionKey, region) }
    json.member("decidedAt", decidedAt.rfc3339)
    if subject != .none { json.member("subjectKind", subject.kindName) }
    if let names = json.siteNames {
      json.member("name", ifPresent: names.given(to: subject))
      json.member("room", ifPresent: room(by: names))
    }
    detail.write(to: &json, endingAt: time)
    json.closeObject()
    json.closeObject()
  }

  /// The member that names the region, zone or place.
  private var regionKey: StaticString {
    if case .notification(let notification) = detail, notification.occasion.isAboutZone { return "zone" }
    return kind.regionKey
  }

  /// The room that the event is about: that of the subject as it was decided then; while nothing was decided about it, that
  /// of the observer that heard it.
  ///
  /// A fix states its room itself.
  private func room(by names: SiteNames) -> String? {
    switch detail {
    case .fix: return nil
    case .zone, .occupancy: return names.room(ofZone: region)
    case .visit(let visit): return visit.room(by: names)
    case .region(let transition):
      let evidence = transition.evidence
      if let room = evidence.room ?? evidence.zone.map(names.room(ofZone:)) { return room }
      if let observer = transition.observer { return names.room(of: observer) }
    case .notification(let notification) where notification.occasion.isAboutZone:
      return names.room(ofZone: region)
    case .battery(_, let observer): return names.room(of: observer)
    default: break
    }
    guard case .observer(let observer) = subject else { return nil }
    return names.room(of: observer)
  }

  /// The event as one line of CloudEvents JSON, without the line's end.
  public func cloudEvent(stream: String) -> String {
    var json = JSONText()
    write(to: &json, stream: stream)
    return json.text
  }
}

extension VisitDetail {
  /// The room of the visit: its zone or place by name; nil if it lies in none.
  package func room(by names: SiteNames) -> String? {
    guard let place else { return nil }
    return place.kind == .zone ? names.room(ofZone: place.identifier) : place.name ?? place.identifier
  }
}
