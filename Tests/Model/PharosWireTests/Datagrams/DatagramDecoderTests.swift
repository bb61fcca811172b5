import FuzzWire
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("Decoding and counting")
struct DatagramDecoderTests {
  @Test("datagrams, reports and refusals are counted by format and reason")
  func counts() {
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    func feed(_ datagram: [UInt8]) -> Result<WireFormat, DatagramRefusal> {
      decoder.decode(datagram.span.bytes, received: receiveTime, into: &batch)
    }
    #expect(feed(Samples.raddec[2]) == .success(.raddec))
    #expect(feed(Samples.raddec[1]) == .success(.raddec))
    #expect(feed(Samples.json[0]) == .success(.json))
    #expect(feed(Samples.pharos[0]) == .success(.pharos))
    #expect(feed(Samples.ingics[0]) == .success(.ingics))
    #expect(feed(Samples.huawei[0]) == .success(.huawei))
    #expect(feed(Samples.raddec[0].dropLast() + [0]) == .failure(.checksum))
    #expect(feed([]) == .failure(.empty))
    #expect(feed([0x41, 0x42]) == .failure(.unrecognised))
    let beginning = Samples.json[0]
    let truncated = decoder.refuseTruncated(beginning.span.bytes)
    #expect(truncated == .truncated)
    let counters = decoder.counters
    #expect(counters.datagrams(.raddec) == 2)
    #expect(counters.reports(.raddec) == 2)
    #expect(counters.reports(.huawei) == 2)
    #expect(counters.refusals(.raddec, .checksum) == 1)
    #expect(counters.refusals(nil, .empty) == 1)
    #expect(counters.refusals(nil, .unrecognised) == 1)
    #expect(counters.refusals(.json, .truncated) == 1)
    #expect(counters.refusals(.json, .checksum) == 0)
    #expect(counters.totalDatagrams == 6)
    #expect(counters.totalReports == UInt64(batch.reports.count))
    #expect(counters.totalRefusals == 4)
  }

  @Test(
    "the reports of a datagram are in order of the times that they state, however it lists them",
    arguments: Seeds.drawn(0..<200, first: 40)
  )
  func order(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let byClock = Bool.random(using: &random)
    // Few different times, so that some reports state the same one.
    let count = Int.random(in: 1...60, using: &random)
    let ages = (0..<count).map { _ in Int.random(in: 0...40, using: &random) * 700 }
    let adverts = ages.enumerated().map { place, age in
      let time = byClock ? "\"time\": \(1_700_000_000_000 - age)" : "\"age\": \(age)"
      return "{\"address\": \"c4:be:84:e7:00:\(10 + place)\", \"rssi\": -60, \(time), \"data\": \"020106\"}"
    }
    let datagram = Array("{\"observer\": \"hall\", \"adverts\": [\(adverts.joined(separator: ","))]}".utf8)
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    // What an earlier datagram left in the batch stays where it is.
    let earlier = Samples.raddec[2]
    _ = decoder.decode(earlier.span.bytes, received: receiveTime, into: &batch)
    let before = Array(batch.reports)
    let outcome = decoder.decode(datagram.span.bytes, received: receiveTime, into: &batch)
    #expect(outcome == .success(.json))
    #expect(Array(batch.reports.prefix(before.count)) == before)
    let addresses = batch.reports.dropFirst(before.count).compactMap { report in
      if case .advert(let advert) = report.body { advert.address?.bits } else { nil }
    }
    let expected = ages.indices.sorted { (-ages[$0], $0) < (-ages[$1], $1) }
      .compactMap { DeviceAddress("c4:be:84:e7:00:\(10 + $0)")?.bits }
    #expect(addresses == expected)
  }

  @Test("the counters of several decoders add up")
  func sums() {
    var left = DatagramDecoder()
    var right = DatagramDecoder()
    var batch = ReportBatch()
    let (one, two, outsider): ([UInt8], [UInt8], [UInt8]) = (Samples.raddec[0], Samples.raddec[2], [9])
    _ = left.decode(one.span.bytes, received: receiveTime, into: &batch)
    _ = right.decode(two.span.bytes, received: receiveTime, into: &batch)
    _ = right.decode(outsider.span.bytes, received: receiveTime, into: &batch)
    let sum = left.counters + right.counters
    #expect(sum.datagrams(.raddec) == 2)
    #expect(sum.reports(.raddec) == 3)
    #expect(sum.refusals(nil, .unrecognised) == 1)
    #expect(sum != left.counters)
    #expect(sum == right.counters + left.counters)
    #expect(left.counters + DatagramCounters() == left.counters)
  }

  @Test("no datagram is recognised by its first byte alone where others begin alike")
  func beginnings() throws {
    #expect(decoded("PHAX") == .failure(.unrecognised))
    #expect(decoded("H") == .failure(.unrecognised))
    #expect(decoded("  \n [") == .failure(.badText))
    #expect(decoded("   ") == .failure(.unrecognised))
    #expect(decoded(bytes("48580000")) == .failure(.unrecognised))
  }

  @Test("reports carry the receive time of their datagram")
  func receiveTimes() {
    for sample in Samples.raddec + Samples.json + Samples.pharos + Samples.ingics + Samples.huawei
      + Samples.minew + Samples.mqtt
    {
      var decoder = DatagramDecoder()
      var batch = ReportBatch()
      _ = decoder.decode(sample.span.bytes, received: Timestamp(seconds: 5), into: &batch)
      #expect(batch.reports.allSatisfy { $0.received == Timestamp(seconds: 5) })
    }
  }
}
