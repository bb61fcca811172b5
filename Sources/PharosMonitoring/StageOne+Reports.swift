import PharosAdvertising
import PharosEvents
import PharosReports

/// When a report happened, and whether it came too late to decide anything.
struct ReportTime {
  var event: Timestamp
  var isLate: Bool
}

extension StageOne {
  /// Handles a report of an observer that is known.
  mutating func handle(
    _ report: Report,
    of index: Int,
    in batch: borrowing ReportBatch,
    into output: inout StageOutput
  ) {
    if case .transmission(let head) = report.body {
      handle(head, of: index, into: &output)
      return
    }
    guard !states[index].isRepeated(at: current) else { return }
    let time = time(of: report, observer: index)
    if sensing != nil { sense(report, at: time, of: index, in: batch, into: &output) }
    switch report.body {
    case .advert(let advert):
      hear(advert, at: time, of: index, in: batch, into: &output)
    case .rangedBeacon(let ranged):
      hear(ranged, at: time, of: index, into: &output)
    case .heartbeat(let heartbeat):
      if states[index].life.heartbeat(heartbeat, at: time.event) { prove(time, of: index, into: &output) }
    case .scanState(let state):
      if states[index].life.other(at: time.event) { prove(time, of: index, into: &output) }
      scan(state, at: time, of: index, into: &output)
    case .displayOn:
      if states[index].life.other(at: time.event) { prove(time, of: index, into: &output) }
      if !time.isLate { displayOn(at: time.event, of: index, into: &output) }
    case .wifiScan, .motion, .outsideFix:
      if states[index].life.other(at: time.event) { prove(time, of: index, into: &output) }
    case .transmission:
      break
    }
    guard states[index].isRestless() else { return }
    settlePending(of: index, into: &output)
    watch(index)
  }

  /// The event time of a report, its age taken into the observer's lag.
  private mutating func time(of report: Report, observer index: Int) -> ReportTime {
    let age: TimeSpan
    switch report.timing {
    case .received: age = .zero
    case .age(let told): age = max(.zero, told)
    case .sent(let sent): age = states[index].clock.age(received: current, sent: sent)
    }
    let isLate = age > states[index].lag.lag
    if states[index].isUp, current - age >= states[index].lagTeachesFrom {
      states[index].lag.note(age: age)
    }
    if isLate {
      states[index].late += 1
      count { $0.late += 1 }
    }
    return ReportTime(event: current - age, isLate: isLate)
  }

  private mutating func handle(_ head: Transmission, of index: Int, into output: inout StageOutput) {
    let before = states[index].datagramAt
    states[index].datagramAt = current
    switch states[index].sequence.note(head) {
    case .next: break
    case .gap(let lost):
      count { $0.sequenceGaps += lost }
      if let before { excuse(lost, since: before, of: index) }
    case .reordered: count { $0.sequenceGaps -= $0.sequenceGaps == 0 ? 0 : 1 }
    case .repeated: count { $0.sequenceRepeats += 1 }
    case .staleBoot: count { $0.staleBoots += 1 }
    case .restarted:
      count { $0.restarts += 1 }
      defer {
        states[index].life.restarted(at: current)
        states[index].lagTeachesFrom = current
      }
      emit(
        .observerRestarted,
        ObserverTransition(lastHeard: states[index].life.provenAt, bootID: head.bootID),
        at: current,
        of: index,
        into: &output
      )
    }
  }

  /// How many datagrams more than came may have been lost before a sender is known to number most of them for somebody else.
  ///
  /// - Units: datagrams; two minutes' worth of a gateway that sends twice a second: a network that is gone a few times at the
  ///   beginning loses more than has come.
  private static let outagesAtFirst: UInt64 = 256

  /// Datagrams were lost on the way: what would have come in them is missing for no fault of any beacon.
  ///
  /// Only what makes a hole counts, two seconds or more. Where one in twenty is lost anyway, the tracks' own shares of
  /// reception know about that already, and it takes three in a row; a sender that numbers most of its datagrams for
  /// somebody else is not listened to at all, once that is known.
  private mutating func excuse(_ lost: UInt64, since before: Timestamp, of index: Int) {
    let sequence = states[index].sequence
    let span = current - before
    let lostBefore = sequence.lost - min(sequence.lost, lost)
    guard span >= .seconds(2), lostBefore <= sequence.received + StageOne.outagesAtFirst else { return }
    guard lost >= 3 || sequence.lost * 20 <= sequence.received + lost * 20 else { return }
    states[index].life.lost(from: before + span * (1 / Double(lost + 1)), to: current)
  }

  /// Hears an advert: each identity that it carries, and its address, may be a track.
  private mutating func hear(
    _ advert: Advert,
    at time: ReportTime,
    of index: Int,
    in batch: borrowing ReportBatch,
    into output: inout StageOutput
  ) {
    states[index].countAdvert()
    count {
      $0.adverts += 1
      if advert.rssi == nil { $0.withoutLevel += 1 }
    }
    let found = frames(of: advert, in: batch)
    if isLocated(index) { sense(advert, found, at: time, of: index, into: &output) }
    let key = transmitter(found.first?.beacon, advert.address)
    let isProof = states[index].life.advert(from: key, at: time.event)
    if !states[index].isUp || states[index].scanState == .off {
      wake(time, isProof: isProof, of: index, into: &output)
    }
    let hearing = Hearing(
      level: advert.rssi.map { Double($0.dBm) + states[index].rssiOffset },
      address: advert.address,
      advertisingSet: advert.advertisingSet,
      time: time
    )
    var isMatched = false
    if let first = found.first {
      isMatched = hear(first.beacon, power: first.power, hearing, of: index, into: &output)
    }
    for other in found.others {
      if hear(other.beacon, power: other.power, hearing, of: index, into: &output) { isMatched = true }
    }
    if catalog.hasAddresses, let address = advert.address, !address.isPrivate {
      if hear(.address(address), power: found.first?.power, hearing, of: index, into: &output) {
        isMatched = true
      }
    }
    if let millivolts = found.millivolts, let address = advert.address {
      tellBattery(millivolts, of: address, observer: index, at: time.event, into: &output)
    }
    count { if isMatched { $0.matched += 1 } else { $0.unmatched += 1 } }
  }

  private mutating func hear(
    _ ranged: RangedBeacon,
    at time: ReportTime,
    of index: Int,
    into output: inout StageOutput
  ) {
    states[index].countAdvert()
    let isProof = states[index].life.advert(from: KeyedHash.fold(ranged.beacon), at: time.event)
    if !states[index].isUp || states[index].scanState == .off {
      wake(time, isProof: isProof, of: index, into: &output)
    }
    let level = ranged.rssi.map { Double($0.dBm) + states[index].rssiOffset }
    var power: Double?
    if let level, let meters = ranged.accuracy {
      power = distance.measuredPower(level: level, meters: meters.value)
    }
    let hearing = Hearing(level: level, address: ranged.beacon.address, advertisingSet: 255, time: time)
    let isMatched = hear(ranged.beacon, power: power, hearing, of: index, into: &output)
    count {
      $0.adverts += 1
      if ranged.rssi == nil { $0.withoutLevel += 1 }
      if isMatched { $0.matched += 1 } else { $0.unmatched += 1 }
    }
  }

  private func frames(of advert: Advert, in batch: borrowing ReportBatch) -> FoundFrames {
    var found = FoundFrames()
    let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
    guard !range.isEmpty, range.upperBound <= batch.payloads.count else { return found }
    decoder.forEachFrame(in: batch.payloads.span.bytes.extracting(range)) { found.add($0) }
    return found
  }

  /// What stands for a transmitter when an observer's traffic is judged: its address if that lasts, since one tag may
  /// send frames of several kinds, else its identity.
  func transmitter(_ beacon: BeaconID?, _ address: DeviceAddress?) -> UInt64 {
    if let address, !address.isPrivate { return address.bits }
    return beacon.map(KeyedHash.fold) ?? address?.bits ?? 1
  }
}

/// One advert as the tracks of its identities see it.
struct Hearing {
  var level: Double?
  var address: DeviceAddress?
  var advertisingSet: UInt8
  var time: ReportTime

  /// What reports of one transmission share.
  var sampleKey: UInt64 { Hearing.sampleKey(address, advertisingSet) }

  /// What reports of one transmission from an address share.
  static func sampleKey(_ address: DeviceAddress?, _ advertisingSet: UInt8) -> UInt64 {
    guard let address else { return Hearing.namelessMark | UInt64(advertisingSet) << 48 }
    return address.bits | UInt64(advertisingSet) << 48 | (address.isPrivate ? Hearing.privateMark : 0)
  }

  /// Marks the key of an address that changes by itself.
  static let privateMark: UInt64 = 1 << 62

  /// Marks the key of an advert without an address.
  static let namelessMark: UInt64 = 1 << 63

  /// The address, if it lasts and can be part of a key.
  var keyAddress: DeviceAddress? { address.flatMap { $0.isPrivate ? nil : $0 } }
}

/// The identities of one advert: nearly always none or one, so that further ones may cost an allocation.
struct FoundFrames {
  /// An identity and its level at one metre.
  struct Identity {
    var beacon: BeaconID
    var power: Double?
  }

  /// The first identity.
  var first: Identity?
  /// The others, without repetitions.
  var others: [Identity] = []
  /// A battery's voltage in plain telemetry.
  var millivolts: UInt16?

  mutating func add(_ frame: Frame) {
    if case .eddystoneTLM(let telemetry) = frame { millivolts = telemetry.batteryMillivolts ?? millivolts }
    guard let beacon = frame.beacon else { return }
    let identity = Identity(beacon: beacon, power: frame.measuredPower.map(Double.init))
    guard let first else {
      first = identity
      return
    }
    guard first.beacon != beacon, !others.contains(where: { $0.beacon == beacon }) else { return }
    others.append(identity)
  }
}
