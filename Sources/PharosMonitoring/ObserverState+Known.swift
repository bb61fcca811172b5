import PharosReports

/// Adverts of one observer that were heard one after the other without anything else happening.
struct HeardRun {
  /// The receive time of the latest report of all.
  var latest: Timestamp
  /// What is received later must wait for a timer.
  let through: Timestamp
  /// How many were heard.
  var count = 0
  /// How many of them had no level.
  var withoutLevel = 0
  /// How many of them joined the sample before.
  var joined = 0
  /// What the last one asks for beyond its track.
  var attention: (track: Int, outcome: Track.Outcome, hearing: Hearing)?
  /// Whether something waits for proof of the observer's life.
  var isRestless = false
}

extension ObserverState {
  /// Hears adverts of tracks that are known, up to date and on time, as long as it can tell and nothing has to be done
  /// but in the tracks themselves.
  mutating func hear(
    _ reports: Span<Report>,
    _ plan: Span<Ahead>,
    _ run: inout HeardRun,
    catalog: borrowing RegionCatalog,
    filter: LevelFilterKind
  ) {
    guard isUp, scanState != .off else { return }
    let observer = plan[0].observer
    let borrowed = tracks.borrowed()
    for index in plan.indices {
      let ahead = plan[index]
      guard ahead.observer == observer, let track = borrowed[ahead.track],
        case .advert(let advert) = reports[index].body,
        track.pointee.epoch == epoch, track.pointee.isLive, track.pointee.beacon == ahead.beacon,
        let time = note(reports[index], &run)
      else { return }
      run.count += 1
      countAdvert()
      _ = life.advert(from: ahead.key, at: time)
      let hearing = Hearing(
        level: advert.rssi.map { Double($0.dBm) + rssiOffset },
        address: advert.address,
        advertisingSet: advert.advertisingSet,
        time: ReportTime(event: time, isLate: false)
      )
      if hearing.level == nil { run.withoutLevel += 1 }
      let outcome = track.pointee.heard(
        Track.Sample(
          time: time,
          level: hearing.level,
          key: hearing.sampleKey,
          second: second(of: time),
          silenceFrom: max(silenceFrom, life.reception.teachesFrom)
        ),
        power: Double(ahead.power),
        catalog: catalog,
        filter: filter,
        canTell: true
      )
      if outcome.hasJoined { run.joined += 1 }
      run.isRestless = isRestless()
      if !track.pointee.isSettled(outcome) { run.attention = (Int(ahead.track), outcome, hearing) }
      if run.attention != nil || run.isRestless || standsInZone { return }
    }
  }

  /// Takes note of a report that is in order, on time and before the next timer, and gives its event time; otherwise nil,
  /// and nothing is noted.
  private mutating func note(_ report: borrowing Report, _ run: inout HeardRun) -> Timestamp? {
    guard report.received >= run.latest, report.received <= run.through else { return nil }
    let age: TimeSpan
    switch report.timing {
    case .received: age = .zero
    case .age(let told): age = max(.zero, told)
    case .sent: return nil
    }
    guard age <= lag.lag else { return nil }
    run.latest = report.received
    lastReceived = report.received
    let time = report.received - age
    if time >= lagTeachesFrom { lag.note(age: age) }
    return time
  }
}

extension Track {
  /// Whether there is nothing to publish, to compute or to set a timer for: the deadline has only moved away, and the timer
  /// finds that out when it fires.
  func isSettled(_ outcome: Outcome) -> Bool {
    !outcome.needsAllowance && outcome.entered | outcome.confirmed == 0
      && (isCalm || armedAt != .distantFuture)
      && !hasLevels && (isListed || !needsSeconds)
  }
}

extension ObserverState {
  /// What a track's silence is judged by now; mutating, as otherwise it would be given a copy of the observer.
  mutating func silenceNow(of track: Int) -> AdaptiveSilence { silence(of: track) }

  /// The deadline of a track whose beacon was heard since its timer was set, which is nearly always so; nil if there is more
  /// to do than to set it again.
  mutating func movedDeadline(track: Int, catalog: borrowing RegionCatalog, now: Timestamp) -> Timestamp? {
    guard tracks[track].isLive, tracks[track].epoch == epoch,
      catalog.sets[Int(tracks[track].matchSet)].policies.count == 1
    else { return nil }
    guard tracks[track].first.isConfirmed, !tracks[track].first.isWaiting else { return nil }
    guard let deadline = deadline(0, track: track, catalog: catalog), deadline.time + lag.lag > now else {
      return nil
    }
    return deadline.time
  }
}
