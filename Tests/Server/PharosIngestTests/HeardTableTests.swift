import PharosCaptures
import PharosIngest
import PharosModel
import PharosSecurity
import PharosWire
import Testing

@Suite("The table of all that is heard")
struct HeardTableTests {
  let start = Timestamp(seconds: 1_780_000_000)
  let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 4_000)
  let gateway = ObserverID.eui48(0xAC23_3FA0_0001)

  @Test("shows a beacon at its first datagram, with the identity and name that its adverts carry")
  func showsBeacons() throws {
    var table = HeardTable(iBeaconCompanies: [])
    table.recognise(KnownDevices(site(.proximity(Samples.uuid))), showsUnregistered: false)
    var batch = ReportBatch()
    batch.appendAdvert(by: gateway, address: 1, rssi: -60, data: Samples.iBeacon(minor: 7), at: start)
    batch.appendAdvert(
      by: gateway,
      address: 1,
      rssi: -61,
      data: [5, 0x09] + Array("door".utf8),
      pdu: .scanResponse,
      at: start
    )
    record(batch, in: &table)
    let heard = table.heard(at: start)
    #expect(heard.observers.map(\.id) == [gateway])
    #expect(heard.observers.first?.source == source)
    #expect(heard.observers.first?.format == .raddec)
    let beacon = try #require(heard.beacons.first)
    #expect(heard.beacons.count == 1)
    #expect(beacon.identities == [.proximity(Samples.uuid, major: 1, minor: 7)])
    #expect(beacon.name == "door")
    #expect(beacon.address?.bits == 1)
    #expect(beacon.pseudonym == nil)
    #expect(beacon.rssi == RSSI(dBm: -61))
    #expect(beacon.advertsPerSecond == nil)
  }

  @Test("tells rates within a tenth after ten seconds, sampled or not", arguments: [1, 7])
  func reportsRates(sampling: Int) throws {
    var table = HeardTable(iBeaconCompanies: [])
    for step in 0..<1_000 where step % sampling == 0 {
      var batch = ReportBatch()
      let time = start + .milliseconds(Int64(step) * 10)
      batch.appendAdvert(by: gateway, address: 1, rssi: -60, data: Samples.iBeacon(minor: 7), at: time)
      record(batch, in: &table, weight: Double(sampling))
    }
    let heard = table.heard(at: start + .seconds(10))
    let observer = try #require(heard.observers.first?.reportsPerSecond)
    let beacon = try #require(heard.beacons.first?.advertsPerSecond)
    #expect(abs(observer - 100) < 10)
    #expect(abs(beacon - 100) < 10)
  }

  @Test("keeps devices without an address by the identity they carry, and ranged beacons too")
  func keysWithoutAddress() {
    var table = HeardTable(iBeaconCompanies: [])
    var batch = ReportBatch()
    let identity = BeaconID.proximity(Samples.uuid, major: 1, minor: 9)
    let ranged = RangedBeacon(beacon: identity, rssi: nil, accuracy: nil)
    batch.append(
      Report(
        observer: batch.index(of: gateway),
        received: start,
        timing: .received,
        body: .rangedBeacon(ranged)
      )
    )
    batch.appendAdvert(by: gateway, address: nil, rssi: -50, data: Samples.iBeacon(minor: 9), at: start)
    batch.appendAdvert(by: gateway, address: nil, rssi: -50, data: [2, 1, 6], at: start)
    record(batch, in: &table)
    let heard = table.heard(at: start)
    #expect(heard.beacons.map(\.identities) == [[identity]])
    #expect(heard.beacons.first?.address == nil)
  }

  @Test("stays within its bounds and keeps the latest, however many unknown devices pass")
  func staysBounded() {
    var table = HeardTable(iBeaconCompanies: [], capacity: 64)
    table.recognise(KnownDevices(Site()), showsUnregistered: true)
    for number in 0..<5_000 {
      var batch = ReportBatch()
      let time = start + .milliseconds(Int64(number))
      let observer = ObserverID.eui48(UInt64(number % 500))
      batch.appendAdvert(by: observer, address: UInt64(number), rssi: -60, data: [2, 1, 6], at: time)
      record(batch, in: &table)
    }
    let heard = table.heard(at: start + .seconds(5))
    #expect(heard.observers.count <= 64)
    #expect(heard.beacons.count <= 64)
    #expect(heard.beacons.contains { $0.address?.bits == 4_999 })
    #expect(table.evictions > 0)
  }

  @Test("a device that is heard all the time stays while hundreds of others come and go")
  func keepsTheLively() {
    var table = HeardTable(iBeaconCompanies: [], capacity: 64)
    table.recognise(KnownDevices(Site()), showsUnregistered: true)
    let residents = 0..<24
    for number in 0..<2_000 {
      var batch = ReportBatch()
      let time = start + .milliseconds(Int64(number))
      for resident in residents {
        batch.appendAdvert(by: gateway, address: UInt64(resident), rssi: -60, data: [2, 1, 6], at: time)
      }
      batch.appendAdvert(by: gateway, address: UInt64(1_000 + number), rssi: -60, data: [2, 1, 6], at: time)
      record(batch, in: &table)
    }
    let heard = Set(table.heard(at: start + .seconds(2)).beacons.compactMap { $0.address?.bits })
    #expect(heard.count == 64)
    #expect(residents.allSatisfy { heard.contains(UInt64($0)) })
    // Where eight residents lie side by side one of them goes, and comes back elsewhere.
    #expect((1_960...1_984).contains(table.evictions))
  }

  @Test("looks at only as many adverts as the budget allows")
  func keepsToItsBudget() {
    var table = HeardTable(iBeaconCompanies: [])
    var batch = ReportBatch()
    for address in 0..<10 {
      batch.appendAdvert(by: gateway, address: UInt64(address), rssi: -60, data: [2, 1, 6], at: start)
    }
    var budget = 4
    table.record(0..<10, of: batch, from: source, format: .json, weight: 1, budget: &budget)
    #expect(budget == 0)
    #expect(table.heard(at: start).beacons.count == 4)
  }

  @Test("takes an observer that two loops heard for one, with both rates")
  func mergesLoops() {
    var parts = [HeardTable(iBeaconCompanies: []), HeardTable(iBeaconCompanies: [])]
    for step in 0..<200 {
      var batch = ReportBatch()
      let time = start + .milliseconds(Int64(step) * 50)
      batch.appendAdvert(by: gateway, address: 1, rssi: -60, data: Samples.iBeacon(minor: 7), at: time)
      record(batch, in: &parts[step % 2])
    }
    let heard = Heard(merging: parts.map { $0.heard(at: start + .seconds(10)) })
    #expect(heard.observers.count == 1)
    #expect(heard.beacons.count == 1)
    #expect(heard.observers.first?.firstHeard == start)
    #expect(abs((heard.beacons.first?.advertsPerSecond ?? 0) - 20) < 2)
  }

  @Test("samples so that what is looked at stands for all there was")
  func samplerAddsUp() {
    var sampler = HeardSampler()
    var sum = 0.0
    var looks = 0
    for number in 0..<10_000 {
      guard let weight = sampler.look(at: start + .microseconds(Int64(number))) else { continue }
      looks += 1
      sum += weight
      sampler.budget -= 6
    }
    // What was saved up at first, and ten milliseconds' worth.
    let budget = HeardSampler.maximumBudget + 10 * HeardSampler.adverts
    #expect((budget - 16...budget + 6).contains(looks * 6), "\(looks) looks")
    #expect(sum <= 10_000 && sum >= 8_000)
  }

  @Test("a gateway that sends much at a time is looked at whole where there is little traffic")
  func looksAtWholes() {
    var traffic = Rhythm(gateways: 1)
    traffic.second()
    #expect(traffic.table.heard(at: traffic.now).beacons.count == Rhythm.beacons)
  }

  @Test("every beacon of gateways that keep to a rhythm is found, with its rate")
  func findsAllInRhythm() {
    var traffic = Rhythm(gateways: 100)
    for _ in 0..<60 { traffic.second() }
    let heard = traffic.table.heard(at: traffic.now)
    #expect(heard.beacons.count == 100 * Rhythm.beacons)
    let rates = heard.beacons.compactMap(\.advertsPerSecond)
    #expect(abs(rates.reduce(0, +) / Double(rates.count) - 1) < 0.1)
  }

  @Test("while more is heard than is shown, less is looked at")
  func spares() {
    var few = Rhythm(gateways: 100)
    var many = Rhythm(gateways: 100, capacity: 512)
    for _ in 0..<20 {
      few.second()
      many.second()
    }
    #expect(few.looks > 15_000)
    #expect(many.looks * 4 < few.looks)
    #expect(many.table.heard(at: many.now).beacons.count <= 512)
  }

  @Test("of an unknown device only a pseudonym and the content of public frames are shown")
  func hidesUnregistered() throws {
    let key = PseudonymKey(low: 3, high: 4)
    var table = HeardTable(iBeaconCompanies: [], pseudonym: key)
    var batch = ReportBatch()
    let telephone: UInt64 = 0x7C01_0203_0405
    let tag: UInt64 = 0xC0FF_EE00_0001
    let name: [UInt8] = [12, 0x09] + Array("Anna's phone".utf8.prefix(11))
    batch.appendAdvert(by: gateway, address: telephone, rssi: -60, data: [2, 1, 6] + name, at: start)
    batch.appendAdvert(by: gateway, address: telephone, rssi: -60, data: name, pdu: .scanResponse, at: start)
    batch.appendAdvert(by: gateway, address: tag, rssi: -70, data: Samples.iBeacon(minor: 7), at: start)
    record(batch, in: &table)
    let heard = table.heard(at: start).beacons
    #expect(heard.map(\.address) == [nil, nil])
    #expect(heard.map(\.name) == [nil, nil])
    #expect(heard.map(\.identities) == [[], [.proximity(Samples.uuid, major: 1, minor: 7)]])
    let expected = [telephone, tag].map { key(DeviceAddress(bits: $0, kind: .random)) }
    #expect(heard.map(\.pseudonym) == expected)
    // Nothing of it is anywhere in the table either.
    var dumped = ""
    dump(table, to: &dumped)
    for word in ["\(telephone)", "\(tag)", "Anna", "\(UInt8(ascii: "A")), \(UInt8(ascii: "n"))"] {
      #expect(!dumped.contains(word))
    }
  }

  @Test("an address that a site names is shown from then on, and hidden again when it is no longer named")
  func namesAndHides() {
    var table = HeardTable(iBeaconCompanies: [])
    let address = DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .unknown)
    var batch = ReportBatch()
    batch.appendAdvert(by: gateway, address: address.bits, rssi: -60, data: [2, 1, 6], at: start)
    record(batch, in: &table)
    #expect(table.heard(at: start).beacons.map(\.address) == [nil])
    table.recognise(KnownDevices(site(.address(address))), showsUnregistered: false)
    record(batch, in: &table)
    #expect(table.heard(at: start).beacons.map(\.address?.bits) == [address.bits])
    table.recognise(KnownDevices(Site()), showsUnregistered: false)
    #expect(table.heard(at: start).beacons.map(\.address) == [nil])
    table.recognise(KnownDevices(site(.address(address))), showsUnregistered: false)
    record(batch, in: &table)
    #expect(table.heard(at: start).beacons.map(\.address?.bits) == [address.bits])
    #expect(table.heard(at: start).beacons.count == 1)
  }

  @Test("an unknown device is forgotten ten minutes after it was last heard, a named one stays")
  func forgets() {
    var table = HeardTable(iBeaconCompanies: [])
    let known = DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .unknown)
    table.recognise(KnownDevices(site(.address(known))), showsUnregistered: false)
    for (second, bits) in [(0, known.bits), (0, 1), (60, 2), (300, 3)] as [(Int64, UInt64)] {
      var batch = ReportBatch()
      batch.appendAdvert(
        by: gateway,
        address: bits,
        rssi: -60,
        data: [2, 1, 6],
        at: start + .milliseconds(second * 1_000)
      )
      record(batch, in: &table)
    }
    func count(at second: Double) -> Int { table.heard(at: start + .seconds(second)).beacons.count }
    #expect(count(at: 600) == 4)
    #expect(count(at: 601) == 3)
    table.forget(at: start + .seconds(661))
    // Those that are gone are gone, whichever time is asked about.
    #expect(count(at: 0) == 2)
    table.forget(at: start + .seconds(100_000))
    #expect(table.heard(at: start).beacons.map(\.address?.bits) == [known.bits])
  }

  @Test("a tag that changes its address is one line, under its own")
  func resolves() throws {
    let key = try #require(IdentityKey("ec0234a357c8ad05341010a60a397d9b"))
    let own = DeviceAddress(bits: 0xAC23_3F00_0001, kind: .unknown)
    var table = HeardTable(iBeaconCompanies: [])
    let site = Site(beacons: [BeaconEntry(constraint: .address(own), identityKey: key)])
    table.recognise(KnownDevices(site), showsUnregistered: false)
    for prand: UInt32 in 0..<5 {
      var batch = ReportBatch()
      let address = try #require(key.resolvableAddress(prand: prand))
      batch.appendAdvert(
        by: gateway,
        address: address.bits,
        kind: .random,
        rssi: -60,
        data: [2, 1, 6],
        at: start
      )
      record(batch, in: &table)
    }
    #expect(table.heard(at: start).beacons.map(\.address?.bits) == [own.bits])
  }

  @Test("an erased beacon, address or observer is listed no longer; others are")
  func erases() throws {
    for (text, left) in [
      ("\(Samples.uuid)/1/7", [2]), ("mac:00:00:00:00:00:01", [2]), ("\(gateway)", []),
    ] as [(String, [UInt64])] {
      var table = HeardTable(iBeaconCompanies: [])
      table.recognise(KnownDevices(site(.proximity(Samples.uuid))), showsUnregistered: false)
      var batch = ReportBatch()
      for (address, minor) in [(UInt64(1), UInt16(7)), (2, 8)] {
        batch.appendAdvert(
          by: gateway,
          address: address,
          rssi: -60,
          data: Samples.iBeacon(minor: minor),
          at: start
        )
      }
      record(batch, in: &table)
      try #require(table.heard(at: start).beacons.count == 2)
      table.forget(try #require(SubjectTraces(text)))
      #expect(table.heard(at: start).beacons.compactMap(\.address?.bits) == left, "\(text)")
      #expect(table.heard(at: start).observers.isEmpty == left.isEmpty)
      record(batch, in: &table)
      #expect(table.heard(at: start).beacons.count == 2, "heard again after the erasure")
    }
  }

  private func site(_ constraint: BeaconConstraint) -> Site {
    Site(applications: [
      Application(identifier: "a", regions: [Region(identifier: "r", constraint: constraint)])
    ])
  }

  private func record(_ batch: ReportBatch, in table: inout HeardTable, weight: Double = 1) {
    var budget = 1_000
    table.record(
      0..<batch.reports.count,
      of: batch,
      from: source,
      format: .raddec,
      weight: weight,
      budget: &budget
    )
  }
}

/// Gateways that each send what they heard in a second in one datagram, all within the same tenth of it, and a table that
/// looks at them as a loop's does.
private struct Rhythm {
  /// How many beacons each of them hears, once a second.
  static let beacons = 24

  private let gateways: Int
  private(set) var table: HeardTable
  private var sampler = HeardSampler()
  private(set) var now = Timestamp(seconds: 1_780_000_000)
  /// How many adverts were looked at.
  private(set) var looks = 0

  init(gateways: Int, capacity: Int = HeardTable.capacity) {
    self.gateways = gateways
    table = HeardTable(iBeaconCompanies: [], capacity: capacity)
  }

  /// Hears a second of it.
  mutating func second() {
    for gateway in 0..<gateways {
      let time = now + .milliseconds(Int64(gateway))
      var batch = ReportBatch()
      for beacon in 0..<Rhythm.beacons {
        batch.appendAdvert(
          by: .eui48(UInt64(gateway)),
          address: UInt64(gateway * 100 + beacon),
          rssi: -60,
          data: [2, 1, 6],
          at: time
        )
      }
      guard let weight = sampler.look(at: time) else { continue }
      let part = sampler.part(of: 0..<Rhythm.beacons)
      looks += part.reports.count
      table.record(
        part.reports,
        of: batch,
        from: Endpoint(IPAddress(v4: 0x7F00_0001), port: 4_000),
        format: .pharos,
        weight: weight * part.weight,
        budget: &sampler.budget
      )
      sampler.isCrowded = table.isCrowded(at: time)
    }
    now = now + .seconds(1)
  }
}
