public import PharosDocuments

/// A UUID as two 64-bit halves, so that comparing and hashing cost two instructions and no allocation.
public struct UUID128: Hashable, Comparable, Sendable {
  /// Bytes 0 to 7, the first one most significant.
  public let high: UInt64
  /// Bytes 8 to 15, the first one most significant.
  public let low: UInt64

  /// Makes a UUID from its two halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads a UUID from text: 32 hexadecimal digits, with or without the four dashes in their usual places.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    guard bytes.count == 32 || bytes.count == 36 else { return nil }
    let dashed = bytes.count == 36
    var words: [UInt64] = [0, 0]
    var digits = 0
    for (index, byte) in bytes.enumerated() {
      if dashed, index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let nibble = Hex.nibble(byte) else { return nil }
      words[digits / 16] = words[digits / 16] << 4 | UInt64(nibble)
      digits += 1
    }
    self.init(high: words[0], low: words[1])
  }

  /// Orders UUIDs by their bytes.
  public static func < (left: UUID128, right: UUID128) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

extension UUID128: CustomStringConvertible {
  /// The usual text in capitals, as Core Location prints it.
  public var description: String {
    unsafe String(unsafeUninitializedCapacity: 36) { text in
      var end = 0
      for index in 0..<32 {
        if index == 8 || index == 12 || index == 16 || index == 20 {
          unsafe text[end] = UInt8(ascii: "-")
          end += 1
        }
        let nibble = Hex.nibble(index & 15, of: index < 16 ? high : low, bytes: 8)
        unsafe text[end] = nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
        end += 1
      }
      return end
    }
  }
}

extension UUID128: FieldRecord {
  /// Hands each field to a coder.
  @inlinable
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(high: try coder.field(value().high), low: try coder.field(value().low))
  }
}
