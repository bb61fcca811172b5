import PharosAdvertising
import PharosCaptures
import PharosReports
import PharosWire

/// What one loop hears, registered or not: the first thing that somebody with a new gateway wants to see.
///
/// It must cost the path of an advert next to nothing: the loop lets it look at some adverts of some receive calls
/// and says how many those stand for. What is new is stored with its payload; payloads are decoded only when somebody
/// looks. When a table is full, the eighth of it that was heard longest ago makes room.
struct HeardTable {
  /// How many observers, and how many of their beacons, are kept.
  static let capacity = 4_096

  private struct Observer {
    var id: ObserverID
    /// Never used again, so that the beacons of a forgotten observer cannot pass to another.
    var number: UInt64
    var source: Endpoint
    var format: WireFormat
    var firstHeard: Timestamp
    var lastHeard: Timestamp
    var reports: DecayingRate
  }

  /// An observer's number and what it hears: an address, or an identity where there is no address.
  private struct BeaconKey: Hashable {
    var observer: UInt64
    var address: UInt64
    var identity: BeaconID?
  }

  private struct Beacon {
    var key: BeaconKey
    var address: DeviceAddress?
    var payload: [UInt8]
    var scanResponse: [UInt8]
    var rssi: RSSI?
    var firstHeard: Timestamp
    var lastHeard: Timestamp
    var adverts: DecayingRate
  }

  private let capacity: Int
  private var frames: FrameDecoder
  private var nextNumber: UInt64 = 0
  /// The entries, found by the dictionaries beside them: one look-up an advert, and changes in place.
  private var observers: [Observer] = []
  private var observerPlaces: [ObserverID: Int] = [:]
  private var beacons: [Beacon] = []
  private var beaconPlaces: [BeaconKey: Int] = [:]
  /// How many entries were forgotten to make room.
  private(set) var evictions: UInt64 = 0

  /// Makes an empty table.
  init(iBeaconCompanies: [UInt16], capacity: Int = HeardTable.capacity) {
    self.capacity = capacity
    frames = FrameDecoder(iBeaconCompanies: iBeaconCompanies)
  }

  /// Takes over which companies' frames are read as iBeacons.
  mutating func recognise(_ iBeaconCompanies: [UInt16]) {
    frames = FrameDecoder(iBeaconCompanies: iBeaconCompanies)
  }

  /// Notes reports of one datagram.
  ///
  /// - Parameters:
  ///   - reports: which reports of the batch.
  ///   - batch: the batch.
  ///   - source: where the datagram came from.
  ///   - format: its format.
  ///   - weight: how many datagrams it stands for.
  ///   - budget: how many adverts may still be looked at; counted down.
  mutating func note(
    _ reports: Range<Int>,
    of batch: borrowing ReportBatch,
    from source: Endpoint,
    format: WireFormat,
    weight: Double,
    budget: inout Int
  ) {
    var known: (index: UInt32, place: Int)?
    for position in reports where budget > 0 {
      budget -= 1
      let report = batch.reports[position]
      let place: Int
      if let known, known.index == report.observer {
        place = known.place
      } else {
        place = self.place(of: batch.observers[Int(report.observer)], source, format, report.received)
        known = (report.observer, place)
      }
      observers[place].reports.note(at: report.received, weight: weight)
      let number = observers[place].number
      switch report.body {
      case .advert(let advert):
        note(advert, payloadsOf: batch, by: number, at: report.received, weight: weight)
      case .rangedBeacon(let ranged):
        let key = BeaconKey(observer: number, address: 0, identity: ranged.beacon)
        _ = update(key, nil, ranged.rssi, at: report.received, weight: weight)
      case .scanState, .wifiScan, .motion, .outsideFix, .displayOn, .heartbeat, .transmission:
        break
      }
    }
  }

  /// All entries, decoded for people.
  func heard(at time: Timestamp) -> Heard {
    var heard = Heard()
    heard.observers = observers.map { observer in
      HeardObserver(
        id: observer.id,
        source: observer.source,
        format: observer.format,
        firstHeard: observer.firstHeard,
        lastHeard: observer.lastHeard,
        reportsPerSecond: observer.reports.perSecond(at: time)
      )
    }
    let ids = Dictionary(uniqueKeysWithValues: observers.map { ($0.number, $0.id) })
    heard.beacons = beacons.compactMap { beacon in
      ids[beacon.key.observer].map { entry(beacon, heardBy: $0, at: time) }
    }
    return Heard(merging: [heard])
  }

  private func entry(_ beacon: Beacon, heardBy observer: ObserverID, at time: Timestamp) -> HeardBeacon {
    var identities = frames.frames(in: beacon.payload.span.bytes).compactMap(\.beacon)
    if let identity = beacon.key.identity, !identities.contains(identity) {
      identities.insert(identity, at: 0)
    }
    let names = [beacon.scanResponse, beacon.payload].map { AdvertSummary(of: $0.span.bytes).localName }
    return HeardBeacon(
      observer: observer,
      address: beacon.address,
      identities: identities,
      name: names.compactMap { $0 }.first,
      rssi: beacon.rssi,
      firstHeard: beacon.firstHeard,
      lastHeard: beacon.lastHeard,
      advertsPerSecond: beacon.adverts.perSecond(at: time)
    )
  }

  private mutating func place(
    of id: ObserverID,
    _ source: Endpoint,
    _ format: WireFormat,
    _ time: Timestamp
  ) -> Int {
    if let place = observerPlaces[id] {
      observers[place].source = source
      observers[place].format = format
      observers[place].lastHeard = time
      return place
    }
    if observers.count >= capacity { evictObservers() }
    nextNumber += 1
    observerPlaces[id] = observers.count
    observers.append(
      Observer(
        id: id,
        number: nextNumber,
        source: source,
        format: format,
        firstHeard: time,
        lastHeard: time,
        reports: DecayingRate(at: time)
      )
    )
    return observers.count - 1
  }

  private mutating func note(
    _ advert: Advert,
    payloadsOf batch: borrowing ReportBatch,
    by observer: UInt64,
    at time: Timestamp,
    weight: Double
  ) {
    let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
    var key = BeaconKey(
      observer: observer,
      address: advert.address.map { $0.bits | 1 << 63 } ?? 0,
      identity: nil
    )
    if advert.address == nil {
      let bytes = batch.payloads.span.bytes.extracting(range)
      guard let identity = frames.frames(in: bytes).lazy.compactMap(\.beacon).first else { return }
      key.identity = identity
    }
    let place = update(key, advert.address, advert.rssi, at: time, weight: weight)
    // A payload is copied when it is the first, or when it may say more than the one that is stored.
    if advert.pdu == .scanResponse {
      guard beacons[place].scanResponse.count < range.count else { return }
      beacons[place].scanResponse = Array(batch.payloads[range])
    } else {
      guard beacons[place].payload.count < range.count else { return }
      beacons[place].payload = Array(batch.payloads[range])
    }
  }

  private mutating func update(
    _ key: BeaconKey,
    _ address: DeviceAddress?,
    _ rssi: RSSI?,
    at time: Timestamp,
    weight: Double
  ) -> Int {
    if let place = beaconPlaces[key] {
      beacons[place].lastHeard = time
      beacons[place].rssi = rssi
      beacons[place].adverts.note(at: time, weight: weight)
      return place
    }
    if beacons.count >= capacity { evictBeacons() }
    var adverts = DecayingRate(at: time)
    adverts.note(at: time, weight: weight)
    beaconPlaces[key] = beacons.count
    beacons.append(
      Beacon(
        key: key,
        address: address,
        payload: [],
        scanResponse: [],
        rssi: rssi,
        firstHeard: time,
        lastHeard: time,
        adverts: adverts
      )
    )
    return beacons.count - 1
  }
}

extension HeardTable {
  private mutating func evictObservers() {
    let count = observers.count + beacons.count
    observers.sort { ($0.lastHeard, $0.number) > ($1.lastHeard, $1.number) }
    observers.removeLast(min(observers.count, max(1, capacity / 8)))
    let kept = Set(observers.map(\.number))
    beacons.removeAll { !kept.contains($0.key.observer) }
    findPlaces(count)
  }

  /// The gaps are filled from the end, so that only what moves needs a new place.
  private mutating func evictBeacons() {
    let order = beacons.indices.sorted {
      (beacons[$0].lastHeard, beacons[$0].key.observer, beacons[$0].key.address)
        < (beacons[$1].lastHeard, beacons[$1].key.observer, beacons[$1].key.address)
    }
    let stalest = order.prefix(max(1, capacity / 8)).sorted(by: >)
    evictions += UInt64(stalest.count)
    for place in stalest {
      beaconPlaces.removeValue(forKey: beacons[place].key)
      let last = beacons.removeLast()
      guard place < beacons.count else { continue }
      beacons[place] = last
      beaconPlaces[last.key] = place
    }
  }

  /// Counts what has gone of so many entries, and finds the places of those that stay.
  private mutating func findPlaces(_ before: Int) {
    evictions += UInt64(before - observers.count - beacons.count)
    observerPlaces = Dictionary(uniqueKeysWithValues: observers.enumerated().map { ($1.id, $0) })
    beaconPlaces = Dictionary(uniqueKeysWithValues: beacons.enumerated().map { ($1.key, $0) })
  }
}
