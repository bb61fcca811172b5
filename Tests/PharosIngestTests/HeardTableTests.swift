import PharosAdvertising
import PharosCaptures
import PharosReports
import PharosWire
import Testing

@testable import PharosIngest

@Suite("The table of all that is heard")
struct HeardTableTests {
  let start = Timestamp(seconds: 1_780_000_000)
  let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 4_000)
  let gateway = ObserverID.eui48(0xAC23_3FA0_0001)

  @Test("shows a stranger at its first datagram, with the identity and name that its adverts carry")
  func showsStrangers() throws {
    var table = HeardTable(iBeaconCompanies: [])
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
    note(batch, in: &table)
    let heard = table.heard(at: start)
    #expect(heard.observers.map(\.id) == [gateway])
    #expect(heard.observers.first?.source == source)
    #expect(heard.observers.first?.format == .raddec)
    let beacon = try #require(heard.beacons.first)
    #expect(heard.beacons.count == 1)
    #expect(beacon.identities == [.proximity(Samples.uuid, major: 1, minor: 7)])
    #expect(beacon.name == "door")
    #expect(beacon.rssi == RSSI(dBm: -61))
    #expect(beacon.advertsPerSecond == nil)
  }

  @Test("tells rates within a tenth after ten seconds, sampled or not", arguments: [1, 7])
  func tellsRates(sampling: Int) throws {
    var table = HeardTable(iBeaconCompanies: [])
    for step in 0..<1_000 where step % sampling == 0 {
      var batch = ReportBatch()
      let time = start + .milliseconds(Int64(step) * 10)
      batch.appendAdvert(by: gateway, address: 1, rssi: -60, data: Samples.iBeacon(minor: 7), at: time)
      note(batch, in: &table, weight: Double(sampling))
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
    note(batch, in: &table)
    let heard = table.heard(at: start)
    #expect(heard.beacons.map(\.identities) == [[identity]])
    #expect(heard.beacons.first?.address == nil)
  }

  @Test("stays within its bounds and keeps the latest, however many strangers pass")
  func staysBounded() {
    var table = HeardTable(iBeaconCompanies: [], capacity: 64)
    for number in 0..<5_000 {
      var batch = ReportBatch()
      let time = start + .milliseconds(Int64(number))
      let observer = ObserverID.eui48(UInt64(number % 500))
      batch.appendAdvert(by: observer, address: UInt64(number), rssi: -60, data: [2, 1, 6], at: time)
      note(batch, in: &table)
    }
    let heard = table.heard(at: start + .seconds(5))
    #expect(heard.observers.count <= 64)
    #expect(heard.beacons.count <= 64)
    #expect(heard.beacons.contains { $0.address?.bits == 4_999 })
    #expect(table.evictions > 0)
  }

  @Test("looks at no more adverts than the budget allows")
  func keepsToItsBudget() {
    var table = HeardTable(iBeaconCompanies: [])
    var batch = ReportBatch()
    for address in 0..<10 {
      batch.appendAdvert(by: gateway, address: UInt64(address), rssi: -60, data: [2, 1, 6], at: start)
    }
    var budget = 4
    table.note(0..<10, of: batch, from: source, format: .json, weight: 1, budget: &budget)
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
      note(batch, in: &parts[step % 2])
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
    #expect(looks == 20)
    #expect(sum <= 10_000 && sum >= 9_000)
  }

  private func note(_ batch: ReportBatch, in table: inout HeardTable, weight: Double = 1) {
    var budget = 1_000
    table.note(
      0..<batch.reports.count,
      of: batch,
      from: source,
      format: .raddec,
      weight: weight,
      budget: &budget
    )
  }
}
