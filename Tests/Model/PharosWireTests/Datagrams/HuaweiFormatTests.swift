import FuzzWire
import PharosModel
import PharosWire
import Testing

@Suite("Huawei access points")
struct HuaweiFormatTests {
  @Test("every tag is an advert, zeros that begin a MAC are kept, and a level of 127 is none")
  func tags() {
    #expect(
      decoded(Samples.huawei[0])
        == .success([
          "24:a5:2c:ff:ff:ff advert 0a:0b:0c:0d:0e:0f/unknown -60 unknown "
            + "[0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5] received",
          "24:a5:2c:ff:ff:ff advert 00:11:22:33:44:55/unknown - unknown [] received",
        ])
    )
  }

  @Test("an access point that hears nothing sends no report")
  func nothing() { #expect(decoded(Samples.huawei[1]) == .success([])) }

  @Test("bytes behind the last tag are passed over")
  func trailing() { #expect(decoded(Samples.huawei[0] + [1, 2, 3]) == decoded(Samples.huawei[0])) }

  @Test("of a datagram that is cut, the tags before the cut are read")
  func cut() {
    let whole = Samples.huawei[0]
    guard case .success(let lines) = decoded(whole) else { return #expect(Bool(false)) }
    let firstEnd = whole.count - 14
    for length in 2..<whole.count {
      let expected: Result<[String], DatagramRefusal> =
        length < firstEnd ? .failure(.tooShort) : .success([lines[0]])
      #expect(decoded(Array(whole.prefix(length))) == expected, "\(length)")
    }
  }
}
