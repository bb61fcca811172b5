package import PharosReports

/// How an attempt to deliver an event ended.
package enum DeliveryOutcome: Hashable, Sendable {
  /// The receiver took it: any status from 200 to 299.
  case delivered
  /// It did not, or could not be reached.
  ///
  /// `reason` says what happened; `retryAfter` is how long the receiver asks to be left alone.
  case failed(reason: String, retryAfter: TimeSpan?)
  /// The receiver wants no more, ever: status 410.
  case gone

  /// What an HTTP status means; redirects are not followed, since a signed event is for one address alone.
  ///
  /// - Source: Standard Webhooks 1.0 on statuses; RFC 9110, 10.2.3 on Retry-After.
  package init(status: Int, retryAfter: TimeSpan?) {
    switch status {
    case 200..<300: self = .delivered
    case 410: self = .gone
    case 300..<400:
      self = .failed(
        reason: "status \(status): redirects are not followed; give the final address",
        retryAfter: nil
      )
    default: self = .failed(reason: "status \(status)", retryAfter: retryAfter)
    }
  }
}
