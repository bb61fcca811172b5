import CTrackTable
import PharosModel
import PharosWire

/// The facts about a report that are prepared before its turn comes: all that the usual path needs.
///
/// The engine first reads all identities of a window of reports, then all buckets of tables, then all tracks: so the
/// processor waits once for the memory of many reports instead of once for each. It checks a prepared track again
/// before use, since a report before this one may have made or removed a track.
///
/// `@unchecked`: the address of a bucket is good within the call that prepares a window and hears it.
struct PreparedAdvert: @unchecked Sendable {
  /// The path that a report takes.
  enum Path: UInt8 {
    /// The slow path: it says more than fits here, or its observer is new.
    case general
    /// An advert with one identity that may have a track.
    case tracked
    /// An advert that nothing asks about.
    case untracked
    /// The head of a datagram.
    case head
  }

  /// The number of reports that are prepared before the first of them is handled.
  static let window = 64

  /// The receive time.
  var received = Timestamp.distantPast
  /// The age at that time, or the event time by the sender's clock if ``isSent`` is true, in nanoseconds.
  var age: Int64 = 0
  /// The address and advertising set that reports of one transmission share.
  var sampleKey: UInt64 = 0
  /// The key of its transmitter, by which the observer's traffic is judged; for its digest see ``Reception/tag(of:)``.
  var transmitter: UInt64 = 0
  /// The identity within its scope, and the hash of both.
  var key: UInt64 = 0
  var hash: UInt64 = 0
  /// The number of the identity's scope.
  var scope: UInt32 = 0
  var transmitterTag: UInt32 = 0
  /// The bucket of the observer's table in which the search for the track begins.
  var bucket: UnsafePointer<UInt32>?
  /// The place of the observer, or −1.
  var observer: Int32 = -1
  /// The place of a track that may be the identity's.
  var track: Int32 = -1
  /// The level in dBm, or ``HotTrack/noLevel``.
  var level: Int8 = HotTrack.noLevel
  /// The level at one metre that the frame states, in dBm, or ``HotTrack/noLevel``; what is none otherwise differs from that
  /// of every track, and so takes the slow path.
  var power: Int8 = 0
  var path = Path.general
  /// Indicates whether its sender stated the event time by the sender's own clock.
  var isSent = false
  /// Indicates whether the address is a part of the identity.
  var isKeyed = false

  /// Indicates whether the address lasts, so that it may be a part of an identity.
  var hasLastingAddress: Bool { sampleKey & (Hearing.privateMark | Hearing.namelessMark) == 0 }
  /// The address.
  var address: UInt64 { sampleKey & 0xFFFF_FFFF_FFFF }
}

extension MonitoringEngine {
  /// Prepares the reports of a window, as many as `prepared` has room for.
  mutating func prepare(
    _ reports: Span<ReportEntry>,
    in batch: borrowing ReportBatch,
    _ prepared: UnsafeMutablePointer<PreparedAdvert>
  ) {
    read(reports, in: batch, prepared)
    observerEngines.withUnsafeBufferPointer {
      MonitoringEngine.find(prepared, count: reports.count, $0, &context)
    }
  }

  /// Finds the tracks of a window.
  private static func find(
    _ prepared: UnsafeMutablePointer<PreparedAdvert>,
    count: Int,
    _ observerEngines: UnsafeBufferPointer<ObserverEngine>,
    _ context: inout EngineContext
  ) {
    guard !context.catalog.hasKeys, !context.catalog.hasAddresses else {
      for index in 0..<count where prepared[index].path == .tracked || prepared[index].path == .untracked {
        findAmongAddresses(prepared + index, observerEngines[Int(prepared[index].observer)], &context)
        observerEngines[Int(prepared[index].observer)].tracks.borrowed.prefetch(prepared[index].track)
      }
      return
    }
    var observer: Int32 = -1
    var tracks = TrackRun.none
    for index in 0..<count where prepared[index].path == .tracked {
      let advert = prepared + index
      if advert.pointee.observer != observer {
        observer = advert.pointee.observer
        tracks = observerEngines[Int(observer)].tracks.borrowed
      }
      guard let bucket = advert.pointee.bucket else { continue }
      let place = TrackTable.candidate(UInt32(truncatingIfNeeded: advert.pointee.hash), in: bucket)
      advert.pointee.track = place
      if place >= 0 {
        tracks.prefetch(place)
      } else {
        findFurther(advert, observerEngines[Int(advert.pointee.observer)], &context)
      }
    }
  }

  /// Finds the track of an advert that is not in the first bucket.
  @inline(never)
  private static func findFurther(
    _ advert: UnsafeMutablePointer<PreparedAdvert>,
    _ observer: borrowing ObserverEngine,
    _ context: inout EngineContext
  ) {
    let hash = advert.pointee.hash
    if advert.pointee.track == -2 {
      advert.pointee.track = observer.table.candidate(UInt32(truncatingIfNeeded: hash))
      guard advert.pointee.track < 0 else { return observer.tracks.borrowed.prefetch(advert.pointee.track) }
    }
    // Whether its address can be a part of the key does not matter where nothing asks about keys.
    let isKnown = context.untracked.contains(hash, observer: advert.pointee.observer, isKeyable: false)
    advert.pointee.path = isKnown ? .untracked : .general
  }

  /// Reads the identities of a window.
  private mutating func read(
    _ reports: Span<ReportEntry>,
    in batch: borrowing ReportBatch,
    _ prepared: UnsafeMutablePointer<PreparedAdvert>
  ) {
    let payloads = batch.payloads.span.bytes
    let hash = context.hash
    let isPlain = !context.catalog.hasKeys && !context.catalog.hasAddresses
    var number = UInt32.max
    var observer: Int32 = -1
    var buckets: TrackBuckets?
    var transmitters = TransmitterHomes.none
    var scope = ScopeTable.none
    // The words of the proximity UUID that the scope is of, if it is of one.
    var last: (high: UInt64, low: UInt64, isKnown: Bool) = (0, 0, false)
    var isChanging = false
    var isBehind = false
    for index in reports.indices {
      let advert = prepared + index
      if reports[unchecked: index].observer != number {
        number = reports[unchecked: index].observer
        observer = prepare(observer: Int(number), in: batch)
        // What a handset hears is passed on, one by one.
        if context.sensing != nil, observer >= 0, observerEngines[Int(observer)].isHandset { observer = -1 }
        if observer >= 0 {
          buckets = observerEngines[Int(observer)].table.borrowed
          transmitters = observerEngines[Int(observer)].life.reception.places.homes
          isBehind = self.isBehind(Int(observer))
        }
      }
      advert.pointee.observer = observer
      advert.pointee.received = reports[unchecked: index].received
      advert.pointee.track = -1
      advert.pointee.path = .general
      guard observer >= 0, MonitoringEngine.times.contains(advert.pointee.received) else { continue }
      guard case .advert = reports[unchecked: index].kind else {
        if case .transmission = reports[unchecked: index].kind { advert.pointee.path = .head }
        continue
      }
      let start = Int(reports[unchecked: index].start)
      let range = start..<start &+ Int(reports[unchecked: index].length)
      guard range.upperBound <= payloads.byteCount else { continue }
      advert.prepare(reports[unchecked: index])
      if let (beacon, power) = FrameDecoder.soleIBeacon(in: payloads, at: range) {
        let words = beacon.words
        advert.record(beacon, power: power, transmitters)
        if words.high != last.high || words.low != last.low || !last.isKnown {
          last = (words.high, words.low, true)
          scope = context.catalog.scopes.number(of: BeaconScope(beacon))
          isChanging = context.changing.contains(scope)
        }
        // What ``ScopeTable/key(of:)`` gives for a proximity identity, without asking which sort it is.
        advert.pointee.key = words.tail & 0xFFFF_FFFF
      } else {
        last.isKnown = false
        switch context.decoder.soleIdentity(in: payloads.extracting(range)) {
        case .one(let beacon, let power):
          advert.record(beacon, power: power ?? HotTrack.noLevel, transmitters)
          scope = context.catalog.scopes.number(of: BeaconScope(beacon))
          isChanging = context.changing.contains(scope)
          advert.pointee.key = ScopeTable.key(of: beacon)
        case .none:
          let address = reports[unchecked: index].deviceAddress
          advert.recordTransmitter(ObserverEngine.transmitter(nil, address), transmitters)
          advert.pointee.power = HotTrack.noLevel
          // Where a region matches addresses, the adverts of an observer that is behind wait for it.
          advert.pointee.path = isBehind && !isPlain ? .general : .untracked
          advert.pointee.scope = ScopeTable.none
          continue
        case .more: continue
        }
      }
      // Without a level at one metre there is none to compare; an observer that is behind must catch up first.
      guard advert.pointee.power != HotTrack.noLevel, !isBehind || isPlain && !isChanging else { continue }
      advert.pointee.scope = scope
      advert.pointee.path = scope == ScopeTable.none ? .untracked : .tracked
      guard scope != ScopeTable.none || !isPlain else { continue }
      let hashed = hash(scope: scope, key: advert.pointee.key)
      advert.pointee.hash = hashed
      let bucket = buckets?.home(UInt32(truncatingIfNeeded: hashed))
      advert.pointee.bucket = bucket
      pharos_prefetch(bucket)
    }
  }

  /// Finds the track of an advert where regions ask about addresses: an advert then has up to three identities, and takes the usual path if at most one
  /// of them has a track: its frame's identity with the address, that identity alone unless the first replaces it, and the address.
  private static func findAmongAddresses(
    _ advert: UnsafeMutablePointer<PreparedAdvert>,
    _ observer: borrowing ObserverEngine,
    _ context: inout EngineContext
  ) {
    let (scope, key, plain) = (advert.pointee.scope, advert.pointee.key, advert.pointee.hash)
    let isLasting = advert.pointee.hasLastingAddress
    let address = advert.pointee.address
    let hasIdentity = advert.pointee.path == .tracked
    advert.pointee.path = .untracked
    var isSole = true
    if hasIdentity {
      var isReplaced = false
      if context.catalog.hasKeys, isLasting {
        let hash = context.hash(scope: scope, key: key, address: address)
        isSole = look(for: advert, scope, key, hash, isKeyed: true, observer, &context)
        if isSole, advert.pointee.track >= 0 {
          let track = observer.tracks[Int(advert.pointee.track)]
          isReplaced =
            track.isTrack(scope: scope, key: key, address: address)
            && context.catalog.sets[Int(track.cold.matchSet)].replacesPlain
        }
      }
      if isSole, !isReplaced {
        isSole = look(for: advert, scope, key, plain, isKeyed: false, observer, &context)
      }
    }
    if isSole, context.catalog.hasAddresses, isLasting {
      let hash = context.hash(scope: ScopeTable.addresses, key: address)
      isSole = look(for: advert, ScopeTable.addresses, address, hash, isKeyed: false, observer, &context)
    }
    if !isSole { advert.pointee.path = .general }
  }

  /// Looks for one identity of an advert.
  ///
  /// - Returns: false if the advert must take the general path.
  private static func look(
    for advert: UnsafeMutablePointer<PreparedAdvert>,
    _ scope: UInt32,
    _ key: UInt64,
    _ hash: UInt64,
    isKeyed: Bool,
    _ observer: borrowing ObserverEngine,
    _ context: inout EngineContext
  ) -> Bool {
    let place = observer.table.candidate(UInt32(truncatingIfNeeded: hash))
    guard place < 0 else {
      guard advert.pointee.track < 0 else { return false }
      advert.pointee.track = place
      (advert.pointee.scope, advert.pointee.key, advert.pointee.isKeyed) = (scope, key, isKeyed)
      advert.pointee.path = .tracked
      return true
    }
    let (number, isKeyable) = (advert.pointee.observer, advert.pointee.hasLastingAddress)
    if context.untracked.contains(hash, observer: number, isKeyable: isKeyable) { return true }
    guard scope == ScopeTable.addresses,
      !context.catalog.mayAsk(about: .address(DeviceAddress(bits: key, kind: .unknown)))
    else { return false }
    context.untracked.insert(hash, observer: number, isKeyable: isKeyable)
    return true
  }

  /// The place of a batch's observer, or −1 if it was never heard.
  private mutating func prepare(observer: Int, in batch: borrowing ReportBatch) -> Int32 {
    guard observer < placesOfBatch.count else { return -1 }
    if placesOfBatch[observer] >= 0 { return placesOfBatch[observer] }
    guard let place = place(of: batch.observers[observer]) else { return -1 }
    placesOfBatch[observer] = Int32(place)
    return Int32(place)
  }
}

extension UnsafeMutablePointer<PreparedAdvert> {
  /// Takes what stands in a report itself.
  @inline(__always)
  fileprivate func prepare(_ report: ReportEntry) {
    switch report.timeKind {
    case .received: (pointee.age, pointee.isSent) = (0, false)
    case .age: (pointee.age, pointee.isSent) = (max(0, report.time), false)
    case .sent: (pointee.age, pointee.isSent) = (report.time, true)
    }
    pointee.level = report.level
    pointee.sampleKey = Hearing.sampleKey(report)
    pointee.isKeyed = false
  }

  /// Records the level at one metre that the frame states, and of the transmitter: its address if that lasts, else its
  /// identity.
  @inline(__always)
  fileprivate func record(_ beacon: BeaconID, power: Int8, _ transmitters: TransmitterHomes) {
    pointee.power = power
    recordTransmitter(pointee.hasLastingAddress ? pointee.address : KeyedHash.fold(beacon), transmitters)
  }

  /// Records the key of the transmitter, and prefetches its history.
  @inline(__always)
  fileprivate func recordTransmitter(_ key: UInt64, _ transmitters: TransmitterHomes) {
    let tag = Reception.tag(of: key)
    pointee.transmitter = key
    pointee.transmitterTag = tag
    pharos_prefetch(transmitters.home(of: tag))
  }
}

extension UnsafePointer<PreparedAdvert> {
  /// Returns true if a track is the advert's, and its match set is up to date.
  @inline(__always)
  fileprivate func isTrack(_ track: TrackHandle, epoch: UInt16) -> Bool {
    guard (track.hot.scope ^ pointee.scope) | UInt32(track.hot.epoch ^ epoch) == 0,
      track.hot.key == pointee.key
    else {
      return false
    }
    guard track.hot.flags.contains(.keyed) || pointee.isKeyed else { return true }
    return track.hot.flags.contains(.keyed) && pointee.isKeyed
      && track.cold.sampleKey & 0xFFFF_FFFF_FFFF == pointee.address
  }
}

extension ObserverEngine {
  /// Hears reports as long as they are this observer's, in order, on time and before the next timer, and no track must be made.
  ///
  /// - Parameters:
  ///   - first: the prepared reports.
  ///   - count: the number of prepared reports.
  ///   - next: the first of them that was not heard yet; counted on.
  ///   - reports: the reports themselves.
  ///   - latest: the receive time of the latest report of all observers; counted on.
  ///   - counts: the counts of the run; counted on.
  ///   - context: the state that the observers share.
  mutating func receive(
    _ first: UnsafePointer<PreparedAdvert>,
    count: Int,
    _ next: inout Int,
    _ reports: Span<ReportEntry>,
    latest: inout Timestamp,
    _ counts: inout RunCounts,
    _ context: inout EngineContext
  ) {
    guard silenceIsEvidence, !isAwaited, !sequence.isRepeat,
      mayHear(at: first[next].received, context)
    else { return }
    tracks.makeUnique()
    life.reception.places.makeUnique()
    let borrowed = tracks.borrowed
    let epoch = UInt16(truncatingIfNeeded: context.epoch)
    while next < count {
      let advert = first + next
      let received = advert.pointee.received
      guard advert.pointee.observer == place, received >= latest, received <= context.timers.soonest,
        !life.uploads.isCollected
      else { return }
      if advert.pointee.path == .tracked {
        var found = advert.pointee.track
        var track = borrowed[found]
        if !advert.isTrack(track, epoch: epoch) {
          // Another identity with the same tag.
          guard let other = otherTrack(of: advert, epoch: epoch) else { return }
          found = other
          track = borrowed[found]
        }
        guard let age = promptAge(advert) else { return }
        latest = received
        context.current = received
        let time = Timestamp(nanoseconds: received.nanoseconds &- age)
        record(advert, at: time, age, &context)
        switch receiveFast(advert, track, at: time) {
        case .heard: break
        case .joined: counts.joined += 1
        case .notFast: receiveSlowly(advert, Int(found), at: time, reports, next, &context)
        }
        counts.withoutLevel += advert.pointee.level == HotTrack.noLevel ? 1 : 0
      } else if advert.pointee.path == .untracked {
        guard let age = promptAge(advert) else { return }
        latest = received
        context.current = received
        record(advert, at: Timestamp(nanoseconds: received.nanoseconds &- age), age, &context)
        counts.untracked += 1
        counts.withoutLevel += advert.pointee.level == HotTrack.noLevel ? 1 : 0
      } else {
        guard advert.pointee.path == .head, acceptNext(headOf: reports[unchecked: next]) else { return }
        latest = received
        context.current = received
        counts.heads += 1
      }
      // The head of a datagram is no sign of life.
      if mayBeUnsettled, advert.pointee.path != .head { endPending(&context) }
      next += 1
      counts.reports += 1
      if standsInZone || context.current <= watchedUntil { reportLife(&context) }
    }
  }

  /// The place of an advert's track that is not the one found by its tag, if there is one that is up to date.
  @inline(never)
  private func otherTrack(of advert: UnsafePointer<PreparedAdvert>, epoch: UInt16) -> Int32? {
    let place = table.find(UInt32(truncatingIfNeeded: advert.pointee.hash)) { place in
      advert.isTrack(tracks[Int(place)], epoch: epoch)
    }
    return place < 0 ? nil : place
  }

  /// Indicates whether anything waits for proof of life, or the silence is not watched over yet.
  @inline(__always)
  private var mayBeUnsettled: Bool { hasPending || outageTimer == .distantFuture }

  /// Hears an advert of a track by the fast path.
  @inline(__always)
  private mutating func receiveFast(
    _ advert: UnsafePointer<PreparedAdvert>,
    _ track: TrackHandle,
    at time: Timestamp
  ) -> TrackHandle.FastOutcome {
    let flags = track.hot.flags
    guard flags.rawValue & (HotTrack.Flags.fast.rawValue | HotTrack.Flags.fastWithSeconds.rawValue) != 0
    else {
      return .notFast
    }
    let before = track.hot.level
    let outcome = track.receiveFast(
      at: time,
      level: advert.pointee.level,
      offset: rssiOffset,
      tag: HotTrack.tag(of: advert.pointee.sampleKey),
      power: advert.pointee.power,
      silenceFrom: gapsFrom
    )
    if flags.contains(.fastWithSeconds), outcome != .notFast {
      keepSecond(of: track, outcome, before, at: time)
    }
    return outcome
  }

  @inline(never)
  private mutating func receiveSlowly(
    _ advert: UnsafePointer<PreparedAdvert>,
    _ place: Int,
    at time: Timestamp,
    _ reports: Span<ReportEntry>,
    _ number: Int,
    _ context: inout EngineContext
  ) {
    let report = reports[unchecked: number]
    let sample = TrackHandle.Sample(
      time: time,
      level: advert.pointee.level,
      offset: rssiOffset,
      key: advert.pointee.sampleKey,
      power: MeasuredPower.known(advert.pointee.power).map(Double.init),
      half: half(of: time),
      silenceFrom: gapsFrom,
      silenceIsEvidence: true
    )
    let address = report.deviceAddress.flatMap { $0.isPrivate ? nil : $0 }
    receive(sample, place, address: address, &context)
  }

  /// Keeps a sample that took the fast path in its second.
  @inline(never)
  private mutating func keepSecond(
    of track: TrackHandle,
    _ outcome: TrackHandle.FastOutcome,
    _ before: Int8,
    at time: Timestamp
  ) {
    let half = half(of: time)
    let level = Double(track.hot.level) + rssiOffset
    if outcome == .heard {
      let heard = track.hot.lastHeard
      track.changeExtras { $0.halves.add(number: half, at: heard, level: level) }
    } else if track.hot.level > before {
      let old = Double(Float(Double(before) + rssiOffset))
      track.changeExtras { $0.halves.raise(number: half, from: old, to: level) }
    }
  }

  /// Returns the age of an advert at its receive time, in nanoseconds; nil if it is late, and then nothing is noted.
  @inline(__always)
  private mutating func promptAge(_ advert: UnsafePointer<PreparedAdvert>) -> Int64? {
    guard !advert.pointee.isSent else { return promptAgeBySender(advert) }
    return advert.pointee.age <= lag.lag.nanoseconds ? advert.pointee.age : nil
  }

  @inline(never)
  private mutating func promptAgeBySender(_ advert: UnsafePointer<PreparedAdvert>) -> Int64? {
    // The age of a report that is late is taken again, on the slow path.
    var clock = clock
    let age = clock.age(received: advert.pointee.received, sent: Timestamp(nanoseconds: advert.pointee.age))
    guard age <= lag.lag else { return nil }
    self.clock = clock
    return age.nanoseconds
  }

  /// Records an advert that is in order and on time.
  @inline(__always)
  private mutating func record(
    _ advert: UnsafePointer<PreparedAdvert>,
    at time: Timestamp,
    _ age: Int64,
    _ context: inout EngineContext
  ) {
    lastReceived = advert.pointee.received
    let reach = advert.pointee.isSent ? max(age, clock.uploadSpan.nanoseconds) : age
    life.uploads.receive(at: lastReceived, age: TimeSpan(nanoseconds: reach))
    if time >= lagLearnsFrom || life.uploads.isKnown && life.uploads.covers(time) {
      if lag.record(age: TimeSpan(nanoseconds: age)) { rearmAll(&context) }
    }
    countAdvert()
    let tag = advert.pointee.transmitterTag
    let isTimed = advert.pointee.isSent || age != 0
    _ = life.advertUnshared(from: advert.pointee.transmitter, tag: tag, at: time, isTimed: isTimed)
  }

  /// Takes the head of a datagram, if it is the next one; it is no sign of life.
  private mutating func acceptNext(headOf report: ReportEntry) -> Bool {
    guard sequence.acceptNext(report.transmission) else { return false }
    lastReceived = report.received
    datagramAt = report.received
    return true
  }
}
