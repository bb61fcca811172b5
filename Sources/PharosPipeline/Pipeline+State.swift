package import PharosEvents
package import PharosMonitoring
package import PharosPositioning
import PharosPrivacy
package import PharosReports

extension Pipeline {
  /// Makes a pipeline that continues from a checkpoint, as if it had not been interrupted.
  ///
  /// After a restart, call ``resume(at:lastTold:)`` next. Without that call, the pipeline continues at the instant of
  /// the checkpoint, with the same events to the byte.
  ///
  /// - Parameters:
  ///   - site: the current site; state that it no longer needs is dropped.
  ///   - checkpoint: the state of the previous pipeline.
  ///   - shards: the number of shards, which may differ from that of the previous pipeline.
  ///   - monitoring: the memory limits of stage one.
  ///   - positioning: the memory limits of stage two.
  ///   - grounds: the venues in which handsets and tags are located; their positions are found from scratch.
  /// - Throws: `RegionRefusal` for the site; a `FieldError` if a state cannot be read.
  package init(
    site: Site,
    restoring checkpoint: Checkpoint,
    shards: Int = 1,
    monitoring: MonitoringLimits = MonitoringLimits(),
    positioning: PositioningLimits = PositioningLimits(),
    grounds: [Ground] = []
  ) throws {
    try self.init(
      site: site,
      shards: shards,
      monitoring: monitoring,
      positioning: positioning,
      grounds: grounds
    )
    try restore(checkpoint)
  }

  /// The state by now: everything decided up to the last instant that is complete.
  ///
  /// Called behind ``advance(to:)``, so that no decision of that instant is left to tell.
  package func checkpoint() -> Checkpoint { Checkpoint(shards: shards, merger: merger.settled) }

  /// Resumes after a restart: the time since the checkpoint, or all earlier time if there is none, was downtime.
  ///
  /// No subject enters, leaves or becomes silent because of the downtime: silence is counted from the instant. The
  /// states published since the checkpoint take precedence over it. All counters continue from the instant, so that no
  /// id is used twice.
  ///
  /// - Parameters:
  ///   - instant: the time at which inputs begin again.
  ///   - lastTold: the states published since the checkpoint, or all published states if there is no checkpoint.
  /// - Returns: the events that have become final.
  package mutating func resume(at instant: Timestamp, lastTold: LastTold) -> [Event] {
    let instant = enter(at: instant)
    let told = lastTold.turnedBack(by: merger.clockOffset)
    for index in shards.indices {
      shards[index].resume(at: instant, lastTold: told.part(of: index, among: shards.count), into: &output)
    }
    merger.resume(at: instant, lastTold: lastTold)
    board = standingNow()
    return release(through: instant - .oneNanosecond)
  }

  /// Records a pause in which nothing was received, and returns the events that have become final.
  ///
  /// A pause of the machine counts as downtime: the server reads all that was sent in the meantime at once, and until
  /// then silence is no evidence.
  ///
  /// - Parameters:
  ///   - end: the time at which the process continued.
  ///   - instant: the start of the pause, after everything received before it and before everything received since.
  /// - Returns: the events that have become final.
  package mutating func pause(through end: Timestamp, at instant: Timestamp) -> [Event] {
    let instant = enter(at: instant)
    for index in shards.indices { shards[index].pause(through: end, at: instant, into: &output) }
    merger.pause(through: end, at: instant)
    return release(through: instant - .oneNanosecond)
  }

  /// Takes over an edited site: what it declares alike goes on as it was, and what applications added at run time stays.
  ///
  /// - Returns: what has become final.
  /// - Throws: the first refusal that the site meets, nothing having changed.
  package mutating func adopt(_ site: Site, at instant: Timestamp) throws(RegionRefusal) -> [Event] {
    let instant = enter(at: instant)
    let changes = self.site.regionChanges(to: site)
    let forgotten = changes.flatMap { forgottenRegions($0) }
    do throws(RegionRefusal) {
      try registry.adopt(site, from: self.site)
    } catch {
      counters.refusedChanges &+= 1
      throw error
    }
    counters.changes &+= 1
    self.site = site
    resolver = Resolver(site: site)
    for index in shards.indices { shards[index].adopt(site, at: instant, into: &output) }
    merger.adopt(site, at: instant)
    let events = release(through: instant - .oneNanosecond)
    for name in forgotten { board.forget(application: name.application, region: name.region) }
    return events
  }

  /// What stage one knows about tracks, in order, a page at a time.
  package func tracks(_ query: TrackQuery) -> [TrackInsight] {
    Array(shards.flatMap { $0.tracks(query) }.sorted { $0.key < $1.key }.prefix(query.limit))
  }

  /// Where every beacon is that some observer of a zone hears, or that is in a zone.
  package func tags() -> [TagStanding] { merger.tagStandings() }

  /// The observers that are heard and do not count, in their order.
  package func quarantine() -> [QuarantinedObserver] {
    shards.flatMap { $0.quarantine() }.sorted { $0.id < $1.id }
  }

  /// Puts the state of a checkpoint in the place of a pipeline's that has taken nothing yet.
  mutating func restore(_ checkpoint: Checkpoint) throws(FieldError) {
    var (engines, restored) = (shards, merger)
    for index in engines.indices {
      try checkpoint.restore(&engines[index], shard: index, among: engines.count)
    }
    try restored.restoreState(from: checkpoint)
    (shards, merger) = (engines, restored)
    latest = checkpoint.instant
    reportFloor = checkpoint.instant + .oneNanosecond
    changeFloor = reportFloor
    board = standingNow()
  }

  /// Who is inside by what the engines know, which a board without the events of before cannot.
  private func standingNow() -> StandingBoard {
    var board = StandingBoard()
    for standing in shards.flatMap({ $0.standings() }) {
      board.set(
        application: standing.application,
        region: standing.region,
        subject: .observer(standing.observer),
        state: standing.state,
        since: standing.enteredAt
      )
    }
    for standing in merger.beaconStandings() {
      board.set(
        application: standing.application,
        region: standing.region,
        subject: .beacon(standing.beacon),
        state: standing.state,
        since: standing.enteredAt
      )
    }
    return board
  }
}
