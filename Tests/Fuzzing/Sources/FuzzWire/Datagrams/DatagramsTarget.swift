import FuzzSupport
import PharosModel
import PharosWire

/// A datagram of any format, as it comes from a socket.
final class DatagramsTarget: FuzzTarget {
  static let name = "datagrams"
  static let maximumLength = 1_500

  private var decoder = DatagramDecoder()
  private var check = DatagramCheck()

  func run(_ input: RawSpan) {
    let recognised = WireFormat.list.filter { $0.recognises(input) }
    demand(recognised.count <= 1, "no two formats recognise a datagram")
    demand(
      recognised.isEmpty || WireFormat(recognising: input)?.name == recognised[0].name,
      "one that is recognised has its format"
    )
    _ = check.decode(input, by: &decoder)
    check.forget()
  }

  static var words: [[UInt8]] { formatTargets.flatMap { $0.words } }

  static func seeds() throws -> [[UInt8]] { try formatTargets.flatMap { try $0.seeds() } }
}
