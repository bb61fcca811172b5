import Glibc
import PharosCaptures
package import PharosModel
package import PharosSecurity
package import PharosWire

/// The observers and beacons that one loop hears, registered or not: the first thing that the operator of a new gateway
/// wants to see.
///
/// It must add next to no cost to an advert: the loop passes it some adverts of some receive calls, with the number of
/// adverts that they represent. It decodes the first payload of a device, and a later one only if it is longer. A full
/// table evicts the entries that were heard longest ago, a few at a time, since the loop waits for it.
///
/// Of an unregistered device, which no region, ranging request, beacon's entry or zone names, the table keeps neither
/// address, name nor payload, only a pseudonym in place of the address and the content of public beacon frames. It
/// forgets the device `memory` after it was last heard.
package struct HeardTable {
  /// The maximum number of observers, and of their beacons.
  package static let capacity = 4_096
  /// The time for which an unregistered device is kept after it was last heard.
  ///
  /// Ten minutes: time to walk from a tag to a screen and back, and less than the fifteen after which phones change
  /// their addresses, so that the table never shows a passer-by for longer than the phone itself keeps its address.
  static let memory = TimeSpan.minutes(10)

  private struct Observer {
    /// Never used again, so that the beacons of a forgotten observer cannot pass to another.
    var number: UInt64
    /// The entry, without the rate.
    var entry: HeardObserver
    var reports: DecayingRate
  }

  /// An observer's number and what it hears: an address's pseudonym, or an identity where there is no address.
  private struct BeaconKey: Hashable {
    var observer: UInt64
    var device: Pseudonym?
    var identity: BeaconID?
  }

  private struct Beacon {
    var key: BeaconKey
    /// The entry, without the rate; address and name are nil where they are hidden.
    var entry: HeardBeacon
    /// Indicates whether the device is registered.
    var isKnown = false
    /// The lengths, plus one, of the payload that the identities are from and of the scan response that the name is
    /// from; zero to read again.
    var payloadLength = 0
    var scanResponseLength = 0
    var adverts: DecayingRate
  }

  private let capacity: Int
  private let pseudonym: PseudonymKey
  private var frames: FrameDecoder
  private var known: KnownDevices
  private var resolver: Resolver?
  /// Indicates whether unregistered devices are shown with address and name, for an installer; nothing is kept then.
  private var showsUnregistered = false
  private var nextNumber: UInt64 = 0
  /// The entries, found by the dictionaries beside them: one look-up an advert, and changes in place.
  private var observers: [Observer] = []
  private var observerPlaces: [ObserverID: Int] = [:]
  private var beacons: [Beacon] = []
  private var beaconPlaces: [BeaconKey: Int] = [:]
  /// The number of entries that were evicted to make room.
  package private(set) var evictions: UInt64 = 0
  /// The position at which the next eviction begins.
  private var hand = 0
  /// The time of the last eviction.
  private var evicted = Timestamp.distantPast

  /// Creates an empty table without registered devices.
  package init(
    iBeaconCompanies: [UInt16],
    capacity: Int = HeardTable.capacity,
    pseudonym: PseudonymKey = .ofProcess
  ) {
    self.capacity = capacity
    self.pseudonym = pseudonym
    frames = FrameDecoder(iBeaconCompanies: iBeaconCompanies)
    known = KnownDevices(Site(iBeaconCompanies: iBeaconCompanies))
  }

  /// Takes over the registered devices; hides those that are no longer registered at once.
  ///
  /// A device that is registered as before stays as it is; the payloads of others are read again.
  ///
  /// - Parameters:
  ///   - next: the devices that the site names.
  ///   - showsUnregistered: indicates whether unregistered devices are shown with address and name.
  package mutating func recognise(_ next: KnownDevices, showsUnregistered: Bool) {
    let readsAgain = next.iBeaconCompanies != known.iBeaconCompanies || next.beacons != known.beacons
    if readsAgain {
      frames = FrameDecoder(iBeaconCompanies: next.iBeaconCompanies)
      resolver = Resolver(site: Site(beacons: next.beacons))
    }
    known = next
    self.showsUnregistered = showsUnregistered
    for place in beacons.indices {
      let isKnown =
        beacons[place].entry.address.map { known.contains($0) } ?? false
        || beacons[place].entry.identities.contains { known.contains($0) }
      if readsAgain || !isKnown || !beacons[place].isKnown {
        beacons[place].payloadLength = 0
        beacons[place].entry.iBeaconCompany = nil
        beacons[place].scanResponseLength = 0
      }
      updateIdentity(place, isKnown: isKnown, nil)
    }
  }

  /// Forgets the unregistered devices that were not heard for `memory`.
  package mutating func forget(at time: Timestamp) {
    guard !showsUnregistered else { return }
    let cutoff = time - HeardTable.memory
    remove(beacons.indices.filter { !beacons[$0].isKnown && beacons[$0].entry.lastHeard < cutoff })
  }

  /// Removes every entry that names an erased subject.
  package mutating func forget(_ traces: SubjectTraces) {
    let device = traces.beacon.flatMap { $0.kind == .address ? $0.address : nil }.map { pseudonym($0) }
    remove(
      beacons.indices.filter { place in
        let beacon = beacons[place]
        return device != nil && beacon.key.device == device
          || traces.contains(beacon.entry.observer)
          || beacon.entry.identities.contains { traces.contains($0) }
          || beacon.key.identity.map { traces.contains($0) } ?? false
          || beacon.entry.address.map { traces.contains(BeaconID.address($0)) } ?? false
      }
    )
    for place in observers.indices.reversed() where traces.contains(observers[place].entry.id) {
      observerPlaces.removeValue(forKey: observers[place].entry.id)
      let last = observers.removeLast()
      guard place < observers.count else { continue }
      observers[place] = last
      observerPlaces[last.entry.id] = place
    }
  }

  /// Returns whether the table is too small for all that is heard: it evicted an entry in the last ten seconds.
  package func isCrowded(at time: Timestamp) -> Bool { time - evicted < .seconds(10) }

  /// Notes reports of one datagram.
  ///
  /// - Parameters:
  ///   - reports: the positions of the reports in the batch.
  ///   - batch: the batch.
  ///   - source: the source of the datagram.
  ///   - format: its format.
  ///   - weight: the number of reports that each of them represents.
  ///   - budget: the number of adverts that may still be examined; counted down.
  package mutating func record(
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
      observers[place].reports.record(at: report.received, weight: weight)
      switch report.body {
      case .advert(let advert):
        record(advert, payloadsOf: batch, by: place, at: report.received, weight: weight)
      case .rangedBeacon(let ranged):
        record(ranged, by: place, at: report.received, weight: weight)
      case .scanState, .wifiScan, .motion, .outsideFix, .relativePose, .visualStatus, .displayOn, .heartbeat,
        .transmission:
        break
      }
    }
  }

  /// All entries, decoded for people.
  package func heard(at time: Timestamp) -> Heard { Heard(merging: [unsorted(at: time)]) }

  /// All entries as they lie: the loop that hands them over waits for no sorting.
  func unsorted(at time: Timestamp) -> Heard {
    var heard = Heard()
    heard.observers = observers.map { observer in
      var entry = observer.entry
      entry.reportsPerSecond = observer.reports.perSecond(at: time)
      return entry
    }
    let cutoff = time - HeardTable.memory
    heard.beacons = beacons.compactMap { beacon in
      guard showsUnregistered || beacon.isKnown || beacon.entry.lastHeard >= cutoff else { return nil }
      var entry = beacon.entry
      if let identity = beacon.key.identity, !entry.identities.contains(identity) {
        entry.identities.insert(identity, at: 0)
      }
      entry.pseudonym = entry.address == nil ? beacon.key.device : nil
      entry.advertsPerSecond = beacon.adverts.perSecond(at: time)
      return entry
    }
    return heard
  }

  private mutating func place(
    of id: ObserverID,
    _ source: Endpoint,
    _ format: WireFormat,
    _ time: Timestamp
  ) -> Int {
    if let place = observerPlaces[id] {
      observers[place].entry.source = source
      observers[place].entry.format = format
      observers[place].entry.lastHeard = time
      return place
    }
    if observers.count >= capacity { evictObservers(at: time) }
    nextNumber += 1
    observerPlaces[id] = observers.count
    let entry = HeardObserver(
      id: id,
      source: source,
      format: format,
      firstHeard: time,
      lastHeard: time,
      reportsPerSecond: nil
    )
    observers.append(Observer(number: nextNumber, entry: entry, reports: DecayingRate(at: time)))
    return observers.count - 1
  }

  private mutating func record(_ ranged: RangedBeacon, by observer: Int, at time: Timestamp, weight: Double) {
    var key = BeaconKey(observer: observers[observer].number, device: nil, identity: ranged.beacon)
    // A bare address is hidden like any other.
    let address = ranged.beacon.kind == .address ? ranged.beacon.address : nil
    if let address {
      key.device = pseudonym(address)
      key.identity = nil
    }
    let place = update(key, by: observer, ranged.rssi, at: time, weight: weight)
    guard beacons[place].payloadLength == 0 else { return }
    beacons[place].payloadLength = 1
    updateIdentity(place, isKnown: known.contains(ranged.beacon), address)
    if address != nil, beacons[place].entry.address != nil {
      beacons[place].entry.identities = [ranged.beacon]
    }
  }

  private mutating func record(
    _ advert: Advert,
    payloadsOf batch: borrowing ReportBatch,
    by observer: Int,
    at time: Timestamp,
    weight: Double
  ) {
    let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
    let address = advert.address.map { resolver?.resolve($0) ?? $0 }
    var key = BeaconKey(
      observer: observers[observer].number,
      device: address.map { pseudonym($0) },
      identity: nil
    )
    if address == nil {
      let bytes = batch.payloads.span.bytes.extracting(range)
      guard let identity = frames.frames(in: bytes).lazy.compactMap(\.beacon).first else { return }
      key.identity = identity
    }
    let place = update(key, by: observer, advert.rssi, at: time, weight: weight)
    // One more, so that an empty payload is read once too.
    let length = range.count + 1
    if advert.pdu == .scanResponse {
      guard beacons[place].scanResponseLength < length else { return }
      beacons[place].scanResponseLength = length
      updateIdentity(
        place,
        isKnown: beacons[place].isKnown || (address.map { known.contains($0) } ?? false),
        address
      )
    } else {
      guard beacons[place].payloadLength < length else { return }
      beacons[place].payloadLength = length
      let bytes = batch.payloads.span.bytes.extracting(range)
      let found = frames.frames(in: bytes).compactMap(\.beacon)
      // Other frames of a beacon may be longer; they do not replace the beacon's identities.
      if !found.isEmpty { beacons[place].entry.identities = found }
      if let company = frames.unreadIBeaconCompany(in: bytes) {
        beacons[place].entry.iBeaconCompany = company
      }
      let isAsked =
        beacons[place].entry.identities.contains { known.contains($0) }
        || (key.identity.map { known.contains($0) } ?? false)
      updateIdentity(place, isKnown: isAsked || (address.map { known.contains($0) } ?? false), address)
    }
    guard beacons[place].isKnown || showsUnregistered else { return }
    let name = AdvertSummary(of: batch.payloads.span.bytes.extracting(range)).localName
    if advert.pdu == .scanResponse {
      beacons[place].entry.name = name ?? beacons[place].entry.name
    } else {
      beacons[place].entry.name = beacons[place].entry.name ?? name
    }
  }

  /// Shows the address and name of a registered device; hides those of others unless the table shows all.
  private mutating func updateIdentity(_ place: Int, isKnown: Bool, _ address: DeviceAddress?) {
    // Read the scan response again: it was skipped while the device was not registered.
    if isKnown, !beacons[place].isKnown { beacons[place].scanResponseLength = 0 }
    beacons[place].isKnown = isKnown
    if isKnown || showsUnregistered {
      beacons[place].entry.address = address ?? beacons[place].entry.address
    } else {
      beacons[place].entry.address = nil
      beacons[place].entry.name = nil
    }
  }

  private mutating func update(
    _ key: BeaconKey,
    by observer: Int,
    _ rssi: RSSI?,
    at time: Timestamp,
    weight: Double
  ) -> Int {
    if let place = beaconPlaces[key] {
      beacons[place].entry.lastHeard = time
      beacons[place].entry.rssi = rssi
      beacons[place].adverts.record(at: time, weight: weight)
      return place
    }
    if beacons.count >= capacity { evictBeacon(at: time) }
    var adverts = DecayingRate(at: time)
    adverts.record(at: time, weight: weight)
    let entry = HeardBeacon(
      observer: observers[observer].entry.id,
      address: nil,
      identities: [],
      name: nil,
      rssi: rssi,
      firstHeard: time,
      lastHeard: time,
      advertsPerSecond: nil
    )
    beaconPlaces[key] = beacons.count
    beacons.append(Beacon(key: key, entry: entry, adverts: adverts))
    return beacons.count - 1
  }
}

extension HeardTable {
  /// The number of adjacent beacons of which the one heard longest ago is evicted.
  ///
  /// Of eight, the oldest is among the oldest third of all in 96 cases of 100. Finding the oldest eighth of all at once
  /// delayed all received datagrams by ten milliseconds, once or more a second.
  private static let compared = 8
  /// The divisor of the capacity that gives the number of observers evicted at a time: finding the beacons that only
  /// they heard takes a scan of the whole table.
  private static let evictedShare = 64

  private mutating func evictBeacon(at time: Timestamp) {
    evicted = time
    evictions += 1
    if hand >= beacons.count { hand = 0 }
    var oldest = hand
    for place in hand..<min(hand + HeardTable.compared, beacons.count)
    where beacons[place].entry.lastHeard < beacons[oldest].entry.lastHeard {
      oldest = place
    }
    hand += HeardTable.compared
    remove([oldest])
  }

  private mutating func evictObservers(at time: Timestamp) {
    evicted = time
    var order: [(heard: Timestamp, place: Int)] = []
    order.reserveCapacity(observers.count)
    for place in observers.indices { order.append((observers[place].entry.lastHeard, place)) }
    order.sort { $0 < $1 }
    var gone: Set<UInt64> = []
    for place in order.prefix(max(1, capacity / HeardTable.evictedShare)).map(\.place).sorted(by: >) {
      gone.insert(observers[place].number)
      observerPlaces[observers[place].entry.id] = nil
      let last = observers.removeLast()
      guard place < observers.count else { continue }
      observers[place] = last
      observerPlaces[last.entry.id] = place
    }
    var theirs: [Int] = []
    for place in beacons.indices where gone.contains(beacons[place].key.observer) { theirs.append(place) }
    evictions += UInt64(gone.count + theirs.count)
    remove(theirs)
  }

  /// Takes out the entries at places in ascending order.
  ///
  /// The gaps are filled from the end, so that only what moves needs a new place.
  private mutating func remove(_ places: [Int]) {
    for place in places.reversed() {
      beaconPlaces.removeValue(forKey: beacons[place].key)
      let last = beacons.removeLast()
      guard place < beacons.count else { continue }
      beacons[place] = last
      beaconPlaces[last.key] = place
    }
  }
}

/// The recent rate of an occurrence: a count that decays.
///
/// Two numbers instead of a window of times. The estimate is corrected for how short the history is, so that it is
/// right from the second occurrence on.
struct DecayingRate: Sendable {
  /// The time constant of the decay, in seconds: ten seconds hold some ten adverts of a slow beacon and follow a change
  /// while an operator watches.
  static let memory = 10.0

  private var start: Timestamp
  private var last: Timestamp
  private var level = 0.0

  /// Starts counting.
  init(at time: Timestamp) {
    start = time
    last = time
  }

  /// Counts occurrences; `weight` is the number that this one represents.
  mutating func record(at time: Timestamp, weight: Double = 1) {
    level = level(at: time) + weight
    last = max(last, time)
  }

  /// Occurrences in a second, or nil as long as the history is shorter than that.
  func perSecond(at time: Timestamp) -> Double? {
    let age = (max(time, last) - start).seconds
    guard age >= 1 else { return nil }
    return level(at: time) / (DecayingRate.memory * (1 - exp(-age / DecayingRate.memory)))
  }

  private func level(at time: Timestamp) -> Double {
    let gap = (time - last).seconds
    return gap > 0 ? level * exp(-gap / DecayingRate.memory) : level
  }
}

/// The registered devices: those that a region, a ranging request, a beacon's entry or a zone names.
///
/// All other devices are unregistered: neither their addresses nor their names are kept.
package struct KnownDevices: Hashable, Sendable {
  private var constraints: Set<BeaconConstraint> = []
  /// The site's entries of beacons, some with the keys that resolve their addresses.
  let beacons: [BeaconEntry]
  /// The companies whose frames count as iBeacons.
  let iBeaconCompanies: [UInt16]

  /// Takes what a site names.
  package init(_ site: Site) {
    beacons = site.beacons
    iBeaconCompanies = site.iBeaconCompanies
    constraints.reserveCapacity(
      site.applications.reduce(site.beacons.count) { $0 + $1.regions.count + $1.ranging.count }
    )
    for application in site.applications {
      let regions = application.regions + application.rotation.flatMap(\.allRegions)
      constraints.formUnion(regions.compactMap { $0.constraint?.normal })
      constraints.formUnion(application.ranging.lazy.map { $0.constraint.normal })
    }
    constraints.formUnion(site.beacons.lazy.map { $0.constraint.normal })
    constraints.formUnion(site.zones.lazy.flatMap(\.beacons).map(\.normal))
  }

  /// Returns whether an address is registered.
  package func contains(_ address: DeviceAddress) -> Bool {
    constraints.contains(.address(DeviceAddress(bits: address.bits, kind: .unknown)))
  }

  /// Returns whether an identity, or its UUID or namespace, is registered.
  package func contains(_ identity: BeaconID) -> Bool {
    if let uuid = identity.uuid, let major = identity.major, let minor = identity.minor {
      return constraints.contains(.proximity(uuid))
        || constraints.contains(.proximity(uuid, major: major))
        || constraints.contains(.proximity(uuid, major: major, minor: minor))
        || constraints.contains(.proximity(uuid, minor: minor))
    }
    if let namespace = identity.namespace {
      return constraints.contains(.eddystone(namespace))
        || constraints.contains(.eddystone(namespace, instance: identity.instance))
    }
    return identity.address.map { contains($0) } ?? false
  }
}

extension PseudonymKey {
  /// The key of this process: drawn when it is first asked for, held in memory alone, and gone with the process.
  static let ofProcess = PseudonymKey(
    low: UInt64.random(in: .min ... .max),
    high: UInt64.random(in: .min ... .max)
  )
}
