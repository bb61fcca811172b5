import FuzzWire
import PharosEncoders
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("Writing raddec")
struct RaddecEncoderTests {
  private static let iBeacon = "0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5"

  @Test("the composite vector is written byte for byte")
  func composite() throws {
    let sighting = RaddecSighting(
      transmitter: DeviceAddress(bits: 0xAABB_CCDD_EEFF, kind: .public),
      receivers: [.init(observer: .eui64(0x001B_C509_4081_0000), rssi: RSSI(dBm: -68), decodings: 3)],
      time: Timestamp(seconds: 1_420_070_400),
      packets: [.init(pdu: .nonConnectable, data: bytes(Self.iBeacon))]
    )
    var expected = Samples.raddec[4]
    // The vector calls the address public in its head and random in its packet; one sighting cannot say both.
    let header = try #require(expected.firstIndex(of: 0x42))
    expected[header] = 0x02
    expected[expected.count - 1] = expected.dropLast().reduce(0, &+)
    #expect(RaddecEncoder.encode(sighting) == expected)
  }

  @Test("encoded packets decode to the same reports", arguments: Seeds.drawn(0..<200))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var batch = ReportBatch()
    let data = (0..<Int.random(in: 0...31, using: &random)).map { _ in
      UInt8.random(in: 0...255, using: &random)
    }
    let observers: [ObserverID] = [
      .eui48(0xAC23_3FA0_0001), .eui64(0x001B_C509_4081_0000), .uuid(UUID128(high: 5, low: 6)),
    ]
    let payload = batch.append(payload: data)
    let kind: DeviceAddress.Kind = Bool.random(using: &random) ? .random : .public
    let bits = UInt64.random(in: 0...0xFFFF_FFFF_FFFF, using: &random)
    let pdu: Advert.PDU = [.connectable, .scannable, .nonConnectable, .scanResponse][Int(bits % 4)]
    let advert = Advert(
      address: DeviceAddress(bits: bits, kind: kind),
      rssi: RSSI(reported: .random(in: -127...20, using: &random)),
      pdu: pdu,
      payload: payload
    )
    let observer = batch.index(of: observers[Int(seed % 3)])
    let milliseconds = Int64.random(in: 0...2_000_000_000_000, using: &random)
    let report = Report(
      observer: observer,
      received: receiveTime,
      timing: .sent(Timestamp(nanoseconds: milliseconds * 1_000_000)),
      body: .advert(advert)
    )
    batch.append(report)
    let sighting = try #require(RaddecSighting(report, from: batch))
    let datagram = try #require(RaddecEncoder.encode(sighting))
    #expect(decoded(datagram) == .success(batch.lines))
  }

  @Test("an age becomes the time of the event")
  func ages() throws {
    var batch = ReportBatch()
    let advert = Advert(
      address: DeviceAddress(bits: 1, kind: .public),
      rssi: nil,
      payload: batch.append(payload: [])
    )
    let report = Report(
      observer: batch.index(of: .eui48(2)),
      received: receiveTime,
      timing: .age(.milliseconds(1_500)),
      body: .advert(advert)
    )
    #expect(RaddecSighting(report, from: batch)?.time == receiveTime - .milliseconds(1_500))
  }

  @Test("values that raddec cannot express are not written")
  func impossible() {
    let address = DeviceAddress(bits: 1, kind: .public)
    let receiver = RaddecSighting.Receiver(observer: .eui48(2), rssi: nil)
    let packet = RaddecSighting.Packet(pdu: .connectable, data: [])
    func encode(_ sighting: RaddecSighting) -> [UInt8]? { RaddecEncoder.encode(sighting) }
    let good = RaddecSighting(
      transmitter: address,
      receivers: Array(repeating: receiver, count: 15),
      time: nil,
      packets: Array(repeating: packet, count: 15)
    )
    #expect(encode(good) != nil)
    var bad = good
    bad.receivers.append(receiver)
    #expect(encode(bad) == nil)
    bad = good
    bad.packets.append(packet)
    #expect(encode(bad) == nil)
    bad = good
    bad.receivers[3].observer = .name("hall")
    #expect(encode(bad) == nil)
    bad = good
    bad.packets[0].data = Array(repeating: 0, count: RaddecEncoder.maximumData + 1)
    #expect(encode(bad) == nil)
    bad.packets[0].data.removeLast()
    #expect(encode(bad) != nil)
    bad = good
    bad.time = Timestamp(nanoseconds: -1)
    #expect(encode(bad) == nil)
  }
}
