import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosTools
import PharosWire
import Testing

@Suite("A datagram sent again by another observer or at another time")
struct DatagramVariantTests {
  /// The composite vector of the raddec convention: two receivers would be longer; this has one and a time.
  static let raddec =
    "10004702aabbccddeeff013b0301001bc50940810000f0014aa2cab000f101264224ffeeddccbbaa0201061aff4c000215e2c56db5dffb48"
    + "d2b060d0f5a71096e000640000c57b"

  static func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.bytes(hex)) }

  static func decoded(_ payload: [UInt8]) throws -> ReportBatch {
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    let outcome = decoder.decode(
      payload.span.bytes,
      received: Timestamp(seconds: 1_500_000_000),
      into: &batch
    )
    _ = try outcome.get()
    return batch
  }

  @Test("the original is sent byte for byte")
  func original() throws {
    let payload = try DatagramVariantTests.bytes(DatagramVariantTests.raddec)
    var multiplier = DatagramMultiplier()
    for bytes in [payload, [1, 2, 3]] {
      let copy = multiplier.variant(DatagramVariant(), of: bytes)
      #expect(copy == bytes)
    }
  }

  @Test("a raddec's receiver becomes its copy, its time moves, and its checksum is right")
  func raddec() throws {
    let payload = try DatagramVariantTests.bytes(DatagramVariantTests.raddec)
    var multiplier = DatagramMultiplier()
    let variant = DatagramVariant(clone: 3, loop: 1, shift: .seconds(90))
    let made = multiplier.variant(variant, of: payload)
    let copy = try #require(made)
    let before = try DatagramVariantTests.decoded(payload)
    let after = try DatagramVariantTests.decoded(copy)
    #expect(after.observers == before.observers.map { $0.clone(3) })
    #expect(after.payloads == before.payloads)
    #expect(after.reports.map(\.body) == before.reports.map(\.body))
    guard case .sent(let was) = before.reports.first?.timing,
      case .sent(let now) = after.reports.first?.timing
    else {
      Issue.record("the vector has a time")
      return
    }
    #expect(now - was == .seconds(90))
  }

  /// The adverts of a batch with what their payloads hold, wherever it lies: behind a longer name it lies elsewhere.
  private static func adverts(_ batch: ReportBatch) throws -> [String] {
    try batch.reports.dropFirst().map { report in
      guard case .advert(let advert) = report.body else { return "no advert" }
      let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
      let address = try #require(advert.address)
      let rssi = try #require(advert.rssi)
      return "\(address) \(rssi) \(advert.pdu) \(Array(batch.payloads[range]))"
    }
  }

  @Test("a Pharos datagram keeps its records and number, and a second loop looks like a new start")
  func pharos() throws {
    let gateway = ObserverID.eui48(0xAC23_3FA0_0001)
    let other = ObserverID.name("kitchen")
    var encoder = PharosDatagramEncoder(observer: gateway, bootID: 7, sequence: 41)
    var batch = ReportBatch()
    for observer in [gateway, other, gateway] {
      let advert = Advert(
        address: DeviceAddress("c0:00:00:00:00:01", kind: .random),
        rssi: RSSI(dBm: -60),
        payload: batch.append(payload: [2, 1, 6])
      )
      batch.append(
        Report(
          observer: batch.index(of: observer),
          received: Timestamp(seconds: 1),
          timing: .age(.milliseconds(20)),
          body: .advert(advert)
        )
      )
    }
    for report in batch.reports {
      let fits = encoder.append(report, from: batch)
      #expect(fits)
    }
    let payload = encoder.finish(uptime: .seconds(5))
    var multiplier = DatagramMultiplier()
    let made = multiplier.variant(DatagramVariant(clone: 2, loop: 3), of: payload)
    let copy = try #require(made)
    let before = try DatagramVariantTests.decoded(payload)
    let after = try DatagramVariantTests.decoded(copy)
    #expect(
      after.reports.map { after.observers[Int($0.observer)] }
        == before.reports.map { before.observers[Int($0.observer)].clone(2) }
    )
    #expect(try DatagramVariantTests.adverts(after) == DatagramVariantTests.adverts(before))
    #expect(after.reports.map(\.timing) == before.reports.map(\.timing))
    #expect(
      after.reports.first?.body
        == .transmission(Transmission(bootID: 10, sequence: 41, uptime: .seconds(5)))
    )
  }

  @Test(
    "copies of text formats are numbered Pharos datagrams with the same adverts",
    arguments: [
      "$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,0201061AFF4C000215B9A5D27D56CC4E3AAB511F2153BCB9670001452ED6\r\n",
      "{\"observer\":\"desk\",\"address\":\"c0:00:00:00:00:01\",\"rssi\":-61,\"data\":\"020106\"}",
    ]
  )
  func text(datagram: String) throws {
    var multiplier = DatagramMultiplier()
    let payload = Array(datagram.utf8)
    let before = try DatagramVariantTests.decoded(payload)
    for number: UInt32 in 0..<3 {
      let made = multiplier.variant(DatagramVariant(clone: 1), of: payload)
      let copy = try #require(made)
      let after = try DatagramVariantTests.decoded(copy)
      guard case .transmission(let head) = after.reports.first?.body else {
        Issue.record("no head")
        return
      }
      #expect(head.sequence == number)
      #expect(after.payloads == before.payloads)
      #expect(after.observers.first == before.observers.first?.clone(1))
    }
  }

  @Test("bytes that are no datagram are sent as they are, and have no copies")
  func damaged() throws {
    var payload = try DatagramVariantTests.bytes(DatagramVariantTests.raddec)
    payload[20] ^= 1
    var multiplier = DatagramMultiplier()
    let again = multiplier.variant(DatagramVariant(loop: 1, shift: .seconds(1)), of: payload)
    let copy = multiplier.variant(DatagramVariant(clone: 1), of: payload)
    #expect(again == payload)
    #expect(copy == nil)
  }

  @Test("no mutation of a datagram crashes the multiplier", arguments: [1, 2, 3] as [UInt64])
  func fuzz(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let whole = try DatagramVariantTests.bytes(DatagramVariantTests.raddec)
    var encoder = PharosDatagramEncoder(observer: .name("a"), bootID: 1)
    let samples = [whole, encoder.finish(uptime: .zero)]
    var multiplier = DatagramMultiplier()
    for round in 0..<2_000 {
      var payload = samples[round % 2]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        payload[Int.random(in: 0..<payload.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      payload = Array(payload.prefix(Int.random(in: 0...payload.count, using: &random)))
      if payload.count > 3, round % 4 < 2 {
        payload[1] = UInt8(payload.count >> 8)
        payload[2] = UInt8(payload.count & 0xFF)
        payload[payload.count - 1] = payload.dropLast().reduce(0, &+)
      }
      _ = multiplier.variant(DatagramVariant(clone: 1, loop: 1, shift: .seconds(1)), of: payload)
    }
  }

  @Test("copies of one maker's observers never meet")
  func clonesAreDistinct() {
    let observers: [ObserverID] =
      (0..<20).map { .eui48(0xAC23_3FA0_0000 + $0) } + (0..<20).map { .eui64(0x001B_C509_4081_0000 + $0) }
      + (0..<20).map { .name("gateway \($0)") } + (0..<20).map { .uuid(UUID128(high: 5, low: $0)) }
    var seen: Set<ObserverID> = []
    for observer in observers {
      for number in 0..<50 { #expect(seen.insert(observer.clone(number)).inserted) }
      #expect(observer.clone(0) == observer)
    }
    #expect(ObserverID.name(String(repeating: "é", count: 32)).clone(7).description.utf8.count <= 64)
  }
}
