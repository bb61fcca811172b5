import FuzzSupport
import PharosModel
import PharosWire

/// JSON as gateways and apps send it.
final class JSONDatagramsTarget: FuzzTarget {
  static let name = "json"
  static let maximumLength = 2_048

  private var check = DatagramCheck()

  func run(_ input: RawSpan) {
    _ = check.decode(input, as: JSONFormat.self)
    check.forget()
  }

  static var words: [[UInt8]] {
    let names = JSONField.allCases.flatMap { $0.names.map { "\"\($0)\":" } }
    let more = [
      "\"\\u00e9", "\\ud83d\\ude00", "true", "false", "null", "-1e9", "{\"", "\"}", "[{", "}]", "4c000215",
      "iBeacon:",
    ]
    return (names + more).map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] { Samples.json + Samples.ruuvi + Samples.vendorJSON }
}
