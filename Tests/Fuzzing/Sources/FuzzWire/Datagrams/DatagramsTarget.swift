import FuzzSupport
import PharosModel
import PharosWire

/// A datagram of any format, as it comes from a socket.
final class DatagramsTarget: FuzzTarget {
  static let name = "datagrams"
  static let longest = 1_500

  private var decoder = DatagramDecoder()
  private var check = DatagramCheck()

  func take(_ input: RawSpan) {
    let recognised = WireFormat.list.count { $0.recognises(input) }
    demand(recognised <= 1, "no two formats recognise a datagram")
    demand(
      (WireFormat(recognising: input) != nil) == (recognised == 1),
      "one that is recognised has a format"
    )
    _ = check.decode(input, by: &decoder)
    check.forget()
  }

  static var words: [[UInt8]] {
    PharosDatagramsTarget.words + JSONDatagramsTarget.words + IngicsTarget.words + HuaweiTarget.words
      + MinewTarget.words + MQTTTarget.words + MinewConnectTarget.words + AprilBrotherTarget.words
  }

  static func seeds() throws -> [[UInt8]] {
    try RaddecTarget.seeds() + PharosDatagramsTarget.seeds() + JSONDatagramsTarget.seeds()
      + IngicsTarget.seeds()
      + HuaweiTarget.seeds() + MinewTarget.seeds() + MQTTTarget.seeds() + MinewConnectTarget.seeds()
      + AprilBrotherTarget.seeds() + HCITextTarget.seeds()
  }
}
