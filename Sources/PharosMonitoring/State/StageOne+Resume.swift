public import PharosEvents
public import PharosReports

/// The start after a downtime.
extension StageOne {
  /// Goes on after a time in which nobody listened, from a state that was read or from nothing.
  ///
  /// The time since the state was written is no evidence: no exit, enter or outage follows from it. Silence, of beacons and
  /// of observers, begins anew, deadlines that were open get their whole time again, half-filled seconds of ranging are
  /// dropped, and gaps across the pause teach nothing. What was told after the state was written (`lastTold`) wins over it:
  ///
  /// - A row that is inside without a track that says so stays inside until live silence has lasted for the policy's
  ///   ceiling, or for its fixed time.
  /// - A row that is outside ends its tracks' presences without a word, so that they may enter again. Stage two is told of the
  ///   regions about beacons which ask by the same presences that nothing is known of the beacon any more.
  /// - Observers that are unknown here are known from then on. Such an observer is not taken to live for nothing: if it
  ///   stays silent, its regions become unmonitored.
  ///
  /// Counters go on from the instant in nanoseconds, as those of new rows do, so that no id is used twice whatever was told
  /// before the end. In the end the site that the engine was made with takes the place of the one that the state was written
  /// with, as ``adopt(_:at:into:)`` does it. Stage two is told of each observer that was up when it proves that it lives.
  ///
  /// - Parameters:
  ///   - instant: when the server started; a time before the state's is moved to it.
  ///   - lastTold: what was told after the state was written, or ever, if there is none: all words about beacons, and those
  ///     about this engine's own observers.
  ///   - output: what follows from an edited site.
  public mutating func resume(at instant: Timestamp, lastTold: LastTold, into output: inout StageOutput) {
    latest = max(latest, min(instant, StageOne.times.upperBound))
    current = latest
    wheel = TimerWheel()
    let floor = lastTold.latest.map { max($0, latest) } ?? latest
    for index in states.indices where states[index].isLive {
      states[index].interrupt(until: latest)
      raiseCounters(of: index, to: floor)
    }
    for word in lastTold.observers { heed(word, floor) }
    let slots = catalog.slotsByName
    for word in lastTold.regions {
      guard let slot = slots[word.application]?[word.region] else { continue }
      heed(word, slot: slot, floor, into: &output)
    }
    for index in states.indices where states[index].isLive { wind(index) }
    guard let site = awaitedSite else { return }
    awaitedSite = nil
    adopt(site, declaration.regionChanges(to: site), into: &output)
  }

  /// Nobody listened from an instant to a later one, as the process or the machine stood still.
  ///
  /// What was sent meanwhile lies in the sockets: until it is read, nobody's silence says anything. So all silence begins anew, as
  /// it does after a restart, and nothing else changes.
  ///
  /// - Parameters:
  ///   - end: up to when.
  ///   - received: behind everything that was received before it, and before everything that was received since.
  ///   - output: what was due before it.
  public mutating func pause(
    through end: Timestamp,
    at received: Timestamp,
    into output: inout StageOutput
  ) {
    let received = arrive(at: received, into: &output)
    let end = min(end, StageOne.times.upperBound)
    catchUpAll(into: &output)
    wheel = TimerWheel()
    // Timers are set by the end; what comes next may have been received a moment before it.
    current = max(end, received)
    for index in states.indices where states[index].isLive {
      states[index].interrupt(until: current)
      wind(index)
    }
    current = received
  }

  /// Lets all that ids are counted with go on behind an instant.
  private mutating func raiseCounters(of index: Int, to instant: Timestamp) {
    let floor = UInt64(bitPattern: max(instant.nanoseconds, 0))
    states[index].countsFrom = max(states[index].countsFrom, instant)
    states[index].ordinal = max(states[index].ordinal, floor)
    states[index].lifeCounter = max(states[index].lifeCounter, floor)
    states[index].rangingCounter = max(states[index].rangingCounter, floor)
    for row in states[index].rows.indices where states[index].rows[row].isLive {
      let own = floor &+ UInt64(states[index].rows[row].slot) &* 1_000
      states[index].rows[row].counter = max(states[index].rows[row].counter, own)
    }
  }

  /// Sets all timers of an observer for what is due from now on.
  private mutating func wind(_ index: Int) {
    for track in states[index].tracks.indices where states[index].tracks[track].isLive {
      rearm(track: track, of: index)
    }
    for row in states[index].rows.indices where states[index].rows[row].isLive {
      let entry = states[index].rows[row]
      if entry.state == .inside, entry.tracksInside == 0, entry.isActive {
        states[index].rows[row].patience = catalog.slots[Int(entry.slot)].region.presence.patience
        states[index].rows[row].decideAt = current + states[index].rows[row].patience
      } else if entry.decideAt != .distantFuture {
        states[index].rows[row].decideAt = current + entry.patience
      }
      arm(row: row, of: index)
    }
    watch(index)
    guard states[index].nextSecond != nil else { return }
    armSecond(states[index].second(of: current), of: index)
  }

  /// Tells stage two that an observer lives, at its first proof since the start.
  mutating func tellReturn(of index: Int, into output: inout StageOutput) {
    guard states[index].isUp else {
      // Its return from an outage will be told anyway.
      states[index].isAwaited = false
      return
    }
    guard let proof = states[index].life.provenAt, proof > states[index].life.silentFrom else { return }
    states[index].isAwaited = false
    link(isUp: true, at: proof, of: index, into: &output)
  }
}

extension RegionCatalog {
  /// The regions by application and identifier: there may be a word about each of many tags.
  var slotsByName: [String: [String: Int32]] {
    var names: [String: [String: Int32]] = [:]
    for place in slots.indices where slots[place].isLive {
      names[slots[place].application, default: [:]][slots[place].region.identifier] = Int32(place)
    }
    return names
  }
}

extension LastTold {
  /// When the latest of all words was decided.
  var latest: Timestamp? {
    let times = [
      regions.map(\.decidedAt).max(), zones.map(\.decidedAt).max(), observers.map(\.decidedAt).max(),
    ]
    return times.compactMap { $0 }.max()
  }
}

extension PresencePolicy {
  /// How long a visit of which no track is known goes on in live silence.
  ///
  /// The ceiling of what adaptive silence may come to, since nothing is known of the beacon.
  var patience: TimeSpan {
    switch silence {
    case .adaptive: max(silenceCeiling, silenceFloor, (stillInterval ?? .zero) * 3)
    case .fixed(let span): span
    case .never: .forever
    }
  }
}

extension ObserverState {
  /// Nobody listened up to a time.
  fileprivate mutating func interrupt(until time: Timestamp) {
    silenceFrom = max(silenceFrom, time)
    monitoringSince = max(monitoringSince, time)
    lagTeachesFrom = max(lagTeachesFrom, time)
    judgedAgainAt = .distantPast
    datagramAt = nil
    isAwaited = isUp
    lifeTold = .distantPast
    life.interrupted(until: time)
    sequence.interrupt()
    outageArmedAt = .distantFuture
    secondArmedAt = .distantFuture
    pendingTracks.removeAll()
    pendingRows.removeAll()
    for track in tracks.indices where tracks[track].isLive { tracks[track].interrupt() }
    tracks.disarm()
    for row in rows.indices {
      rows[row].armedAt = .distantFuture
      rows[row].isWaiting = false
    }
  }
}

extension Track {
  fileprivate mutating func interrupt() {
    for place in 0..<presenceCount { self[presence: place].interrupt() }
    seconds = SecondBuckets()
    isArmed = false
  }
}
