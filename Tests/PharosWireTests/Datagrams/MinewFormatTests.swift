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

  @Test("a length, a tail or a rest that contradicts the frame refuses it whole")
  func contradictions() {
    var longer = Samples.minew[0]
    longer[5] += 1
    #expect(decoded(longer) == .failure(.lengthMismatch))
    var tailless = Samples.minew[0]
    tailless[tailless.count - 1] = 0xDC
    #expect(decoded(tailless) == .failure(.badField))
    var fewer = Samples.minew[0]
    fewer[13] = 1
    #expect(decoded(fewer) == .failure(.lengthMismatch))
    for length in 2..<Samples.minew[0].count {
      let cut = decoded(Array(Samples.minew[0].prefix(length)))
      #expect(cut == .failure(length < 6 ? .tooShort : .lengthMismatch))
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

  @Test("a Ruuvi tag without an address or without data refuses the post whole")
  func brokenRuuvi() {
    let head = #"{"data": {"gw_mac": "C8:25:2D:8E:9C:2C", "tags": "#
    #expect(decoded(head + #"{"nobody": {"rssi": -41, "data": "020106"}}}}"#) == .failure(.badIdentity))
    #expect(decoded(head + #"{"D4:15:5C:77:56:68": {"rssi": -41, "data": "02010"}}}}"#) == .failure(.badText))
    #expect(decoded(head + #"{"D4:15:5C:77:56:68": {"rssi": -41}}}}"#) == .failure(.badField))
    #expect(decoded(head + #"{"D4:15:5C:77:56:68": 7}}}"#) == .failure(.badField))
  }
}
