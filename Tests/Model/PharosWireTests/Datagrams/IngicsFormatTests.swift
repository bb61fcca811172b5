import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("Ingics text")
struct IngicsFormatTests {
  @Test(
    "the vectors of the manual decode",
    arguments: zip(
      Samples.ingics,
      [
        [
          "e7:da:e0:8e:6f:c3 advert 0c:61:cf:c1:45:2e/unknown -44 unknown "
            + "[0201061aff4c000215b9a5d27d56cc4e3aab511f2153bcb9670001452ed6] received"
        ],
        [
          "cb:41:2f:0c:8e:dc advert e5:a7:06:e3:92:3a/unknown -87 unknown "
            + "[0201041aff590002150112233445566778899aabbccddeeff0000100c3bb] received"
        ],
        ["fe:ce:97:08:91:46 heartbeat - - 0 received"],
        [
          "cb:41:2f:0c:8e:dc advert cc:b9:7e:73:61:a4/unknown -49 scanResponse [0309414203ffffff] received",
          "cc:4b:73:90:6f:96 advert 51:a8:8a:d3:74:b7/unknown -87 extended [0201020201] sent 1574921085250000000",
          "c8:2b:96:ae:3b:04 fix -24.993477 121.422981 17.5 - gnss received",
        ],
      ]
    )
  )
  func vectors(datagram: [UInt8], lines: [String]) { #expect(decoded(datagram) == .success(lines)) }

  @Test(
    "every type of line says how the advert came",
    arguments: [
      ("$GPRP", "unknown"), ("$RSPR", "scanResponse"), ("$LRAD", "extended"), ("$LRSR", "extended"),
      ("$1MAD", "extended"), ("$1MSR", "extended"),
    ]
  )
  func types(type: String, pdu: String) {
    #expect(
      decoded("\(type),0C61CFC1452E,E7DAE08E6FC3,-44,020106\n\n")
        == .success(["e7:da:e0:8e:6f:c3 advert 0c:61:cf:c1:45:2e/unknown -44 \(pdu) [020106] received"])
    )
  }

  @Test("lines of unknown types are passed over, and a zero that ends the text")
  func unknownTypes() {
    #expect(
      decoded("$WHAT,1,2\r\n$HBRP,FECE97089146,FECE97089146,-127,00000000\0")
        == .success(["fe:ce:97:08:91:46 heartbeat - - 0 received"])
    )
  }

  @Test(
    "bytes before the first line affect no line",
    arguments: ["noise", "2E,E7DAE08E6FC3,-44,020106", "login:", "\u{7F}noise"]
  )
  func noiseFirst(noise: String) {
    let line = "$HBRP,FECE97089146,FECE97089146,-127,00000000"
    let (lines, notes) = read(Array("\(noise)\r\n\(line)\r\n".utf8))
    #expect(lines == ["fe:ce:97:08:91:46 heartbeat - - 0 received"])
    #expect(notes.skipped == [.badText: 1])
  }

  @Test(
    "a line that is wrong refuses a datagram that has no other",
    arguments: [
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44", DatagramRefusal.tooShort),
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3", .tooShort),
      ("$GPRP,0C61CFC1452,E7DAE08E6FC3,-44,020106", .badIdentity),
      ("$GPRP,0C61CFC1452E,hall,-44,020106", .badIdentity),
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3,-444,020106", .badField),
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3,loud,020106", .badField),
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,02010", .badText),
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,02zz06", .badText),
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,020106,noon", .badField),
      ("$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,020106,1574921085,", .badField),
      ("GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,020106", .unrecognised), ("$GPR", .badText),
      ("$GPSR,C82B96AE3B04,C82B96AE3B04,-127,200608,073549,-94.9,121.4,0.0,3.5", .badField),
      ("$WHAT,1,2", .nothingUnderstood),
      ("$", .badText),
    ]
  )
  func refusals(line: String, reason: DatagramRefusal) { #expect(decoded(line) == .failure(reason)) }
}
