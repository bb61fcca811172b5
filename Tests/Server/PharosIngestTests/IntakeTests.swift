import PharosCaptures
import PharosDocuments
import PharosEncoders
import PharosIngest
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("The intake of a loop")
struct IntakeTests {
  let start = Timestamp(seconds: 1_780_000_000)
  let source = Endpoint(IPAddress(v4: 0x7F00_0001), port: 4_000)

  @Test(
    "sends each report to the shard of its observer, in order, whatever a datagram mixes",
    arguments: 1...4
  )
  func sortsByShard(shards: Int) throws {
    var generator = SeededGenerator(seed: UInt64(shards))
    for own in 0..<shards {
      var intake = Intake(shard: own, shards: shards, iBeaconCompanies: [])
      var decoder = DatagramDecoder()
      var reference = ReportBatch()
      for _ in 0..<100 {
        let receivers = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
          RaddecSighting.Receiver(
            observer: .eui48(UInt64.random(in: 0..<9, using: &generator)),
            rssi: RSSI(dBm: Int8.random(in: -90 ... -40, using: &generator))
          )
        }
        let sighting = RaddecSighting(
          transmitter: DeviceAddress(bits: 1, kind: .public),
          receivers: receivers,
          time: nil,
          packets: [RaddecSighting.Packet(pdu: .nonConnectable, data: Samples.iBeacon(minor: 3))]
        )
        let datagram = try #require(RaddecEncoder.encode(sighting))
        receive(datagram, by: &intake)
        _ = decoder.decode(datagram.span.bytes, received: start, into: &reference)
      }
      for shard in 0..<shards {
        let batch = shard == own ? intake.incoming : intake.outgoing[shard]
        let expected = reference.lines { $0.shard(of: shards) == shard }
        #expect(batch.lines { _ in true } == expected)
      }
      #expect(intake.outgoing[own].isEmpty)
      #expect(intake.decoder.counters == decoder.counters)
    }
  }

  @Test("records what was received whole, decoded or not, and nothing that was cut off")
  func recordsWholeDatagrams() {
    var intake = Intake(shard: 0, shards: 1, iBeaconCompanies: [])
    let good = Samples.raddec(observer: 1, minor: 1)
    receive(good, by: &intake)
    receive([1, 2, 3], by: &intake)
    receive(good, isTruncated: true, by: &intake)
    receive([], by: &intake)
    receive(good, isRecorded: false, by: &intake)
    #expect(intake.log.entries.map(\.end) == [good.count, good.count + 3, good.count + 3])
    #expect(intake.log.bytes == good + [1, 2, 3])
    #expect(intake.counters.datagrams == 5)
    #expect(intake.counters.truncated == 1)
    #expect(intake.incoming.reports.count == 2)
    #expect(intake.lines.map(\.reason) == [.unrecognised, .truncated, .empty])
  }

  private func receive(
    _ bytes: [UInt8],
    isTruncated: Bool = false,
    isRecorded: Bool = true,
    by intake: inout Intake
  ) {
    let call = Intake.Call(received: start, destination: source, isRecorded: isRecorded)
    _ = bytes.withUnsafeBytes { intake.receive($0, isTruncated: isTruncated, of: call) { source } }
  }
}

extension ReportBatch {
  /// The adverts of some observers as text, to compare batches whose indices differ.
  fileprivate func lines(where isWanted: (ObserverID) -> Bool) -> [String] {
    reports.compactMap { report in
      let observer = observers[Int(report.observer)]
      guard isWanted(observer), case .advert(let advert) = report.body else { return nil }
      let payload = payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
      return "\(observer) \(report.received) \(advert.rssi?.dBm ?? 0) \(Hex.text(payload))"
    }
  }
}
