public import OpenCombine
public import PharosEvents
public import PharosPositioning
public import PharosReports

extension Publisher where Output == Sensing, Failure == Never {
  /// Computes fixes from sensings with the server's own positioning, as an OpenCombine operator.
  ///
  /// ```swift
  /// let fixes = hub.rangings()
  ///   .merge(with: hub.wifiScans, hub.motion)
  ///   .fixes(in: museum)
  ///   .sink { @Sendable fix in print(fix.subject, fix.detail.horizontalAccuracy) }
  /// ```
  ///
  /// With all of ``EventHub/sensings``, the site's settings and the name of the server's stream, the operator computes
  /// exactly the fixes that the server computes for handsets. Its clock is the time of the sensings: it publishes a fix
  /// once a later sensing shows that the time of the fix and the lag have passed, and publishes pending fixes when
  /// upstream completes. Sensings of merged publishers may overtake each other by up to the lag; later ones are left
  /// out.
  ///
  /// The operator requests everything from upstream, since a handset does not wait. Each subscription computes fixes of
  /// its own, with up to 64 KiB of memory for each handset, and gets the newest of each, as from
  /// ``EventHub/fixes(for:)``.
  ///
  /// - Parameters:
  ///   - ground: the venue, with its radio map.
  ///   - settings: the interval and the lag of fixes, and the number of particles.
  ///   - stream: the seed of the random numbers: the same stream name and input always give the same fixes.
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
