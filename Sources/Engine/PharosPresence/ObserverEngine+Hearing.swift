import PharosModel
import PharosWire

/// The handling of any report by an observer; most adverts take a shorter path: see ``receive(_:count:_:_:latest:_:_:)``.
extension ObserverEngine {
  /// Handles a report.
  mutating func handle(_ report: Report, in batch: borrowing ReportBatch, _ context: inout EngineContext) {
    lastReceived = context.current
    tracks.makeUnique()
    let before = waits
    defer { waitsChanged(from: before, &context) }
    if case .transmission(let head) = report.body {
      handle(head, &context)
    } else if !(sequence.isRepeat && datagramAt == context.current) {
      // What is known of the uploads when an advert comes decides, so that it takes the same way in a run and alone.
      let isWhole = life.uploads.isWhole
      let time = time(of: report, &context)
      if !isHandset, report.body.isOfHandset, !standsInZone { becomeHandset(&context) }
      if context.sensing != nil {
        sense(report, at: time, in: batch, &context)
      } else if case .outsideFix(let fix) = report.body, !standsInZone {
        // Without a venue to locate it in, a handset is where its own fix says.
        pass(.outside(fix), at: time.event, &context)
      }
      if case .advert = report.body, isWhole, life.uploads.isWhole, !isHandset, !lag.isGiven {
        upload.append(report, at: time, from: batch)
        let due = max(life.uploads.readingAt, context.current)
        if upload.due == .distantFuture { upload.due = context.arm(due, observer: place, .upload) }
        if upload.times.count >= HeldUpload.capacity { readUpload(&context) }
        return
      }
      handle(report.body, at: time, in: batch, &context)
      endPending(&context)
    }
    passOnLife(&context)
  }

  /// Hears the adverts of an upload in the order of their times.
  mutating func readUpload(_ context: inout EngineContext) {
    let read = upload
    upload = HeldUpload()
    tracks.makeUnique()
    let before = waits
    defer { waitsChanged(from: before, &context) }
    for place in read.order {
      guard case .advert(let advert) = read.adverts.reports[place].body else { continue }
      receive(advert, at: read.times[place], in: read.adverts, &context)
      endPending(&context)
    }
    passOnLife(&context)
  }

  /// Reports to stage two what it has to know of the observer's life.
  private mutating func passOnLife(_ context: inout EngineContext) {
    if isAwaited { reportReturn(&context) }
    if standsInZone || context.current <= watchedUntil { reportLife(&context) }
  }

  private mutating func handle(
    _ body: ReportBody,
    at time: ReportTime,
    in batch: borrowing ReportBatch,
    _ context: inout EngineContext
  ) {
    switch body {
    case .advert(let advert): receive(advert, at: time, in: batch, &context)
    case .rangedBeacon(let ranged): receive(ranged, at: time, &context)
    case .heartbeat(let heartbeat):
      if life.heartbeat(heartbeat, at: time.event) { recover(at: time, &context) }
    case .scanState(let state):
      if life.other(at: time.event) { recover(at: time, &context) }
      scan(state, at: time, &context)
    case .displayOn:
      if life.other(at: time.event) { recover(at: time, &context) }
      if !time.isLate { displayOn(at: time.event, &context) }
    case .wifiScan, .motion, .outsideFix, .relativePose, .visualStatus:
      if life.other(at: time.event) { recover(at: time, &context) }
    case .transmission: break
    }
  }

  /// The event time of a report; its age is taken into the lag.
  private mutating func time(of report: Report, _ context: inout EngineContext) -> ReportTime {
    let (age, isSent): (TimeSpan, Bool)
    switch report.timing {
    case .received: (age, isSent) = (.zero, false)
    case .age(let stated): (age, isSent) = (max(.zero, stated), false)
    case .sent(let sent): (age, isSent) = (clock.age(received: context.current, sent: sent), true)
    }
    if case .advert = report.body {
      life.uploads.receive(at: context.current, age: isSent ? max(age, clock.uploadSpan) : age)
    }
    // What was heard since the upload before is on time, however long that is ago: it could not come earlier.
    let isOfUpload = !lag.isGiven && life.uploads.covers(context.current - age)
    let isLate = age > lag.lag && !isOfUpload
    if isUp && context.current - age >= lagLearnsFrom || isOfUpload && life.uploads.isKnown {
      if age > LagEstimator.maximumLag { lag.recordUpload(at: context.current) }
      lag.record(age: age)
    }
    if isLate {
      late += 1
      context.counters.late += 1
    }
    var event = context.current - age
    if case (.advert, .received) = (report.body, report.timing) { event = life.uploads.hearing(at: event) }
    return ReportTime(event: event, isLate: isLate, isTimed: isSent || age != .zero)
  }

  // MARK: Datagrams

  private mutating func handle(_ head: Transmission, _ context: inout EngineContext) {
    let before = datagramAt
    datagramAt = context.current
    switch sequence.record(head) {
    case .next: break
    case .gap(let lost):
      context.counters.sequenceGaps += lost
      if let before { excuse(lost, since: before, context.current) }
    case .reordered: context.counters.sequenceGaps -= context.counters.sequenceGaps == 0 ? 0 : 1
    case .repeated: context.counters.sequenceRepeats += 1
    case .conflicting: context.counters.sequenceConflicts += 1
    case .staleBoot: context.counters.staleBoots += 1
    case .restarted:
      context.counters.restarts += 1
      let transition = ObserverTransition(lastHeard: life.provenAt, bootID: head.bootID)
      emit(.observerRestarted, transition, at: context.current, &context)
      life.restarted(at: context.current)
      lagLearnsFrom = context.current
    }
  }

  /// The number of datagrams by which losses may exceed arrivals before a sender is known to number most of its
  /// datagrams for another receiver.
  ///
  /// - Units: datagrams; two minutes' worth of a gateway that sends twice a second.
  private static let outagesAtFirst: UInt64 = 256

  /// Datagrams were lost on the way: what would have come in them is missing for no fault of any beacon.
  ///
  /// Only what makes a hole of two seconds or more counts. Where one in twenty is lost anyway, the tracks' own shares of reception
  /// know about that already, and it takes three in a row. Any datagram of an upload may hold all that was heard of a beacon
  /// since the upload before, so the hole is all that time, whichever of them was lost.
  private mutating func excuse(_ lost: UInt64, since before: Timestamp, _ now: Timestamp) {
    let upload = life.uploads.knownStart(at: now)
    let span = now - (upload ?? before)
    let lostBefore = sequence.lost - min(sequence.lost, lost)
    guard span >= .seconds(2), lostBefore <= sequence.received + ObserverEngine.outagesAtFirst else { return }
    guard lost >= 3 || sequence.lost * 20 <= sequence.received + lost * 20 else { return }
    life.lost(from: upload ?? before + span * (1 / Double(lost + 1)), to: now)
  }

  // MARK: Adverts

  /// Hears an advert: each identity that it carries, and its address, may have a track.
  private mutating func receive(
    _ advert: Advert,
    at time: ReportTime,
    in batch: borrowing ReportBatch,
    _ context: inout EngineContext
  ) {
    countAdvert()
    context.counters.adverts += 1
    if advert.rssi == nil { context.counters.withoutLevel += 1 }
    let found = context.frames(of: advert, in: batch)
    if context.sensing != nil, isHandset, !standsInZone { sense(advert, found, at: time, &context) }
    let key = ObserverEngine.transmitter(found.first?.beacon, advert.address)
    let isProof = life.advert(from: key, at: time.event, isTimed: time.isTimed)
    if !isUp || scanState == .off { wake(at: time, isProof: isProof, &context) }
    let hearing = Hearing(
      level: advert.rssi.map { Double($0.dBm) },
      address: advert.address,
      advertisingSet: advert.advertisingSet,
      time: time
    )
    var isMatched = false
    if let first = found.first { isMatched = receive(first.beacon, power: first.power, hearing, &context) }
    for other in found.others where receive(other.beacon, power: other.power, hearing, &context) {
      isMatched = true
    }
    if context.catalog.hasAddresses, let address = hearing.keyAddress,
      receive(.address(address), power: found.first?.power, hearing, &context)
    {
      isMatched = true
    }
    if let millivolts = found.millivolts, let address = advert.address {
      reportBattery(millivolts, of: address, at: time.event, &context)
    }
    if isMatched { context.counters.matched += 1 } else { context.counters.unmatched += 1 }
  }

  private mutating func receive(_ ranged: RangedBeacon, at time: ReportTime, _ context: inout EngineContext) {
    countAdvert()
    let isProof = life.advert(from: KeyedHash.fold(ranged.beacon), at: time.event, isTimed: time.isTimed)
    if !isUp || scanState == .off { wake(at: time, isProof: isProof, &context) }
    var power = ranged.measuredPower.map { Double($0) }
    if power == nil, let rssi = ranged.rssi, let meters = ranged.accuracy {
      power = context.distance.measuredPower(level: Double(rssi.dBm) + rssiOffset, meters: meters.value)
        .flatMap { MeasuredPower.known($0) }
    }
    let hearing = Hearing(
      level: ranged.rssi.map { Double($0.dBm) },
      address: ranged.address ?? ranged.beacon.address,
      advertisingSet: 255,
      time: time
    )
    var isMatched = receive(ranged.beacon, power: power, hearing, &context)
    if context.catalog.hasAddresses, ranged.beacon.kind != .address, let address = hearing.keyAddress,
      receive(.address(address), power: power, hearing, &context)
    {
      isMatched = true
    }
    context.counters.adverts += 1
    if ranged.rssi == nil { context.counters.withoutLevel += 1 }
    if isMatched { context.counters.matched += 1 } else { context.counters.unmatched += 1 }
  }

  /// Returns the key of a transmitter, by which the observer's traffic is judged: its address if that lasts, since one
  /// tag may send frames of several kinds, otherwise its identity.
  static func transmitter(_ beacon: BeaconID?, _ address: DeviceAddress?) -> UInt64 {
    if let address, !address.isPrivate { return address.bits }
    return beacon.map(KeyedHash.fold) ?? address?.bits ?? 1
  }

  /// Hears one identity of an advert.
  ///
  /// - Returns: true if a region, ranging request or zone matches it.
  private mutating func receive(
    _ beacon: BeaconID,
    power: Double?,
    _ hearing: Hearing,
    _ context: inout EngineContext
  ) -> Bool {
    var isMatched = false
    if context.catalog.hasKeys, beacon.kind != .address, let address = hearing.keyAddress {
      let keyed = beacon.address == nil ? beacon.keyed(by: address) : beacon
      if let set = receiveOne(keyed, power: power, hearing, &context) {
        isMatched = true
        if context.catalog.sets[Int(set)].replacesPlain { return true }
      }
    }
    return receiveOne(beacon, power: power, hearing, &context) != nil || isMatched
  }

  /// Hears one key.
  ///
  /// - Returns: the match set of its track, or nil if nothing asks about it.
  private mutating func receiveOne(
    _ beacon: BeaconID,
    power: Double?,
    _ hearing: Hearing,
    _ context: inout EngineContext
  ) -> Int32? {
    let scope = context.catalog.scopes.number(of: BeaconScope(beacon))
    guard scope != ScopeTable.none else { return nil }
    let identity = TrackIdentity(beacon, scope: scope, context.hash)
    guard let place = track(identity, power: power, hearing, &context) else { return nil }
    return receive(place, power: power, hearing, &context)
  }

  /// The place of an identity's track, made now if anything asks about it and the report may count towards an entry.
  private mutating func track(
    _ identity: TrackIdentity,
    power: Double?,
    _ hearing: Hearing,
    _ context: inout EngineContext
  ) -> Int? {
    let known = table.find(UInt32(truncatingIfNeeded: identity.hash)) {
      tracks[Int($0)].isTrack(scope: identity.scope, key: identity.key, address: identity.address)
    }
    if known >= 0 {
      let place = Int(known)
      guard tracks[place].hot.epoch != UInt16(truncatingIfNeeded: context.epoch) else { return place }
      rematch(place, &context)
      return tracks[place].isLive ? place : nil
    }
    guard context.catalog.mayAsk(about: identity.beacon) else { return nil }
    let isKeyable = hearing.keyAddress != nil
    if context.untracked.contains(identity.hash, observer: place, isKeyable: isKeyable) { return nil }
    let set = context.catalog.match(identity.beacon, observer: id, isKeyable: isKeyable, version: version)
    guard !context.catalog.sets[Int(set)].isEmpty else {
      context.untracked.insert(identity.hash, observer: place, isKeyable: isKeyable)
      return nil
    }
    if hearing.time.isLate {
      let age = context.current - hearing.time.event
      guard age.seconds <= AdaptiveSilence.defaultWindow else { return nil }
      // The row of an observer that is down would begin with a state that was never published.
      guard silenceIsEvidence || context.catalog.sets[Int(set)].regions.isEmpty else { return nil }
    }
    return makeTrack(identity, power: power, set: set, at: hearing.time.event, &context)
  }

  /// Hears a track's beacon.
  private mutating func receive(
    _ place: Int,
    power: Double?,
    _ hearing: Hearing,
    _ context: inout EngineContext
  ) -> Int32 {
    let track = tracks[place]
    let set = track.cold.matchSet
    let time = hearing.time.event
    guard !hearing.time.isLate else {
      track.receiveLate(at: time, level: hearing.level.map { $0 + rssiOffset }, catalog: context.catalog)
      rearm(place, &context)
      return set
    }
    let sample = TrackHandle.Sample(
      time: time,
      level: hearing.level.map { Int8($0) } ?? HotTrack.noLevel,
      offset: rssiOffset,
      key: hearing.sampleKey,
      power: power,
      half: half(of: time),
      silenceFrom: gapsFrom,
      silenceIsEvidence: silenceIsEvidence
    )
    receive(sample, place, address: hearing.keyAddress, &context)
    return set
  }

  /// Hears a track's beacon on the slow path.
  @inline(never)
  mutating func receive(
    _ sample: TrackHandle.Sample,
    _ place: Int,
    address: DeviceAddress?,
    _ context: inout EngineContext
  ) {
    let track = tracks[place]
    if track.cold.marks.contains(.unallowed) { allow(track, &context) }
    let outcome = track.receive(sample, catalog: context.catalog) {
      self.silence(of: track)
    }
    if outcome.hasJoined { context.counters.joined += 1 }
    if let address, context.catalog.scopes[track.hot.scope].kind == .eddystone {
      record(address, of: place, limit: context.limits.tracksPerObserver, context.catalog.scopes)
    }
    attend(to: outcome, place, &context)
  }

  // MARK: Handsets

  /// Takes the observer for a handset: it has made a report that no gateway makes.
  private mutating func becomeHandset(_ context: inout EngineContext) {
    isHandset = true
    if context.sensing != nil { context.handsets &+= 1 }
    updateKind(context)
  }

  /// Passes on what a report other than an advert says about where its observer is.
  ///
  /// One that is at a known place, or in a zone, is no handset.
  private mutating func sense(
    _ report: Report,
    at time: ReportTime,
    in batch: borrowing ReportBatch,
    _ context: inout EngineContext
  ) {
    guard isHandset, !standsInZone else { return }
    switch report.body {
    case .wifiScan(let range):
      guard !range.isEmpty, Int(range.upperBound) <= batch.accessPoints.count else { return }
      let scan = batch.accessPoints[Int(range.lowerBound)..<Int(range.upperBound)]
      pass(.accessPoints(Array(scan)), at: time.event, &context)
    case .motion(let range):
      guard !range.isEmpty, Int(range.upperBound) <= batch.motionSamples.count else { return }
      let samples = batch.motionSamples[Int(range.lowerBound)..<Int(range.upperBound)]
      pass(.motion(Array(samples)), at: time.event, &context)
    case .outsideFix(let fix): pass(.outside(fix), at: time.event, &context)
    case .relativePose(let pose): pass(.relativePose(pose), at: time.event, &context)
    case .visualStatus(let status): pass(.visualStatus(status), at: time.event, &context)
    case .rangedBeacon(let ranged):
      guard let level = ranged.rssi else { return }
      let beacon = Sensing.Body.beacon(
        ranged.beacon,
        address: ranged.beacon.address,
        rssi: offset(level),
        accuracy: ranged.accuracy
      )
      pass(beacon, at: time.event, &context)
    case .advert, .scanState, .displayOn, .heartbeat, .transmission: break
    }
  }

  /// Passes on the identities of an advert that a handset heard.
  private mutating func sense(
    _ advert: Advert,
    _ found: borrowing FoundFrames,
    at time: ReportTime,
    _ context: inout EngineContext
  ) {
    guard let level = advert.rssi.map({ offset($0) }) else { return }
    let address = advert.address.flatMap { $0.isPrivate ? nil : $0 }
    var beacons: [BeaconID] = []
    if let first = found.first {
      beacons.append(first.beacon)
    } else if let address, context.sensing?.beaconAddresses.contains(address.bits) == true {
      beacons.append(.address(address))
    }
    beacons += found.others.map(\.beacon)
    for beacon in beacons {
      pass(.beacon(beacon, address: address, rssi: level, accuracy: nil), at: time.event, &context)
    }
  }

  private mutating func pass(_ body: Sensing.Body, at time: Timestamp, _ context: inout EngineContext) {
    context.counters.sensings &+= 1
    let sensing = Sensing(
      observer: id,
      time: time,
      decidedAt: context.current,
      ordinal: ordinals.next(at: context.current),
      body: body
    )
    context.output.links.append(.sensing(sensing))
  }

  /// A level with what the site adds to all that the observer hears.
  private func offset(_ level: RSSI) -> RSSI {
    guard rssiOffset != 0 else { return level }
    return RSSI(dBm: Int8(min(20, max(-127, (Double(level.dBm) + rssiOffset).rounded()))))
  }
}
