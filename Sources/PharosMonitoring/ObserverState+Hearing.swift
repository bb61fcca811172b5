import PharosReports

/// What became of an advert of one identity.
enum HeardOutcome {
  /// There is no track of it, or who asks about it must be looked up again.
  case stranger
  /// All is done: the match set, and whether the report joined a sample.
  case settled(set: Int32, hasJoined: Bool)
  /// There is something to publish, to compute or to set a timer for.
  case attention(track: Int, Track.Outcome)
}

/// The path of nearly every advert: one probe, one track, nothing else.
///
/// It works on one observer in place: a function that is not mutating would be given a copy of the whole.
extension ObserverState {
  /// The track of an identity.
  mutating func track(of beacon: BeaconID, hash: UInt64) -> Int? {
    table.find(hash) { tracks[$0].beacon == beacon }
  }

  /// Hears an identity, if it has a track that is up to date.
  mutating func hear(
    _ beacon: BeaconID,
    hash: UInt64,
    power: Double?,
    _ hearing: Hearing,
    catalog: borrowing RegionCatalog,
    filter: LevelFilterKind
  ) -> HeardOutcome {
    guard let track = track(of: beacon, hash: hash), tracks[track].epoch == epoch else { return .stranger }
    return hear(track: track, power: power, hearing, catalog: catalog, filter: filter)
  }

  /// Hears a track's beacon.
  mutating func hear(
    track: Int,
    power: Double?,
    _ hearing: Hearing,
    catalog: borrowing RegionCatalog,
    filter: LevelFilterKind
  ) -> HeardOutcome {
    let time = hearing.time.event
    guard !hearing.time.isLate else {
      tracks[track].heardLate(at: time, places: catalog.sets[Int(tracks[track].matchSet)].policies.count)
      return .attention(track: track, Track.Outcome())
    }
    let sample = Track.Sample(
      time: time,
      level: hearing.level,
      key: hearing.sampleKey,
      second: second(of: time),
      silenceFrom: max(silenceFrom, life.reception.teachesFrom)
    )
    let outcome = tracks[track].heard(
      sample,
      power: power,
      catalog: catalog,
      filter: filter,
      canTell: isUp && scanState != .off
    )
    // Otherwise the deadline has only moved away, and the timer finds that out when it fires.
    let isQuiet =
      !outcome.needsAllowance && outcome.entered | outcome.confirmed == 0
      && tracks[track].isArmed && !tracks[track].hasLevels
      && (tracks[track].isListed || !tracks[track].needsSeconds)
    guard isQuiet else { return .attention(track: track, outcome) }
    return .settled(set: tracks[track].matchSet, hasJoined: outcome.hasJoined)
  }

  /// Whether what is received at an instant belongs to a datagram that came twice.
  func isRepeated(at received: Timestamp) -> Bool { sequence.isRepeat && datagramAt == received }

  /// By how much silence is stretched now.
  var stretch: Double { scanState == .windowed ? ObserverState.windowedStretch : 1 }
}
