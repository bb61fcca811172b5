public import PharosEvents
public import PharosReports

/// Where somebody was at one time: what a fix event says.
public struct Fix: Hashable, Sendable {
  /// Who: a handset, or a tag that observers hear.
  public let subject: SubjectID
  /// When the subject was there; it was decided a moment later.
  public let time: Timestamp
  /// Where, how accurately, and by what.
  public let detail: FixDetail

  /// States a fix.
  public init(subject: SubjectID, time: Timestamp, detail: FixDetail) {
    self.subject = subject
    self.time = time
    self.detail = detail
  }

  /// A fix event's content, or nil for any other event.
  public init?(_ event: Event) {
    guard case .fix(let detail) = event.detail else { return nil }
    self.init(subject: event.subject, time: event.time, detail: detail)
  }
}
