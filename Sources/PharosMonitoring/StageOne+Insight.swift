public import PharosReports

extension StageOne {
  /// What is known about a beacon at an observer; nil if the one or the other has no track here.
  ///
  /// A pure look for explanations: it changes nothing and is no part of the path of an advert.
  public func insight(observer: ObserverID, beacon: BeaconID) -> TrackInsight? {
    guard let index = observerTable.find(hash(observer), where: { states[$0].id == observer }) else {
      return nil
    }
    var state = states[index]
    guard state.isLive, let place = state.track(of: beacon, hash: hash(beacon)) else { return nil }
    guard state.tracks[place].isLive else { return nil }
    return insight(into: place, of: &state)
  }

  /// What is known about a track.
  func insight(into place: Int, of state: inout ObserverState) -> TrackInsight {
    let track = state.tracks[place]
    let losses = track.losses
    let level = track.level(filter)
    return TrackInsight(
      observer: state.id,
      beacon: track.beacon,
      lastHeard: track.lastHeard,
      samples: Int(track.samples),
      level: level,
      levelDeviation: level.map { _ in track.variance(filter).squareRoot() },
      interval: StageOne.span(track.intervals.interval),
      slowestInterval: StageOne.span(track.history.slowest),
      declaredInterval: track.declaredInterval.flatMap(StageOne.span),
      receptionShare: losses.received > 0 ? losses.share : nil,
      lossRun: losses.received > 0 ? losses.meanRun : nil,
      isTelling: state.canTell,
      silenceFrom: state.silenceFrom,
      regions: regions(of: place, in: &state)
    )
  }

  /// Where a track stands towards the regions that ask about it; a rotated region counts only while it is monitored.
  private func regions(of place: Int, in state: inout ObserverState) -> [RegionInsight] {
    let set = catalog.sets[Int(state.tracks[place].matchSet)]
    let askers = (set.regions + set.beaconRegions).sorted { $0.slot < $1.slot }
    return askers.compactMap { asker in
      let slot = catalog.slots[Int(asker.slot)]
      guard slot.isLive else { return nil }
      let presence = state.tracks[place][presence: Int(asker.place)]
      let rules = catalog.policies[Int(presence.policy)]
      let stretch = state.scanState == .windowed ? ObserverState.windowedStretch : 1
      let allowed = presence.allowed == .forever ? nil : presence.allowed * stretch
      let deadline = state.deadline(Int(asker.place), track: place, catalog: catalog)
      let silentSince = max(state.tracks[place].lastHeard, state.silenceFrom)
      return RegionInsight(
        application: slot.application,
        region: slot.region.identifier,
        isAboutBeacons: slot.region.subject != .observer,
        rules: rules,
        state: !presence.isHere ? .outside : presence.isConfirmed ? .inside : .unmonitored,
        since: presence.since,
        allowedGap: allowed,
        silenceDeadline: deadline == nil ? nil : allowed.map { silentSince + $0 },
        levelDeadline: deadline.flatMap { $0.isLevel ? $0.time : nil },
        isWaitingForProof: presence.isWaiting,
        enterLevel: presence.enterLevel.isFinite ? Double(presence.enterLevel) : nil,
        exitLevel: presence.exitLevel.isFinite ? Double(presence.exitLevel) : nil
      )
    }
  }

  private static func span(_ seconds: Float) -> TimeSpan? {
    seconds > 0 ? .seconds(Double(seconds)) : nil
  }
}
