import PharosReports

/// Reports that were heard one after the other without anything else happening.
struct HeardRun {
  /// The place of the next report.
  var next: Int
  /// The receive time of the latest report of all.
  var latest: Timestamp
  /// What is received later must wait for a timer.
  let through: Timestamp
  /// The place of the observer that was heard last.
  var observer: Int32 = -1
  /// How many of them were heads of datagrams.
  var heads = 0
  /// How many adverts nobody asks about.
  var unmatched = 0
  /// How many adverts had no level.
  var withoutLevel = 0
  /// How many adverts joined the sample before.
  var joined = 0
  /// What the last one asks for beyond its track.
  var attention: (track: Int, outcome: Track.Outcome, hearing: Hearing)?
  /// Whether something waits for proof of the observer's life.
  var isRestless = false

  init(from next: Int, latest: Timestamp, through: Timestamp) {
    self.next = next
    self.latest = latest
    self.through = through
  }
}

extension ObserverState {
  /// Hears the reports of one observer as long as they are in order, on time and before the next timer, and nothing has to
  /// be done but in the tracks themselves; true if the next report is another observer's.
  mutating func hear(
    _ reports: Span<Report>,
    _ plan: UnsafeBufferPointer<Ahead>,
    _ run: inout HeardRun,
    catalog: borrowing RegionCatalog,
    filter: LevelFilterKind
  ) -> Bool {
    guard isUp, scanState != .off, !isAwaited, version == catalog.version else { return false }
    // Of a datagram that came twice nothing is heard.
    guard !sequence.isRepeat else { return false }
    // What may have become restless is looked at after every report.
    let isWatched = !mayBeRestless
    let borrowed = tracks.borrowed()
    life.reception.places.makeUnique()
    guard let first = plan.baseAddress else { return false }
    while run.next < plan.count {
      let ahead = first + run.next
      guard ahead.pointee.observer == run.observer else { return true }
      guard ahead.pointee.received >= run.latest, ahead.pointee.received <= run.through else { return false }
      if ahead.pointee.way == .known {
        guard let track = borrowed[ahead.pointee.track],
          track.pointee.isKnown(as: ahead.pointee.beacon, epoch: epoch), let age = promptAge(ahead)
        else { return false }
        let time = note(ahead, age, &run)
        var plain = filter == .kalman ? hearPlainly(track, at: time, ahead) : .rest
        if plain == .rest, filter == .kalman, track.pointee.needsSeconds {
          plain = hearAndKeep(track, at: time, ahead)
        }
        switch plain {
        case .settled: break
        case .joined: run.joined += 1
        case .rest:
          let report = reports[unchecked: run.next]
          hearFully(track, at: time, ahead, report, &run, catalog: catalog, filter: filter)
        }
      } else if ahead.pointee.way == .stranger {
        guard let age = promptAge(ahead) else { return false }
        _ = note(ahead, age, &run)
        run.unmatched += 1
      } else {
        // The head of a datagram is nobody's sign of life, so what waits for one goes on waiting.
        guard take(headOf: reports[unchecked: run.next], &run) else { return false }
        run.next += 1
        guard !hasLifeToTell else { return false }
        continue
      }
      run.next += 1
      guard isWatched, run.attention == nil, !hasLifeToTell else {
        run.isRestless = isRestless()
        return false
      }
    }
    return false
  }

  /// How old an advert was when it was received, if it is not late; otherwise nothing is noted.
  @inline(__always)
  private mutating func promptAge(_ ahead: UnsafePointer<Ahead>) -> TimeSpan? {
    guard !ahead.pointee.isSent else {
      return promptAge(sent: ahead.pointee.sent, received: ahead.pointee.received)
    }
    return ahead.pointee.age <= lag.lag ? ahead.pointee.age : nil
  }

  @inline(never)
  private mutating func promptAge(sent: Timestamp, received: Timestamp) -> TimeSpan? {
    // A report that is late is told its age once more, on the long way.
    var clock = clock
    let age = clock.age(received: received, sent: sent)
    guard age <= lag.lag else { return nil }
    self.clock = clock
    return age
  }

  /// Takes note of an advert that is in order and on time, and gives its event time.
  @inline(__always)
  private mutating func note(
    _ ahead: UnsafePointer<Ahead>,
    _ age: TimeSpan,
    _ run: inout HeardRun
  ) -> Timestamp {
    run.latest = ahead.pointee.received
    lastReceived = ahead.pointee.received
    let time = ahead.pointee.received - age
    if time >= lagTeachesFrom { lag.note(age: age) }
    countAdvert()
    _ = life.advertUnshared(from: ahead.pointee.key, tag: ahead.pointee.tag, at: time)
    run.withoutLevel += ahead.pointee.hasLevel ? 0 : 1
    return time
  }

  /// Takes the head of a datagram, if it is the next one.
  private mutating func take(headOf report: Report, _ run: inout HeardRun) -> Bool {
    guard case .transmission(let head) = report.body, sequence.takeNext(head) else { return false }
    run.latest = report.received
    lastReceived = report.received
    datagramAt = report.received
    run.heads += 1
    return true
  }

  /// Hears a track's beacon, if there is no more to do than usual.
  @inline(__always)
  private mutating func hearPlainly(
    _ track: UnsafeMutablePointer<Track>,
    at time: Timestamp,
    _ ahead: UnsafePointer<Ahead>
  ) -> Track.Plain {
    track.pointee.heardPlainly(
      at: time,
      level: ahead.pointee.hasLevel ? Float(Double(ahead.pointee.level) + rssiOffset) : .nan,
      key: ahead.pointee.sampleKey,
      power: ahead.pointee.hasPower ? Float(ahead.pointee.power) : .nan,
      silenceFrom: max(silenceFrom, life.reception.teachesFrom)
    )
  }

  /// The same for a beacon whose seconds are kept.
  @inline(never)
  private mutating func hearAndKeep(
    _ track: UnsafeMutablePointer<Track>,
    at time: Timestamp,
    _ ahead: UnsafePointer<Ahead>
  ) -> Track.Plain {
    guard ahead.pointee.hasLevel else { return .rest }
    return track.pointee.heardAndKept(
      at: time,
      level: Double(ahead.pointee.level) + rssiOffset,
      key: ahead.pointee.sampleKey,
      power: ahead.pointee.hasPower ? Float(ahead.pointee.power) : .nan,
      silenceFrom: max(silenceFrom, life.reception.teachesFrom),
      second: second(of: time)
    )
  }

  /// Hears a track's beacon when there may be more to do than usual.
  @inline(never)
  private mutating func hearFully(
    _ track: UnsafeMutablePointer<Track>,
    at time: Timestamp,
    _ ahead: UnsafePointer<Ahead>,
    _ report: borrowing Report,
    _ run: inout HeardRun,
    catalog: borrowing RegionCatalog,
    filter: LevelFilterKind
  ) {
    let level: Double? = ahead.pointee.hasLevel ? Double(ahead.pointee.level) + rssiOffset : nil
    let outcome = track.pointee.heard(
      Track.Sample(
        time: time,
        level: level,
        key: ahead.pointee.sampleKey,
        second: second(of: time),
        silenceFrom: max(silenceFrom, life.reception.teachesFrom)
      ),
      power: ahead.pointee.hasPower ? Double(ahead.pointee.power) : nil,
      catalog: catalog,
      filter: filter,
      canTell: true
    )
    if outcome.hasJoined { run.joined += 1 }
    guard case .advert(let advert) = report.body else { return }
    let hearing = Hearing(
      level: level,
      address: advert.address,
      advertisingSet: advert.advertisingSet,
      time: ReportTime(event: time, isLate: false)
    )
    run.attention = (Int(ahead.pointee.track), outcome, hearing)
  }

  /// Whether something waits for proof of its life, or may have to be watched over with the next report.
  @inline(__always)
  private var mayBeRestless: Bool {
    !pendingTracks.isEmpty || !pendingRows.isEmpty
      || outageArmedAt == .distantFuture && life.mode != .assumed
  }

  /// Whether stage two is to be told that it lives.
  @inline(__always)
  private var hasLifeToTell: Bool { standsInZone && lifeToTell != nil }
}

extension ObserverState {
  /// Up to when it is known to live, if stage two has not been told so: once a second at most, as the silence of one that may
  /// be down is no evidence against its room.
  @inline(__always)
  var lifeToTell: Timestamp? {
    let lived = life.isAssumed ? .distantFuture : life.lastProof
    let proof = min(lived, life.reception.deafSince ?? .distantFuture)
    guard proof != lifeTold, proof < lifeTold || proof - lifeTold >= .milliseconds(1_000) else { return nil }
    return proof
  }
}

extension Track {
  /// Whether there is nothing to publish, to compute or to set a timer for: the deadline has only moved away, and the timer
  /// finds that out when it fires.
  package func isSettled(_ outcome: Outcome) -> Bool {
    !outcome.needsAllowance && outcome.entered | outcome.confirmed == 0
      && (isCalm || isArmed)
      && !hasLevels && (isListed || !needsSeconds)
  }
}
