import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite struct FrameEncodingTests {
  @Test(
    "a frame is encoded to the very bytes it was decoded from",
    arguments: [
      "1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5",
      "1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509",
      "1716aafe00e3123456789012346789010000000000010000",
      "1316aafe10f8036769746875620063697472757a",
      "1116aafe20000b1813000000146700002ac4",
      "1116aafe2000000080000000000000000000",
      "1516aafe2001414141414141414141414141deadbeff",
      "0d16aafe30e34549445f74657374",
    ]
  )
  func known(hex: String) throws {
    let frame = try #require(frames(bytes(hex)).first)
    #expect(frame.encoded == bytes(hex))
  }

  @Test(
    "an encoded frame decodes to itself, alone and as a legacy payload",
    arguments: [11, 12, 13, 14]
  )
  func roundTrip(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<1_000 {
      let frame = random.frame()
      let alone = frames(frame.encoded)
      guard alone == [frame], frames(frame.legacyPayload) == [frame], frame.legacyPayload.count <= 31 else {
        Issue.record("seed \(seed): \(line(frame)) became \(alone.map(line))")
        return
      }
    }
  }

  @Test("an iBeacon of another company keeps it")
  func otherCompany() {
    var random = SeededGenerator(seed: 15)
    let beacon = IBeacon(uuid: random.uuid(), major: 1, minor: 2, measuredPower: -59, company: 0x0059)
    let frame = Frame.iBeacon(beacon)
    #expect(frames(frame.encoded).isEmpty)
    #expect(frames(frame.encoded, iBeaconCompanies: [0x0059]) == [frame])
  }
}

@Suite struct AdvertBuilderTests {
  private let uid = EddystoneUID(
    namespace: EddystoneNamespace(high: 0x1234_5678_9012_3467, low: 0x8901),
    instance: 1,
    transmitPower: -29
  )

  @Test("a payload begins with flags, and names Eddystone's service once before its first frame")
  func composition() throws {
    var builder = AdvertBuilder(capacity: .extended)
    let eid = EddystoneEID(identifier: 0x4549_445F_7465_7374, transmitPower: -29)
    try builder.append(localName: "hall")
    try builder.append(.eddystoneUID(uid))
    try builder.append(.eddystoneEID(eid))
    try builder.append(.transmitPower, [0xF4])
    let expected =
      "020106 0509 68616c6c 0303aafe 1716aafe00e3123456789012346789010000000000010000"
      + "0d16aafe30e34549445f74657374 020af4"
    #expect(builder.payload == bytes(expected))
    #expect(frames(builder.payload) == [.eddystoneUID(uid), .eddystoneEID(eid)])
    #expect(summary(builder.payload).localName == "hall")
    #expect(AdvertBuilder(flags: nil).payload.isEmpty)
    #expect(AdvertBuilder(flags: 0x1A).payload == bytes("02011a"))
  }

  @Test("a frame that does not fit is refused with a reason and changes nothing")
  func overflow() throws {
    var builder = AdvertBuilder()
    try builder.append(.eddystoneUID(uid))
    #expect(builder.payload.count == 31)
    let before = builder.payload
    #expect(throws: AdvertError.payloadTooLong(bytes: 33, capacity: 31)) { try builder.append(localName: "") }
    #expect(throws: AdvertError.structureTooLong(dataBytes: 255)) {
      try builder.append(.manufacturerData, Array(repeating: 0, count: 255))
    }
    #expect(builder.payload == before)

    var crowded = AdvertBuilder()
    try crowded.append(localName: "8 bytes!")
    #expect(throws: AdvertError.self) { try crowded.append(.eddystoneUID(uid)) }
    try crowded.append(.eddystoneEID(EddystoneEID(identifier: 1, transmitPower: 0)))
    #expect(crowded.payload.count == 31)
    #expect(frames(crowded.payload).count == 1)
  }

  @Test("an extended payload holds 1,650 bytes and not one more")
  func extended() throws {
    var builder = AdvertBuilder(flags: nil, capacity: .extended)
    for _ in 0..<6 { try builder.append(.manufacturerData, Array(repeating: 7, count: 254)) }
    try builder.append(.completeName, Array(repeating: 0x61, count: 112))
    #expect(builder.payload.count == 1_650)
    #expect(throws: AdvertError.payloadTooLong(bytes: 1_652, capacity: 1_650)) {
      try builder.append(.flags, [])
    }
  }

  @Test("an error says what was too long, how long it may be, and what to do")
  func errors() {
    #expect(
      "\(AdvertError.payloadTooLong(bytes: 45, capacity: 31))"
        == "advert payload of 45 bytes: at most 31 fit. Leave a structure out or use extended advertising."
    )
    #expect(
      "\(AdvertError.payloadTooLong(bytes: 1_700, capacity: 1_650))"
        == "advert payload of 1700 bytes: at most 1650 fit. Leave a structure out."
    )
    #expect(
      "\(AdvertError.structureTooLong(dataBytes: 255))"
        == "AD structure with 255 bytes of data: at most 254 fit. Split the data."
    )
  }
}
