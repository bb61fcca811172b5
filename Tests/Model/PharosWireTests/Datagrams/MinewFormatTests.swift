import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("Minew gateways")
struct MinewFormatTests {
  @Test("every payload is an advert with its own level and the device's kind of address")
  func devices() {
    #expect(
      decoded(Samples.minew[0])
        == .success([
          "0a:0b:0c:0d:0e:0f advert c0:01:02:03:04:05/random -60 unknown "
            + "[0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5] received",
          "0a:0b:0c:0d:0e:0f advert c0:01:02:03:04:05/random - unknown [] received",
          "0a:0b:0c:0d:0e:0f advert 00:00:aa:55:aa:55/public -39 unknown [020106] received",
        ])
    )
  }

  @Test("a gateway that hears nothing proves that it lives")
  func nothing() {
    guard case .success(let lines) = decoded(Samples.minew[1]) else { return #expect(Bool(false)) }
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("00:00:00:00:00:0a heartbeat") == true)
  }

  @Test("of a frame whose lengths contradict it, what stands before the contradiction is read")
  func contradictions() {
    let whole = Samples.minew[0]
    guard case .success(let lines) = decoded(whole) else { return #expect(Bool(false)) }
    var shorter = whole
    shorter[5] -= 1
    #expect(decoded(shorter) == .failure(.lengthMismatch))
    for (place, byte) in [(5, whole[5] + 1), (whole.count - 1, 0xDC)] {
      var frame = whole
      frame[place] = byte
      #expect(decoded(frame) == .success(lines))
    }
    for length in 2..<whole.count {
      switch decoded(Array(whole.prefix(length))) {
      case .success(let read): #expect(!read.isEmpty && read == lines.prefix(read.count).map { $0 })
      case .failure(let reason): #expect(reason == .tooShort && length < 56, "\(length)")
      }
    }
  }

  @Test("a Ruuvi gateway's post gives a heartbeat and one advert for each tag")
  func ruuvi() {
    guard case .success(let lines) = decoded(Samples.ruuvi[0]) else { return #expect(Bool(false)) }
    #expect(lines.count == 3)
    #expect(lines[0].hasPrefix("c8:25:2d:8e:9c:2c heartbeat"))
    #expect(
      lines[1]
        == "c8:25:2d:8e:9c:2c advert d4:15:5c:77:56:68/unknown -41 unknown [0201061bff9904050f] received"
    )
    #expect(lines[2] == "c8:25:2d:8e:9c:2c advert c4:be:84:e7:ec:3e/unknown -77 unknown [020106] received")
    guard case .success(let empty) = decoded(Samples.ruuvi[1]) else { return #expect(Bool(false)) }
    #expect(empty.count == 1)
  }

  @Test(
    "a Ruuvi tag without an address or without data costs that tag",
    arguments: [
      (#""tag": {"rssi": -41, "data": "020106"}"#, DatagramRefusal.badIdentity),
      (#""D4:15:5C:77:56:68": {"rssi": -41, "data": "02010"}"#, .badText),
      (#""D4:15:5C:77:56:68": {"rssi": -41}"#, .badField), (#""D4:15:5C:77:56:68": 7"#, .badField),
    ]
  )
  func brokenRuuvi(tag: String, reason: DatagramRefusal) {
    let good = #""C4:BE:84:E7:EC:3E": {"rssi": -77, "data": "020106"}"#
    let text = #"{"data": {"gw_mac": "C8:25:2D:8E:9C:2C", "tags": {\#(tag), \#(good)}}}"#
    let (lines, notes) = read(Array(text.utf8))
    #expect(lines?.count == 2)
    #expect(notes.skipped == [reason: 1])
  }
}
