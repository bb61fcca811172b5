public import PharosEvents
public import PharosMonitoring
public import PharosPositioning
import PharosPrivacy
public import PharosReports

extension Pipeline {
  /// Starts from a checkpoint, as if it had not been interrupted.
  ///
  /// After a restart ``resume(at:lastTold:)`` comes next. Without it the pipeline goes on where the checkpoint was made, with the
  /// same events to the byte.
  ///
  /// - Parameters:
  ///   - site: what is declared at present; what it no longer asks about is left out.
  ///   - checkpoint: what the pipeline of before knew.
  ///   - shards: how many shards; as many as one likes.
  ///   - monitoring: how much stage one keeps.
  ///   - positioning: how much stage two keeps.
  ///   - grounds: the venues in which handsets and tags are located; where they are is found anew.
  /// - Throws: `RegionRefusal` for the site; a `FieldError` if a state cannot be read.
  public init(
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
  public func checkpoint() -> Checkpoint { Checkpoint(shards: shards, merger: merger.settled) }

  /// Goes on after a restart: the time since the checkpoint, or ever, was downtime.
  ///
  /// Nobody left, came or fell silent because of it: silence begins anew. What events have told since the checkpoint wins over
  /// it. Whatever is counted goes on from the instant, so that no id is given twice.
  ///
  /// - Parameters:
  ///   - instant: when inputs begin again.
  ///   - lastTold: what events have told since the checkpoint; without one, all that was ever told.
  /// - Returns: what has become final.
  public mutating func resume(at instant: Timestamp, lastTold: LastTold) -> [Event] {
    let instant = enter(at: instant)
    let told = lastTold.turnedBack(by: merger.clockOffset)
    for index in shards.indices {
      shards[index].resume(at: instant, lastTold: told.part(of: index, among: shards.count), into: &output)
    }
    merger.resume(at: instant, lastTold: lastTold)
    board = standingNow()
    return release(through: instant - .oneNanosecond)
  }

  /// Notes that nobody listened from an instant to a later one, and gives what has become final.
  ///
  /// A pause of the machine counts as downtime: what was sent meanwhile is read all at once, and until then nobody's silence means
  /// anything.
  ///
  /// - Parameters:
  ///   - end: when it went on.
  ///   - instant: behind everything that was received before, and before everything that was received since.
  /// - Returns: what has become final.
  public mutating func pause(through end: Timestamp, at instant: Timestamp) -> [Event] {
    let instant = enter(at: instant)
    for index in shards.indices { shards[index].pause(through: end, at: instant, into: &output) }
    merger.pause(through: end, at: instant)
    return release(through: instant - .oneNanosecond)
  }

  /// Takes over an edited site: what it declares alike goes on as it was, and what applications added at run time stays.
  ///
  /// - Returns: what has become final.
  /// - Throws: the first refusal that the site meets, nothing having changed.
  public mutating func adopt(_ site: Site, at instant: Timestamp) throws(RegionRefusal) -> [Event] {
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
  public func tracks(_ query: TrackQuery) -> [TrackInsight] {
    Array(shards.flatMap { $0.tracks(query) }.sorted { $0.key < $1.key }.prefix(query.limit))
  }

  /// Where every beacon is that some observer of a zone hears, or that is in a zone.
  public func tags() -> [TagStanding] { merger.tagStandings() }

  /// The observers that are heard and do not count, in their order.
  public func quarantine() -> [QuarantinedObserver] {
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
