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
    let recognised =
      (RaddecFormat.recognises(input) ? 1 : 0) + (PharosFormat.recognises(input) ? 1 : 0)
      + (JSONFormat.recognises(input) ? 1 : 0) + (IngicsFormat.recognises(input) ? 1 : 0)
      + (HuaweiFormat.recognises(input) ? 1 : 0) + (MinewFormat.recognises(input) ? 1 : 0)
      + (MQTTFormat.recognises(input) ? 1 : 0)
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
      + MinewTarget.words + MQTTTarget.words
  }

  static func seeds() throws -> [[UInt8]] {
    try RaddecTarget.seeds() + PharosDatagramsTarget.seeds() + JSONDatagramsTarget.seeds()
      + IngicsTarget.seeds()
      + HuaweiTarget.seeds() + MinewTarget.seeds() + MQTTTarget.seeds()
  }
}
