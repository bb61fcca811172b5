import PharosAdvertising
import PharosReports

/// Finding out what the reports to come will ask for.
///
/// First all identities, then all slots of tables, then all tracks: so the processor waits once for the memory of many
/// reports instead of once for each.
extension StageOne {
  /// How many reports are looked at before the first of them is handled.
  ///
  /// Enough for the memory to answer many questions at once, few enough that the answers are still at hand when their turn
  /// comes.
  static let window = 64

  /// Looks at a window of reports, as many as the plan has room for.
  mutating func lookAhead(_ reports: Span<Report>, in batch: borrowing ReportBatch, _ plan: inout [Ahead]) {
    readAhead(reports, in: batch, &plan)
    if catalog.hasKeys || catalog.hasAddresses {
      StageOne.findAmongAddresses(states, &plan, reports.count, catalog, hash, epoch, &strangers)
    } else {
      StageOne.findAhead(states, &plan, reports.count, catalog, epoch, &strangers)
    }
    touchedAhead ^= StageOne.touchAhead(states, plan, reports.count)
  }

  private mutating func readAhead(
    _ reports: Span<Report>,
    in batch: borrowing ReportBatch,
    _ plan: inout [Ahead]
  ) {
    let payloads = batch.payloads.span.bytes
    let hash = hash
    var number = UInt32.max
    var observer: Int32 = -1
    var view = plan.mutableSpan
    for index in reports.indices {
      let report = reports[unchecked: index]
      if report.observer != number {
        number = report.observer
        observer = placeAhead(of: Int(number), in: batch)
        // What a handset hears is passed on, one by one.
        if sensing != nil, observer >= 0, states[Int(observer)].isHandset { observer = -1 }
      }
      view[unchecked: index].observer = observer
      view[unchecked: index].received = report.received
      view[unchecked: index].track = -1
      view[unchecked: index].way = .long
      // A time that no clock means is held on the long way.
      guard observer >= 0, StageOne.times.contains(report.received) else { continue }
      guard case .advert(let advert) = report.body else {
        if case .transmission = report.body { view[unchecked: index].way = .head }
        continue
      }
      let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
      guard range.upperBound <= payloads.byteCount else { continue }
      view[unchecked: index].isSent = false
      switch report.timing {
      case .received: view[unchecked: index].age = .zero
      case .age(let told): view[unchecked: index].age = max(.zero, told)
      case .sent(let time):
        view[unchecked: index].age = TimeSpan(nanoseconds: time.nanoseconds)
        view[unchecked: index].isSent = true
      }
      view[unchecked: index].level = advert.rssi?.dBm ?? 0
      view[unchecked: index].hasLevel = advert.rssi != nil
      let sampleKey = Hearing.sampleKey(advert.address, advert.advertisingSet)
      view[unchecked: index].sampleKey = sampleKey
      // An address that lasts stands for the transmitter, whatever it sends.
      let isLasting = sampleKey & (Hearing.privateMark | Hearing.namelessMark) == 0
      var key = isLasting ? sampleKey & 0xFFFF_FFFF_FFFF : 0
      view[unchecked: index].hasPower = false
      let found: (beacon: BeaconID, measuredPower: Int8)
      if let sole = FrameDecoder.soleIBeacon(in: payloads, at: range) {
        found = sole
      } else {
        switch decoder.soleIdentity(in: payloads.extracting(range)) {
        case .one(let beacon, let measuredPower): found = (beacon, measuredPower)
        case .none:
          key = transmitter(nil, advert.address)
          view[unchecked: index].key = key
          view[unchecked: index].tag = Reception.tag(of: key)
          view[unchecked: index].way = .stranger
          continue
        case .more: continue
        }
      }
      view[unchecked: index].way = .known
      view[unchecked: index].beacon = found.beacon
      view[unchecked: index].power = found.measuredPower
      view[unchecked: index].hasPower = true
      view[unchecked: index].hash = hash(found.beacon)
      if !isLasting { key = KeyedHash.fold(found.beacon) }
      view[unchecked: index].key = key
      view[unchecked: index].tag = Reception.tag(of: key)
    }
  }

  private static func findAhead(
    _ states: [ObserverState],
    _ plan: inout [Ahead],
    _ count: Int,
    _ catalog: borrowing RegionCatalog,
    _ epoch: UInt32,
    _ strangers: inout [UInt64]
  ) {
    let states = states.span
    var view = plan.mutableSpan
    for index in 0..<count where view[unchecked: index].way == .known {
      let observer = Int(view[unchecked: index].observer)
      let hash = view[unchecked: index].hash
      let track = states[unchecked: observer].table.candidate(hash)
      view[unchecked: index].track = track
      guard track < 0 else { continue }
      // Whether it can be part of a key does not matter where nobody asks about keys.
      let mark = Stranger(hash, observer: observer, epoch: epoch, isKeyable: false)
      if strangers[mark.place] != mark.word {
        guard !catalog.mayAsk(about: view[unchecked: index].beacon) else {
          view[unchecked: index].way = .long
          continue
        }
        strangers[mark.place] = mark.word
      }
      view[unchecked: index].way = .stranger
    }
  }

  private static func touchAhead(_ states: [ObserverState], _ plan: [Ahead], _ count: Int) -> UInt64 {
    let states = states.span
    let view = plan.span
    var touched: UInt64 = 0
    for index in 0..<count where view[unchecked: index].way != .long {
      let observer = Int(view[unchecked: index].observer)
      if view[unchecked: index].track >= 0 {
        touched ^= states[unchecked: observer].tracks.touch(Int(view[unchecked: index].track))
      }
      touched ^= states[unchecked: observer].life.reception.touch(view[unchecked: index].tag)
    }
    return touched
  }

  /// The place of a batch's observer, or −1 if it was never heard.
  @inline(never)
  private mutating func placeAhead(of observer: Int, in batch: borrowing ReportBatch) -> Int32 {
    guard observer < placesOfBatch.count else { return -1 }
    if placesOfBatch[observer] >= 0 { return placesOfBatch[observer] }
    // Nearly all gateways have an EUI-48, and two words tell whether it is the one.
    if case .eui48(let bits) = batch.observers[observer] {
      let place = observerTable.candidate(hash(eui48: bits))
      if place >= 0, case .eui48(bits) = states[Int(place)].id {
        placesOfBatch[observer] = place
        return place
      }
    }
    guard let place = place(of: batch.observers[observer]) else { return -1 }
    placesOfBatch[observer] = Int32(place)
    return Int32(place)
  }
}
