import PharosModel
import PharosPresence

/// The history of one track apart from its decisions: silences that came near the deadline, dips, lone adverts.
struct TrackStory {
  /// A silence that ended in time.
  struct CloseCall {
    /// The start of the silence.
    var from: Timestamp
    /// The time at which the beacon was heard again.
    var until: Timestamp
    /// The silence that was allowed.
    var allowed: TimeSpan
    /// Indicates whether the deadline had passed, and only a proof that the observer lives was missing.
    var wasWaiting: Bool

    /// The silence.
    var gap: TimeSpan { until - from }
    /// The share of the allowed silence that was used up.
    var share: Double { gap / allowed }
  }

  /// A time during which the filtered level lay below the exit level, and which was no exit.
  struct Dip {
    var from: Timestamp
    var until: Timestamp
    /// The lowest filtered level in dBm.
    var lowest: Double
    /// The exit level in dBm.
    var exitLevel: Double
  }

  /// The samples of a beacon outside that caused no enter.
  struct Lone {
    /// The number of samples that counted for nothing.
    var count = 0
    /// The number of those samples that were below the enter level.
    var weak = 0
    /// The enter level in dBm, if there is one.
    var enterLevel: Double?
    /// The first ones that were loud enough but too few.
    var examples: [Timestamp] = []
    /// The latest of them, and what it takes to enter, if the beacon is outside at the end.
    var progress: EntryProgress?
  }

  /// The history of the track in one region.
  struct Waiting {
    /// The closest calls, the closest first.
    var closeCalls: [CloseCall] = []
    /// The longest dips, the longest first, and how many there were.
    var dips: [Dip] = []
    var dipCount = 0
    /// The samples heard while outside.
    var lone = Lone()
    fileprivate var openDip: Dip?
    fileprivate var heardOutside: [(time: Timestamp, isWeak: Bool)] = []
  }

  /// The maximum number of entries of each kind that the report lists.
  static let maximumEntries = 3
  /// A silence is close if it used up so much of what was allowed.
  static let closeShare = 0.5

  /// The number of samples of the track.
  private(set) var samples = 0
  /// The first and the last of them.
  private(set) var span: ClosedRange<Timestamp>?
  /// The history of the track in each region.
  private(set) var regions: [RegionKey: Waiting] = [:]
  /// The state of the track after its last report.
  private(set) var last: TrackInsight?

  /// A report of the beacon was taken: what was known before and after it, and how loud it was.
  mutating func receive(from before: TrackInsight?, to after: TrackInsight, level: Double?) {
    samples += after.samples != before?.samples ? 1 : 0
    span = (span?.lowerBound ?? after.lastHeard)...after.lastHeard
    last = after
    for region in after.regions {
      let key = RegionKey(application: region.application, region: region.region)
      let old = before?.regions.first { $0.region == region.region && $0.application == region.application }
      var waiting = regions[key] ?? Waiting()
      if let before, let old { waiting.recordSilence(before, old, until: after.lastHeard, region) }
      let isNew = after.samples != before?.samples
      if isNew || old?.state == .outside && region.state != .outside {
        waiting.recordLone(old, region, level: level, at: after.lastHeard)
      }
      waiting.lone.progress = region.entry
      waiting.recordDip(after, region)
      regions[key] = waiting
    }
  }
}

extension TrackStory.Waiting {
  fileprivate mutating func recordSilence(
    _ before: TrackInsight,
    _ old: RegionInsight,
    until time: Timestamp,
    _ new: RegionInsight
  ) {
    guard old.state == .inside, new.state == .inside, let allowed = old.allowedGap, allowed > .zero else {
      return
    }
    let call = TrackStory.CloseCall(
      from: max(before.lastHeard, before.silenceFrom),
      until: time,
      allowed: allowed,
      wasWaiting: old.isWaitingForProof
    )
    guard call.share >= TrackStory.closeShare || call.wasWaiting else { return }
    closeCalls.append(call)
    closeCalls.sort { ($0.share, $1.from) > ($1.share, $0.from) }
    if closeCalls.count > TrackStory.maximumEntries { closeCalls.removeLast() }
  }

  fileprivate mutating func recordDip(_ track: TrackInsight, _ region: RegionInsight) {
    guard region.state == .inside, let exit = region.exitLevel, let level = track.level else {
      openDip = nil
      return
    }
    guard level >= exit else {
      var dip =
        openDip
        ?? TrackStory.Dip(from: track.lastHeard, until: track.lastHeard, lowest: level, exitLevel: exit)
      dip.lowest = min(dip.lowest, level)
      dip.until = track.lastHeard
      openDip = dip
      return
    }
    guard var dip = openDip else { return }
    dip.until = track.lastHeard
    openDip = nil
    dipCount += 1
    dips.append(dip)
    dips.sort { ($0.until - $0.from, $1.from) > ($1.until - $1.from, $0.from) }
    if dips.count > TrackStory.maximumEntries { dips.removeLast() }
  }

  fileprivate mutating func recordLone(
    _ old: RegionInsight?,
    _ new: RegionInsight,
    level: Double?,
    at time: Timestamp
  ) {
    let wasOutside = old.map { $0.state == .outside } ?? true
    guard wasOutside else { return }
    guard new.state == .outside else {
      // The latest ones made up the entry, together with this one: as many as it takes, or all in regular distance.
      var accepted = max(0, new.rules.enterSamples - 1)
      if let entry = old?.entry, let last = heardOutside.last, time - last.time > entry.window {
        accepted = max(accepted, entry.heard)
      }
      while accepted > 0, let last = heardOutside.last {
        accepted -= last.isWeak ? 0 : 1
        if !last.isWeak { lone.remove(last.time) }
        heardOutside.removeLast()
      }
      heardOutside.removeAll()
      return
    }
    let isWeak = new.enterLevel.map { (level ?? -.infinity) < $0 } ?? false
    lone.count += 1
    lone.weak += isWeak ? 1 : 0
    lone.enterLevel = new.enterLevel
    if !isWeak, lone.examples.count <= TrackStory.maximumEntries { lone.examples.append(time) }
    heardOutside.append((time, isWeak))
    if heardOutside.count > 64 { heardOutside.removeFirst() }
  }
}

extension TrackStory.Lone {
  fileprivate mutating func remove(_ time: Timestamp) {
    count -= 1
    examples.removeAll { $0 == time }
  }
}

/// The adverts of one track and what its filter made of them, kept for a picture.
struct TrackTrace {
  /// One sample.
  struct Point {
    var time: Timestamp
    /// The level as heard, with the observer's offset, or not a number.
    var raw: Float
    /// The filtered level, or not a number.
    var level: Float
    /// Its standard deviation.
    var deviation: Float
  }

  /// The maximum number of points that are kept; beyond it, every second one is dropped.
  ///
  /// A picture has some thousand columns: 65,536 points are over fifty a column.
  static let maximumPoints = 65_536

  private(set) var points: [Point] = []
  private var stride = 1
  private var skipped = 0

  /// A report of the beacon was taken.
  mutating func receive(from before: TrackInsight?, to after: TrackInsight, level: Double?) {
    let point = Point(
      time: after.lastHeard,
      raw: level.map(Float.init) ?? .nan,
      level: after.level.map(Float.init) ?? .nan,
      deviation: after.levelDeviation.map(Float.init) ?? 0
    )
    guard after.samples != before?.samples else { return join(point) }
    skipped += 1
    // What ends a long silence is kept: it is what one looks for.
    let endsSilence = before.map { after.lastHeard - $0.lastHeard > .seconds(1) } ?? true
    guard skipped >= stride || endsSilence else { return }
    skipped = 0
    points.append(point)
    guard points.count > TrackTrace.maximumPoints else { return }
    points = points.enumerated().compactMap { $0.offset % 2 == 0 ? $0.element : nil }
    stride *= 2
  }

  /// Another report of the same transmission: the strongest counts.
  private mutating func join(_ point: Point) {
    guard let last = points.last, !(last.raw >= point.raw) else { return }
    points[points.count - 1].raw = point.raw
    points[points.count - 1].level = point.level
    points[points.count - 1].deviation = point.deviation
  }
}
