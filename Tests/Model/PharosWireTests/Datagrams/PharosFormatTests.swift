import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("Reading the Pharos datagram")
struct PharosFormatTests {
  /// Everything before the observer: magic, version, flags, length (filled in), key id, boot id 1, sequence
  /// 2, uptime 3 ms.
  private static let head = "50484152 01 00 0000 00000000 00000001 00000002 0000000000000003"
  private static let gateway = "01 06 ac233fa00001"
  private static let first = "ac:23:3f:a0:00:01 head 1 2 3000000 received"

  @Test(
    "every sort of observer is read",
    arguments: [
      ("01 06 ac233fa00001", "ac:23:3f:a0:00:01"),
      ("02 08 001bc50940810000", "00:1b:c5:09:40:81:00:00"),
      ("03 10 00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-AABBCCDDEEFF"),
      ("04 04 68616c6c", "hall"),
      ("04 05 c3a9746533", "\u{E9}te3"),
      // A name that spells a MAC is that MAC.
      ("04 0c 616332333366613030303031", "ac:23:3f:a0:00:01"),
    ]
  )
  func observers(identity: String, text: String) throws {
    #expect(decoded(try datagram(identity, "")) == .success(["\(text) head 1 2 3000000 received"]))
  }

  @Test(
    "a head that is wrong is refused",
    arguments: [
      (
        "50484152 02 00 0024 00000000 00000001 00000002 0000000000000003 0106 ac233fa00001",
        .unsupportedVersion
      ),
      (
        "50484152 01 02 0024 00000000 00000001 00000002 0000000000000003 0106 ac233fa00001",
        .unsupportedVersion
      ),
      ("50484152 01 00 0025 00000000 00000001 00000002 0000000000000003 0106 ac233fa00001", .lengthMismatch),
      ("50484152 01 00 0024 00000001 00000001 00000002 0000000000000003 0106 ac233fa00001", .badField),
      ("50484152 01 00 0024 00000000 00000001 00000002 ffffffffffffffff 0106 ac233fa00001", .badField),
      ("50484152 01 01 0024 00000001 00000001 00000002 0000000000000003 0106 ac233fa00001", .tooShort),
      ("50484152 01 00 0024 00000000 00000001 00000002 0000000000000003 0107 ac233fa00001", .tooShort),
      ("50484152 01 00 0024 00000000 00000001 00000002 0000000000000003 0506 ac233fa00001", .badIdentity),
      ("50484152 01 00 0024 00000000 00000001 00000002 0000000000000003 0206 ac233fa00001", .lengthMismatch),
      ("50484152 01 00 0021 00000000 00000001 00000002 0000000000000003 0403 61ff62", .badText),
      ("50484152 01 00 0021 00000000 00000001 00000002 0000000000000003 0403 610a62", .badIdentity),
      ("50484152 01 00 001e 00000000 00000001 00000002 0000000000000003 0400", .badIdentity),
      ("50484152 01 00 0014 00000000 00000001 00000002", .tooShort),
      ("50484152", .tooShort),
    ] as [(String, DatagramRefusal)]
  )
  func heads(hex: String, reason: DatagramRefusal) throws {
    #expect(decoded(bytes(hex)) == .failure(reason))
  }

  @Test(
    "every record is read",
    arguments: [
      (
        "02 0012 00000078 c5 03 26 ff 00 aabbccddeeff 020106",
        "advert aa:bb:cc:dd:ee:ff/public -59 nonConnectable ch38 [020106] age 120000000"
      ),
      ("02 000f 00000000 7f 05 00 07 03 000000000000", "advert anonymous - extended sid7 [] age 0"),
      (
        "03 001e 00000001 c0 3fc00000 00 e2c56db5dffb48d2b060d0f5a71096e0 0001 0007",
        "ranged E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7 -64 1.5 age 1000000"
      ),
      (
        "03 0020 00000001 c0 bf800000 81 00112233445566778899 aabbccddeeff 000000000005",
        "ranged eddystone:00112233445566778899/aabbccddeeff@00:00:00:00:00:05 -64 - age 1000000"
      ),
      ("03 0010 00000000 00 7fc00000 02 aabbccddeeff", "ranged mac:aa:bb:cc:dd:ee:ff - - age 0"),
      ("04 0005 ffffffff 01", "scan windowed age 4294967295000000"),
      (
        "05 001e 00000000 001122334455 ba 0985 00000384 001122334456 7f 0000 00000000",
        "wifi 00:11:22:33:44:55 -70 2437 900000000, 00:11:22:33:44:56 - 0 0 age 0"
      ),
      (
        "06 0026 00000000 05 0003d090 3f400000 3fc00000 00000000 63 00000000 00000000 00000000 00000000",
        "motion step 250000000 0.75 1.5 0.0 age 0"
      ),
      (
        "07 001d 00000000 00 4047b00000000000 4021000000000000 41400000 3fa00000",
        "fix 47.375 8.5 12.0 1.25 gnss age 0"
      ),
      (
        "07 0031 00000000 01 4047b00000000000 4021000000000000 3f000000 bf800000 43c80000 00000000 3f800000 00000000 00000000",
        "fix 47.375 8.5 0.5 - vps up 400.0 [0.0 1.0 0.0 0.0] age 0"
      ),
      (
        "07 0031 00000000 01 4047b00000000000 4021000000000000 3f000000 bf800000 7fc00000 00000000 00000000 00000000 00000000",
        "fix 47.375 8.5 0.5 - vps age 0"
      ),
      (
        "0a 0029 00000064 02 00000007 000186a0 3e000000 bd000000 00000000 3f800000 00000000 00000000 00000000",
        "pose 7 100000000 0.125 -0.03125 0.0 [1.0 0.0 0.0 0.0] normal age 100000000"
      ),
      ("0b 0009 00000000 01 8004 00 02", "visual degradedPositioning 4 stopped failed age 0"),
      ("08 0004 0000000a", "display on age 10000000"),
      ("09 0010 00000000 000000fa 3f000000 00000003", "heartbeat 250 0.5 3 age 0"),
      ("09 0010 00000000 ffffffff bf800000 00000000", "heartbeat - - 0 age 0"),
    ]
  )
  func records(hex: String, line: String) throws {
    let expected = [Self.first, "ac:23:3f:a0:00:01 \(line)"]
    #expect(decoded(try datagram(Self.gateway, hex)) == .success(expected))
  }

  @Test(
    "bytes that a later version appends to a record of fixed length are skipped",
    arguments: [
      ("04 0007 00000000 01 beef", "scan windowed age 0"),
      ("08 0006 00000000 beef", "display on age 0"),
      (
        "07 001f 00000000 00 4047b00000000000 4021000000000000 41400000 3fa00000 beef",
        "fix 47.375 8.5 12.0 1.25 gnss age 0"
      ),
      ("0b 000b 00000000 02 0000 01 00 beef", "visual accuratePositioning 0 started stopped age 0"),
      ("09 0012 00000000 000000fa 3f000000 00000003 beef", "heartbeat 250 0.5 3 age 0"),
    ]
  )
  func longerRecords(hex: String, line: String) throws {
    let expected = [Self.first, "ac:23:3f:a0:00:01 \(line)"]
    #expect(decoded(try datagram(Self.gateway, hex)) == .success(expected))
  }

  @Test("records of unknown types are passed over by their length")
  func unknownRecords() throws {
    let expected = [Self.first, "ac:23:3f:a0:00:01 display on age 0"]
    #expect(
      decoded(try datagram(Self.gateway, "ee 0003 010203 08 0004 00000000 ef 0000")) == .success(expected)
    )
  }

  @Test("a record may name its own observer, and hand back to the sender")
  func otherObservers() throws {
    let records =
      "08 0004 00000000 01 0005 04 726f6f66 08 0004 00000001 08 0004 00000002 01 0000 08 0004 00000003"
    #expect(
      decoded(try datagram(Self.gateway, records))
        == .success([
          Self.first,
          "ac:23:3f:a0:00:01 display on age 0",
          "roof display on age 1000000",
          "roof display on age 2000000",
          "ac:23:3f:a0:00:01 display on age 3000000",
        ])
    )
  }

  @Test(
    "a record that is wrong is counted, and refuses a datagram that has nothing else or is signed",
    arguments: [
      ("02 0e", DatagramRefusal.tooShort),
      ("02 000f 00000000 7f 05", .lengthMismatch),
      ("02 000e 00000000 7f 05 00 07 03 0000000000", .tooShort),
      ("02 000f 00000000 c5 07 00 ff 00 aabbccddeeff", .badField),
      ("02 000f 00000000 c5 00 05 ff 00 aabbccddeeff", .badField),
      ("02 000f 00000000 c5 00 00 ff 04 aabbccddeeff", .badField),
      ("03 0010 00000000 00 7fc00000 03 aabbccddeeff", .badField),
      ("03 000f 00000000 00 7fc00000 02 aabbccddee", .tooShort),
      ("04 0005 00000000 03", .badField),
      (
        "07 0031 00000000 01 4047b00000000000 4021000000000000 3f000000 bf800000 7fc00000 3f800000 3f800000 00000000 00000000",
        .badField
      ),
      (
        "07 0031 00000000 01 4047b00000000000 4021000000000000 3f000000 bf800000 7fc00000 7fc00000 00000000 00000000 00000000",
        .badField
      ),
      (
        "0a 0029 00000064 03 00000007 000186a0 3e000000 bd000000 00000000 3f800000 00000000 00000000 00000000",
        .badField
      ),
      (
        "0a 0029 00000064 02 00000007 00000000 3e000000 bd000000 00000000 3f800000 00000000 00000000 00000000",
        .badField
      ),
      (
        "0a 0029 00000064 02 00000007 000186a0 7fc00000 bd000000 00000000 3f800000 00000000 00000000 00000000",
        .badField
      ),
      (
        "0a 0029 00000064 02 00000007 000186a0 3e000000 bd000000 00000000 3f000000 00000000 00000000 00000000",
        .badField
      ),
      (
        "0a 0028 00000064 02 00000007 000186a0 3e000000 bd000000 00000000 3f800000 00000000 00000000 000000",
        .tooShort
      ),
      ("0b 0009 00000000 03 0000 00 00", .badField),
      ("0b 0009 00000000 02 0000 03 00", .badField),
      ("04 0003 000000", .tooShort),
      ("05 0010 00000000 001122334455 ba 0985 000003", .lengthMismatch),
      ("06 0005 00000000 05", .lengthMismatch),
      ("06 0015 00000000 05 00000000 7fc00000 00000000 00000000", .badField),
      ("07 001d 00000000 02 4047b00000000000 4021000000000000 41400000 3fa00000", .badField),
      ("07 001d 00000000 00 4057b00000000000 4021000000000000 41400000 3fa00000", .badField),
      ("07 001d 00000000 00 4047b00000000000 4021000000000000 bf800000 3fa00000", .badField),
      ("09 0010 00000000 000000fa 40000000 00000003", .badField),
      ("01 0002 01 ac", .lengthMismatch),
      ("01 0001 04", .badIdentity),
    ]
  )
  func wrongRecords(hex: String, reason: DatagramRefusal) throws {
    #expect(decoded(try datagram(Self.gateway, hex)) == .failure(reason))
    let (lines, notes) = read(try datagram(Self.gateway, "08 0004 00000000" + hex))
    #expect(lines?.count == 2)
    #expect(notes.skipped == [reason: 1])
    var signed = try datagram(Self.gateway, "08 0004 00000000" + hex + String(repeating: "5a", count: 16))
    signed[5] = 1
    #expect(decoded(signed) == .failure(reason))
  }

  @Test("the head says where the records and the tag lie")
  func signed() throws {
    var bytes = try datagram(Self.gateway, "08 0004 00000000" + String(repeating: "5a", count: 16))
    bytes[5] = 1
    bytes[11] = 9
    let head = try PharosDatagramHead.head(of: bytes.span.bytes)
    #expect(head.keyID == 9)
    #expect(head.observer == .eui48(0xAC23_3FA0_0001))
    #expect(head.bootID == 1 && head.sequence == 2 && head.uptime == .milliseconds(3))
    #expect(head.records == 36..<43)
    #expect(head.tag == 43..<59)
    // The tag is not judged here, and is no record.
    #expect(decoded(bytes) == .success([Self.first, "ac:23:3f:a0:00:01 display on age 0"]))
    let sample = Samples.pharos[0]
    let unsigned = try PharosDatagramHead.head(of: sample.span.bytes)
    #expect(unsigned.tag == nil)
  }

  private func datagram(_ observer: String, _ records: String) throws -> [UInt8] {
    var datagram = bytes(Self.head + observer + records)
    datagram[6] = UInt8(datagram.count >> 8)
    datagram[7] = UInt8(datagram.count & 0xFF)
    return datagram
  }
}
