package import PharosAccess
package import PharosEvents
package import PharosReports

extension Teller {
  /// Changes what an application may learn about a subject, and tells of it.
  ///
  /// It holds from now on: for what is decided later, for what waits in streams, and for what is read back.
  ///
  /// - Parameters:
  ///   - state: what it may learn.
  ///   - application: the application.
  ///   - subject: whom it is about.
  ///   - principal: who asks.
  ///   - now: the present time.
  /// - Returns: whether anything has changed.
  /// - Throws: `AccessError`, in which case nothing has changed.
  @discardableResult
  package func authorise(
    _ state: AuthorisationState,
    application: String,
    subject: SubjectID,
    by principal: Principal,
    at now: Timestamp
  ) throws(AccessError) -> Bool {
    let event = try authorisations.set(
      state,
      application: application,
      subject: subject,
      by: principal,
      stream: stream,
      at: now
    )
    guard let event else { return false }
    tell([event])
    return true
  }

  /// Returns whether an event may still be sent to a webhook or shown on a page of history.
  ///
  /// - Parameters:
  ///   - event: an event that was published before.
  ///   - application: the application that reads, or nil for the operator's readers.
  /// - Returns: true if the authorisations allow it now.
  package func allows(_ event: Event, to application: String?) -> Bool {
    authorisations.view.allows(event, to: application, isLive: false)
  }
}
