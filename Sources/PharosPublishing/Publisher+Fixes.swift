public import OpenCombine
public import PharosEvents
public import PharosPositioning
public import PharosReports

extension Publisher where Output == Sensing, Failure == Never {
  /// Locates whoever sensed something: the server's own way from sensings to fixes, as an operator.
  ///
  /// ```swift
  /// let fixes = hub.rangings()
  ///   .merge(with: hub.wifiScans, hub.motion)
  ///   .fixes(in: museum)
  ///   .sink { @Sendable fix in print(fix.subject, fix.detail.horizontalAccuracy) }
  /// ```
  ///
  /// Given all of ``EventHub/sensings``, the site's settings and the server's stream, it makes the very fixes that the server
  /// makes of handsets. Time is what the sensings say: a fix comes once a later sensing shows that its time and the lag
  /// have passed, and what is held back at the end comes with the completion. Sensings of merged publishers may overtake each
  /// other by as much as the lag; more is late, and left out.
  ///
  /// Upstream is asked for everything, since a handset does not wait. Downstream each subscription locates on its own, with
  /// memory of up to 64 KiB a handset, and gets the newest fix of each, as from ``EventHub/fixes(for:)``.
  ///
  /// - Parameters:
  ///   - ground: the venue, with its radio map.
  ///   - settings: how often fixes are made, how long they wait, and how many places are weighed.
  ///   - stream: the name that chance is drawn by: fixes of one name and input are the same each time.
  /// - Returns: the fixes, for OpenCombine and for `for await`.
  public func fixes(
    in ground: Ground,
    settings: PositioningSettings = PositioningSettings(),
    stream: String = "pharos"
  ) -> EventPublisher<Fix, Never> {
    let site = Site(stream: stream, positioning: settings)
    let upstream = Upstream { self.subscribe($0) }
    let makers = FixMakers { deliver, finish in
      let maker = FixMaker(ground: ground, site: site, deliver: deliver, finish: finish)
      upstream.subscribe(maker)
      return maker
    }
    return EventPublisher(
      source: StreamSource(attach: { makers.attach($0, $1) }, detach: { makers.detach($0) }),
      overflow: .newest(limit: EventHub.mostFixSubjects, subject: { $0.subject })
    )
  }
}

/// A publisher that subscriptions of any thread subscribe to.
///
/// `@unchecked Sendable` because OpenCombine's publishers are not annotated: they are values that say what to subscribe
/// to, and are only asked for subscriptions.
private struct Upstream: @unchecked Sendable {
  let subscribe: (FixMaker) -> Void
}
