import FuzzSupport
import PharosHTTP

/// The fields of a request's head that hold numbers: the range of a file.
final class HeadersTarget: FuzzTarget {
  static let name = "headers"
  static let maximumLength = 128

  func run(_ input: RawSpan) {
    let text = String(decoding: input.array, as: UTF8.self)
    for size in [0, 1, 1_000, Int.max] {
      switch ByteRange(field: text, size: size) {
      case .whole, .beyond: break
      case .part(let range):
        demand(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= size, "a part lies in the file")
      }
    }
  }

  static var words: [[UInt8]] {
    ["bytes=", "-", ",", "9223372036854775807", "9223372036854775808", "99999999999999999999999", "0"].map {
      Array($0.utf8)
    }
  }

  static func seeds() throws -> [[UInt8]] {
    ["bytes=0-9223372036854775807", "bytes=5-", "bytes=-10", "bytes=0-0,5-6", "bytes=7-3"].map {
      Array($0.utf8)
    }
  }
}
