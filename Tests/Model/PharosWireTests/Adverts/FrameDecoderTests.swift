import PharosModel
import PharosWire
import Testing

private let airLocate = "iBeacon E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/100/0 -59"
private let iBeaconStructure = "1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5"

@Suite struct FrameDecoderTests {
  @Test(
    "each layout is decoded field by field",
    arguments: [
      ("020106 \(iBeaconStructure)", airLocate),
      (
        "02011a 1bff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509",
        "altBeacon 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2 -59 of 0118 9"
      ),
      (
        "020106 0303aafe 1716aafe00e3123456789012346789010000000000010000",
        "UID 12345678901234678901/000000000001 -29"
      ),
      ("0303aafe 1316aafe10f8036769746875620063697472757a", "URL https://github.com/citruz -8"),
      (
        "020106 0303aafe 1116aafe20000b1813000000146700002ac4",
        "TLM 2840 mV 19.0 °C 5223 10948"
      ),
      (
        "020106 0303aafe 1516aafe2001414141414141414141414141deadbeff",
        "eTLM 414141414141414141414141 dead beff"
      ),
      ("020106 0303aafe 0d16aafe30e34549445f74657374", "EID 4549445f74657374 -29"),
    ]
  )
  func layout(hex: String, expected: String) {
    #expect(frames(bytes(hex)).map(line) == [expected])
  }

  @Test(
    "a frame is found wherever it stands",
    arguments: [
      (iBeaconStructure, "no flags"),
      ("\(iBeaconStructure) 020106", "flags behind it"),
      ("0409414243 02ff03 03030d18 \(iBeaconStructure)", "behind a name, a short structure and services"),
      ("020106 \(iBeaconStructure) 0c002beeddcc", "before a length that runs past the end"),
      ("\(iBeaconStructure) 00 \(iBeaconStructure)", "before the end of the significant data"),
      ("1bff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5ba 00", "with a byte of the maker's behind it"),
    ]
  )
  func position(hex: String, why: String) {
    #expect(frames(bytes(hex)).map(line) == [airLocate], "\(why)")
  }

  @Test("frames come in order, and a repeated one comes twice")
  func several() {
    let payload = bytes("\(iBeaconStructure) 0d16aafe30e34549445f74657374 \(iBeaconStructure)")
    #expect(frames(payload).map(line) == [airLocate, "EID 4549445f74657374 -29", airLocate])
    var visited: [Frame] = []
    FrameDecoder().forEachFrame(in: payload.span.bytes) { visited.append($0) }
    #expect(visited == frames(payload))
  }

  @Test("a frame at the far end of a joined extended payload is found")
  func extended() {
    let filler = structure(0x16, bytes("fafff70d") + Array(repeating: 0xA5, count: 230))
    let payload = (0..<6).flatMap { _ in filler } + bytes(iBeaconStructure)
    #expect(payload.count > 1_400 && payload.count <= 1_650)
    #expect(frames(payload).map(line) == [airLocate])
  }

  @Test("an AltBeacon may leave its last byte out, which then reads 0")
  func altBeaconWithoutLastByte() {
    let payload = bytes("02011a 1aff1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c5 000000")
    #expect(frames(payload).map(line) == ["altBeacon 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2 -59 of 0118 0"])
  }

  @Test(
    "an AltBeacon may be of any company, Apple included",
    arguments: [UInt16(0x0000), 0x004C, 0x0118, 0xBBAA, 0xFFFF]
  )
  func altBeaconCompanies(company: UInt16) {
    let head = [UInt8(company & 0xFF), UInt8(company >> 8)]
    let payload = structure(0xFF, head + bytes("beace2c56db5dffb48d2b060d0f5a71096e000010004c500"))
    guard case .altBeacon(let frame)? = frames(payload).first else {
      Issue.record("no AltBeacon of company \(company)")
      return
    }
    #expect(frame.company == company)
  }

  @Test("an Eddystone-UID may leave its two reserved bytes out, and what they hold does not matter")
  func reservedBytes() {
    let frame = bytes("aafe00e700010203040506070809010203040506")
    let expected = ["UID 00010203040506070809/010203040506 -25"]
    #expect(frames(structure(0x16, frame)).map(line) == expected)
    #expect(frames(structure(0x16, frame + [0])).map(line) == expected)
    #expect(frames(structure(0x16, frame + [0xFF, 0x01])).map(line) == expected)
  }

  @Test(
    "each frame has a shortest length, below which it is none",
    arguments: [
      ("ff", "4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5", 25),
      ("ff", "1801beac2f234454cf6d4a0fadf2f4911ba9ffa600010002c509", 25),
      ("16", "aafe00e3123456789012346789010000000000010000", 20),
      ("16", "aafe10f8036769746875620063697472757a", 6),
      ("16", "aafe20000b1813000000146700002ac4", 16),
      ("16", "aafe2001414141414141414141414141deadbeff", 20),
      ("16", "aafe30e34549445f74657374", 12),
    ]
  )
  func shortest(type: String, hex: String, shortest: Int) {
    let data = bytes(hex)
    for length in 0...data.count {
      let found = frames(structure(bytes(type)[0], Array(data.prefix(length)))).count
      #expect(found == (length >= shortest ? 1 : 0), "\(length) bytes of \(hex)")
    }
  }

  @Test("a payload cut anywhere gives the frames that end before the cut")
  func truncation() {
    let pieces = ["020106", iBeaconStructure, "0303aafe", "0d16aafe30e34549445f74657374", iBeaconStructure]
    let payload = pieces.flatMap { bytes($0) }
    let whole = frames(payload)
    var end = 0
    var framesBefore: [Int: Int] = [0: 0]
    for piece in pieces {
      let isFrame = piece != "020106" && piece != "0303aafe"
      framesBefore[end + bytes(piece).count] = (framesBefore[end] ?? 0) + (isFrame ? 1 : 0)
      end += bytes(piece).count
    }
    var expected = 0
    for cut in 0...payload.count {
      expected = framesBefore[cut] ?? expected
      let cutPayload = Array(payload.prefix(cut))
      #expect(frames(cutPayload) == Array(whole.prefix(expected)), "cut at \(cut)")
      #expect(structures(cutPayload).isMalformed == (framesBefore[cut] == nil), "cut at \(cut)")
    }
    #expect(expected == 3)
  }
}
