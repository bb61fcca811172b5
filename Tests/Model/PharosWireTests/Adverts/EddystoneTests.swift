import PharosModel
import PharosWire
import Testing

@Suite struct EddystoneTests {
  @Test(
    "telemetry reads each field, and says nil for what the beacon cannot tell",
    arguments: [
      ("2000 0b18 1300 00001467 00002ac4", 2840, 19, 5223, 1_094_800),
      ("2000 0000 8000 00000000 00000000", nil, nil, 0, 0),
      ("2000 0bb8 ff80 ffffffff ffffffff", 3000, -0.5, 4_294_967_295, 429_496_729_500),
      ("2000 0001 7fff 00000001 00000001", 1, 127.99609375, 1, 100),
      ("2000 ffff 8001 00000001 00000001", 65_535, -127.99609375, 1, 100),
    ] as [(String, UInt16?, Double?, UInt32, Double)]
  )
  func telemetry(hex: String, battery: UInt16?, temperature: Double?, adverts: UInt32, uptime: Double) {
    guard case .eddystoneTLM(let frame)? = frames(structure(0x16, bytes("aafe" + hex))).first else {
      Issue.record("no telemetry in \(hex)")
      return
    }
    #expect(frame.batteryMillivolts == battery)
    #expect(frame.temperature == temperature)
    #expect(frame.advertCount == adverts)
    #expect(frame.uptime.milliseconds == uptime)
  }

  @Test(
    "a web address is spelled out",
    arguments: [
      ("00 61 07", "http://www.a.com"),
      ("01 61 00 62", "https://www.a.com/b"),
      ("02 61 08 09 0a 0b 0c 0d", "http://a.org.edu.net.info.biz.gov"),
      ("03 61 01 02 03 04 05 06", "https://a.org/.edu/.net/.info/.biz/.gov/"),
      ("03 0e 20 7f 80 ff 1b 41", "https://%0E%20%7F%80%FF%1BA"),
      ("03 3132333435363738394142434445464748", "https://123456789ABCDEFGH"),
    ]
  )
  func address(hex: String, url: String) {
    #expect(frames(structure(0x16, bytes("aafe10ec" + hex))).map(line) == ["URL \(url) -20"])
  }

  @Test(
    "a URL that the specification does not allow is refused",
    arguments: [
      ("10ec04 61", "a scheme beyond 3"),
      ("10ecff 61", "a scheme beyond 3"),
      ("10ec03", "nothing behind the scheme"),
      ("10ec", "no scheme"),
      ("10", "no power"),
      ("10ec03 313233343536373839414243444546474849", "18 bytes behind the scheme"),
    ]
  )
  func noAddress(hex: String, why: String) {
    #expect(frames(structure(0x16, bytes("aafe" + hex))).isEmpty, "\(why)")
  }

  @Test(
    "an address is shortened by the longest codes, and refused if it does not fit",
    arguments: [
      ("https://www.example.com/a", "01 6578616d706c65 00 61"),
      ("http://example.com", "02 6578616d706c65 07"),
      ("https://a.community", "03 61 07 6d756e697479"),
      ("https://123456789ABCDEFGH", "03 3132333435363738394142434445464748"),
      ("https://123456789ABCDEFGHI", nil),
      ("https://", nil),
      ("ftp://example.com", nil),
      ("https://caf\u{E9}", nil),
      ("https://cafe\u{301}", nil),
      ("https://a b", nil),
      ("https://a\r\n", nil),
      ("", nil),
    ] as [(String, String?)]
  )
  func shortening(url: String, expected: String?) {
    let frame = EddystoneURL(url, transmitPower: -20)
    #expect(frame.map { [$0.scheme.rawValue] + $0.encoded } == expected.map { bytes($0) })
    if let frame { #expect(frame.url == url) }
  }

  @Test("addresses are equal when what was sent is")
  func equality() throws {
    let first = try #require(EddystoneURL("https://a.com", transmitPower: -20))
    let same = try #require(EddystoneURL(scheme: .https, encoded: [0x61, 7], transmitPower: -20))
    let longer = try #require(EddystoneURL(scheme: .https, encoded: [0x61, 7, 0], transmitPower: -20))
    let other = try #require(EddystoneURL("https://b.com", transmitPower: -20))
    #expect(first == same)
    #expect(first.hashValue == same.hashValue)
    #expect(first != longer)
    #expect(first != other)
    #expect(Set([first, same, longer, other]).count == 3)
    #expect(EddystoneURL(scheme: .https, encoded: [], transmitPower: 0) == nil)
    #expect(EddystoneURL(scheme: .https, encoded: Array(repeating: 97, count: 18), transmitPower: 0) == nil)
  }

  @Test("of an instance the low 48 bits count")
  func instance() throws {
    let namespace = try #require(EddystoneNamespace("00010203040506070809"))
    let frame = EddystoneUID(namespace: namespace, instance: 0xFFFF_0102_0304_0506, transmitPower: 0)
    #expect(frame.instance == 0x0102_0304_0506)
    #expect(frame.namespace == namespace)
  }
}
