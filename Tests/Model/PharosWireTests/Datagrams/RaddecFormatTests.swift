import FuzzWire
import PharosDocuments
import PharosModel
import PharosWire
import Testing

@Suite("raddec")
struct RaddecFormatTests {
  private static let receiver0 = "00:1b:c5:09:40:81:00:00"
  private static let receiver1 = "00:1b:c5:09:40:81:00:01"

  @Test(
    "the vectors of the reference decode to its values",
    arguments: zip(
      Samples.raddec,
      [
        ["\(receiver0) advert aa:bb:cc:dd:ee:ff/public -69 unknown [] received"],
        [],
        [
          "\(receiver1) advert aa:bb:cc:dd:ee:ff/public -42 unknown [] sent 1420075424000000000",
          "\(receiver0) advert aa:bb:cc:dd:ee:ff/public -74 unknown [] sent 1420075424000000000",
        ],
        ["00:11:22:33:44:55 advert anonymous -80 unknown [] received"],
        [
          "\(receiver0) advert aa:bb:cc:dd:ee:ff/random -68 nonConnectable "
            + "[0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5] sent 1420070400000000000"
        ],
      ]
    )
  )
  func vectors(datagram: [UInt8], lines: [String]) {
    #expect(decoded(datagram) == .success(lines))
  }

  @Test("a flipped bit anywhere is refused", arguments: Samples.raddec)
  func flippedBits(datagram: [UInt8]) {
    for bit in 0..<datagram.count * 8 {
      var damaged = datagram
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      guard case .failure = decoded(damaged) else {
        Issue.record("bit \(bit) of \(Hex.text(datagram)) flipped and yet accepted")
        continue
      }
    }
  }

  @Test("two receivers and two packets give four adverts, receivers first")
  func product() throws {
    let datagram = try raddec(
      "03 fae4e3242009 02 5d01 02 000000000001 5e01 06 00112233445566778899aabbccddeeff "
        + "f102 19 4017092024e3e4fa0201020302e7fe09ff0d00fae4e3242009 08 4406092024e3e4fa"
    )
    let address = "fa:e4:e3:24:20:09/random"
    let data = "[0201020302e7fe09ff0d00fae4e3242009]"
    #expect(
      decoded(datagram)
        == .success([
          "00:00:00:00:00:01 advert \(address) -34 connectable \(data) received",
          "00:00:00:00:00:01 advert \(address) -34 scanResponse [] received",
          "00112233-4455-6677-8899-AABBCCDDEEFF advert \(address) -33 connectable \(data) received",
          "00112233-4455-6677-8899-AABBCCDDEEFF advert \(address) -33 scanResponse [] received",
        ])
    )
  }

  @Test(
    "every sort of transmitter is distinguished",
    arguments: [
      ("00", "anonymous"),
      ("01 0011223344556677", "anonymous"),
      ("02 001122334455", "00:11:22:33:44:55/public"),
      ("03 c01122334455", "c0:11:22:33:44:55/random"),
      ("04 00112233445566778899aabb", "anonymous"),
      ("05 00112233445566778899aabb", "anonymous"),
      ("06 00112233445566778899aabbccddeeff", "anonymous"),
      ("07 00112233", "anonymous"),
    ]
  )
  func transmitters(identifier: String, address: String) throws {
    let datagram = try raddec("\(identifier) 01 4101 02 000000000001")
    #expect(decoded(datagram) == .success(["00:00:00:00:00:01 advert \(address) -62 unknown [] received"]))
  }

  @Test(
    "every sort of receiver becomes an observer",
    arguments: [
      ("01 001bc50940810000", "00:1b:c5:09:40:81:00:00"),
      ("02 001122334455", "00:11:22:33:44:55"),
      ("03 c01122334455", "c0:11:22:33:44:55"),
      ("04 00112233445566778899aabb", "00112233445566778899aabb"),
      ("05 00112233445566778899aabb", "00112233445566778899aabb"),
      ("06 00112233445566778899aabbccddeeff", "00112233-4455-6677-8899-AABBCCDDEEFF"),
      ("07 00112233", "00112233"),
    ]
  )
  func receivers(identifier: String, observer: String) throws {
    let datagram = try raddec("02 aabbccddeeff 01 4101 \(identifier)")
    #expect(
      decoded(datagram) == .success(["\(observer) advert aa:bb:cc:dd:ee:ff/public -62 unknown [] received"])
    )
  }

  @Test(
    "packets of other radios keep the sighting without payload",
    arguments: [
      "04 00112233445566778899aabb", "05 00112233445566778899aabb", "06 00112233445566778899aabbccddeeff",
    ]
  )
  func foreignPackets(identifier: String) throws {
    let datagram = try raddec("\(identifier) 01 4101 02 000000000001 f101 04 55555555")
    #expect(decoded(datagram) == .success(["00:00:00:00:00:01 advert anonymous -62 unknown [] received"]))
  }

  @Test("an extended packet tells its advertising set, and its address where it has one")
  func extendedPackets() throws {
    // The second packet leaves its address out; the transmitter's own stands in for it.
    let datagram = try raddec(
      "03 c01122334455 01 4101 02 000000000001 "
        + "f102 12 4710 09 09 5544332211c0 3412 020106020107 07 4705 03 08 0050 ff"
    )
    #expect(
      decoded(datagram)
        == .success([
          "00:00:00:00:00:01 advert c0:11:22:33:44:55/random -62 extended sid1 [020106020107] received",
          "00:00:00:00:00:01 advert c0:11:22:33:44:55/random -62 extended sid5 [ff] received",
        ])
    )
  }

  @Test(
    "levels that no radio measures are none",
    arguments: [
      ("00", "-127"), ("7e", "-1"), ("7f", "-"), ("80", "1"), ("93", "20"), ("94", "-"), ("fe", "-"),
      ("ff", "-"),
    ]
  )
  func levels(byte: String, level: String) throws {
    let datagram = try raddec("02 aabbccddeeff 01 \(byte)01 02 000000000001")
    #expect(
      decoded(datagram)
        == .success(["00:00:00:00:00:01 advert aa:bb:cc:dd:ee:ff/public \(level) unknown [] received"])
    )
  }

  @Test("an option of a later version ends the reading, and what was read stands")
  func laterOptions() throws {
    let datagram = try raddec("02 aabbccddeeff 01 4101 02 000000000001 f203 f0 0000000003e8 f7 010203")
    #expect(
      decoded(datagram)
        == .success(["00:00:00:00:00:01 advert aa:bb:cc:dd:ee:ff/public -62 unknown [] sent 1000000000"])
    )
  }

  @Test(
    "a right checksum does not excuse what lies inside",
    arguments: [
      ("08 aabbccddeeff 00", DatagramRefusal.badIdentity),
      ("02 aabbccddee", .tooShort),
      ("02 aabbccddeeff 02 4101 02 000000000001", .tooShort),
      ("02 aabbccddeeff 01 4101 00", .noObserver),
      ("02 aabbccddeeff 01 4101 09 00", .badIdentity),
      ("02 aabbccddeeff 00 f0 0000000003", .tooShort),
      ("02 aabbccddeeff 00 f0 ffffffffffff", .badField),
      ("02 aabbccddeeff 00 f1 10", .badField),
      ("02 aabbccddeeff 00 f1 01 09 0006ffeeddccbbaa", .tooShort),
      ("02 aabbccddeeff 00 f1 01 08 0007ffeeddccbbaa", .lengthMismatch),
      ("02 aabbccddeeff 00 f1 01 01 00", .tooShort),
      ("02 aabbccddeeff 00 f1 01 07 0005ffeeddccbb", .tooShort),
      ("02 aabbccddeeff 00 f1 01 04 0702 0901", .tooShort),
      ("02 aabbccddeeff 00 f1 01 05 0703 020100", .tooShort),
      ("02 aabbccddeeff 00 f1 01 02 0700", .tooShort),
      ("02 aabbccddeeff 00 f2", .tooShort),
      ("02 aabbccddeeff 00 f3 c052648ede54b48d 4046c122", .tooShort),
    ]
  )
  func innerLengths(hex: String, reason: DatagramRefusal) throws {
    #expect(decoded(try raddec(hex)) == .failure(reason))
  }

  @Test(
    "a whole position is passed over, and one with absent axes",
    arguments: [
      "f3 c052648ede54b48d 4046c122a6f3f530 4046c122a6f3f530",
      "f3 c052648ede54b48d 4046c122a6f3f530 7fffffffffffffff",
      "f3 7fffffffffffffff",
    ]
  )
  func positions(hex: String) throws {
    let datagram = try raddec("02 aabbccddeeff 01 4101 02 000000000001 \(hex) f0 0000000003e8")
    #expect(
      decoded(datagram)
        == .success(["00:00:00:00:00:01 advert aa:bb:cc:dd:ee:ff/public -62 unknown [] sent 1000000000"])
    )
  }

  /// A raddec with the length before the given bytes and the checksum behind them.
  private func raddec(_ hex: String) throws -> [UInt8] {
    let body = bytes(hex)
    let length = body.count + 4
    let datagram = [0x10, UInt8(length >> 8), UInt8(length & 0xFF)] + body
    return datagram + [datagram.reduce(0, &+)]
  }
}
