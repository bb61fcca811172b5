public import PharosDocuments

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
    if !region.isEmpty { json.member(kind.regionKey, region) }
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
