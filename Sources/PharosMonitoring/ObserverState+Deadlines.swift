import PharosReports

/// When tracks count as gone unless they are heard before.
///
/// All work on the tracks in place: a function that is not mutating would be given a copy of the observer.
extension ObserverState {
  /// The first deadline of a track, or when it is forgotten if it has none.
  mutating func deadline(track: Int, catalog: borrowing RegionCatalog, retention: TimeSpan) -> Timestamp {
    guard let entry = tracks.borrowed()[Int32(track)] else { return .distantFuture }
    var first = Timestamp.distantFuture
    var isHere = false
    for place in 0..<entry.pointee.presenceCount where entry.pointee.isHere(at: place) {
      isHere = true
      guard !entry.pointee.isWaiting(at: place) else { continue }
      if let deadline = deadline(place, of: entry, catalog: catalog) { first = min(first, deadline.time) }
    }
    return isHere ? first : entry.pointee.lastHeard + retention
  }

  /// The deadline of one of a track's presences, if its silence says anything now.
  mutating func deadline(
    _ place: Int,
    track: Int,
    catalog: borrowing RegionCatalog
  ) -> (time: Timestamp, isLevel: Bool)? {
    guard let entry = tracks.borrowed()[Int32(track)] else { return nil }
    return deadline(place, of: entry, catalog: catalog)
  }

  /// The deadline of a track whose beacon was heard since its timer was set, which is nearly always so; nil if there is more
  /// to do than to set it again.
  mutating func movedDeadline(track: Int, catalog: borrowing RegionCatalog, now: Timestamp) -> Timestamp? {
    guard let entry = tracks.borrowed()[Int32(track)], entry.pointee.isLive, entry.pointee.epoch == epoch,
      entry.pointee.isSurelyHere, let deadline = deadline(0, of: entry, catalog: catalog),
      deadline.time + lag.lag > now
    else { return nil }
    return deadline.time
  }

  @inline(__always)
  private func deadline(
    _ place: Int,
    of track: UnsafeMutablePointer<Track>,
    catalog: borrowing RegionCatalog
  ) -> (time: Timestamp, isLevel: Bool)? {
    guard isUp, scanState != .off else { return nil }
    let since = max(track.pointee.lastHeard, silenceFrom)
    if let silence = track.pointee.plainDeadline(since: since, stretch: stretch) {
      return silence == .distantFuture ? nil : (silence + life.reception.spans.credit(since: since), false)
    }
    return fullDeadline(place, of: track, since: since, catalog: catalog)
  }

  @inline(never)
  private func fullDeadline(
    _ place: Int,
    of track: UnsafeMutablePointer<Track>,
    since: Timestamp,
    catalog: borrowing RegionCatalog
  ) -> (time: Timestamp, isLevel: Bool)? {
    // The first policy is read here, since to ask a track behind a pointer for one copies the track.
    let deadline = track.pointee.deadline(
      place,
      silenceFrom: silenceFrom,
      stretch: stretch,
      rules: catalog.policies[place == 0 ? Int(track.pointee.policy) : track.pointee.policy(at: place)]
    )
    guard let deadline, !deadline.isLevel else { return deadline }
    return (deadline.time + life.reception.spans.credit(since: since), false)
  }
}
