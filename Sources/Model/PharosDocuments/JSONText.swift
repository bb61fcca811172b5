/// A directory of names, as those who know identities define it.
package protocol NameDirectory: Sendable {}

/// JSON text as it is written: values appended in order, commas and quotes taken care of.
///
/// Foundation-free, so that the pure modules can say what they decided. The caller opens and closes containers in
/// pairs; numbers that JSON cannot hold (NaN, infinities) become null.
public struct JSONText: Sendable {
  /// The text so far, UTF-8.
  public private(set) var utf8: [UInt8] = []
  private var needsComma = false
  /// Gives the names that are written beside identities; nil writes identities alone.
  package var names: (any NameDirectory)?

  /// Starts an empty text.
  public init() {}

  /// The text so far.
  public var text: String { String(decoding: utf8, as: UTF8.self) }

  /// Empties the text and keeps its storage.
  public mutating func removeAll() {
    utf8.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// Opens an object, as the value of a key if one is given.
  public mutating func openObject(_ key: StaticString? = nil) { open(UInt8(ascii: "{"), key) }

  /// Closes an object.
  public mutating func closeObject() { close(UInt8(ascii: "}")) }

  /// Opens an array, as the value of a key if one is given.
  public mutating func openArray(_ key: StaticString? = nil) { open(UInt8(ascii: "["), key) }

  /// Closes an array.
  public mutating func closeArray() { close(UInt8(ascii: "]")) }

  /// Ends a line of JSON lines: the next value has no comma before it.
  public mutating func newLine() {
    utf8.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  /// Writes a key and a string.
  public mutating func member(_ key: StaticString, _ value: String) {
    write(key: key)
    write(value)
  }

  /// Writes a key that is not known beforehand, as in the metadata of a log, and a string.
  public mutating func member(named key: String, _ value: String) {
    element(key)
    utf8.append(UInt8(ascii: ":"))
    write(value)
  }

  /// Writes a key and a string, or nothing for nil.
  public mutating func member(_ key: StaticString, ifPresent value: String?) {
    if let value { member(key, value) }
  }

  /// Writes a key with a suffix, and a string.
  package mutating func member(_ key: StaticString, suffix: StaticString, _ value: String) {
    write(key: key, suffix: suffix)
    write(value)
  }

  /// Writes a key and a whole number.
  public mutating func member(_ key: StaticString, _ value: some BinaryInteger) {
    write(key: key)
    write(literal: String(value))
  }

  /// Writes a key and a number; with `decimals`, rounded to so many.
  public mutating func member(_ key: StaticString, _ value: Double, decimals: Int? = nil) {
    write(key: key)
    write(number: value, decimals: decimals)
  }

  /// Writes a key and a truth value.
  public mutating func member(_ key: StaticString, _ value: Bool) {
    write(key: key)
    write(literal: value ? "true" : "false")
  }

  /// Writes a key and null.
  public mutating func null(_ key: StaticString) {
    write(key: key)
    write(literal: "null")
  }

  /// Writes a value as an element of an array, or as the whole text.
  package mutating func element(_ value: JSONValue) {
    separate()
    write(value)
  }

  /// Writes a string as an element of an array.
  public mutating func element(_ value: String) {
    separate()
    write(value)
  }

  /// Writes a whole number as an element of an array.
  public mutating func element(_ value: some BinaryInteger) {
    separate()
    write(literal: String(value))
  }

  /// Writes a truth value as an element of an array.
  public mutating func element(_ value: Bool) {
    separate()
    write(literal: value ? "true" : "false")
  }

  /// Writes a number as an element of an array; with `decimals`, rounded to so many.
  public mutating func element(_ value: Double, decimals: Int? = nil) {
    separate()
    write(number: value, decimals: decimals)
  }

  private mutating func open(_ bracket: UInt8, _ key: StaticString?) {
    if let key { write(key: key) } else { separate() }
    open(bracket)
  }

  private mutating func open(_ bracket: UInt8) {
    utf8.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    utf8.append(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { utf8.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func write(key: StaticString, suffix: StaticString = "") {
    separate()
    utf8.append(UInt8(ascii: "\""))
    key.withUTF8Buffer { unsafe utf8.append(contentsOf: $0) }
    suffix.withUTF8Buffer { unsafe utf8.append(contentsOf: $0) }
    utf8.append(UInt8(ascii: "\""))
    utf8.append(UInt8(ascii: ":"))
  }

  private mutating func write(literal: String) { utf8.append(contentsOf: literal.utf8) }

  private mutating func write(number: Double, decimals: Int?) {
    guard number.isFinite else { return write(literal: "null") }
    var value = number
    if let decimals {
      var scale = 1.0
      for _ in 0..<decimals { scale *= 10 }
      let scaled = (number * scale).rounded()
      if scaled.magnitude < 9e15 { value = scaled / scale }
    }
    if value == value.rounded(), value.magnitude < 9e15 {
      write(literal: String(Int64(value)))
    } else {
      write(literal: value.description)
    }
  }

  private mutating func write(_ value: JSONValue) {
    switch value {
    case .null: write(literal: "null")
    case .bool(let flag): write(literal: flag ? "true" : "false")
    case .integer(let number): write(literal: String(number))
    case .number(let number): write(number: number, decimals: nil)
    case .string(let string): write(string)
    case .array(let elements):
      open(UInt8(ascii: "["))
      for value in elements { element(value) }
      close(UInt8(ascii: "]"))
    case .object(let members):
      open(UInt8(ascii: "{"))
      for member in members {
        element(member.name)
        utf8.append(UInt8(ascii: ":"))
        write(member.value)
      }
      close(UInt8(ascii: "}"))
    }
  }

  private mutating func write(_ string: String) {
    var string = string
    utf8.append(UInt8(ascii: "\""))
    string.withUTF8 { bytes in
      if unsafe bytes.allSatisfy(JSONText.isPlain) {
        unsafe utf8.append(contentsOf: bytes)
      } else {
        unsafe writeEscaped(bytes)
      }
    }
    utf8.append(UInt8(ascii: "\""))
  }

  /// Returns whether a byte needs no escape in a JSON string.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7F
  }

  private mutating func writeEscaped(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        utf8.append(UInt8(ascii: "\\"))
        utf8.append(byte)
      case 0x0A: utf8.append(contentsOf: "\\n".utf8)
      case 0x0D: utf8.append(contentsOf: "\\r".utf8)
      case 0x09: utf8.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F: utf8.append(contentsOf: "\\u00\(Hex.text(CollectionOfOne(byte)))".utf8)
      default: utf8.append(byte)
      }
    }
  }
}

extension JSONText {
  /// Returns the text of one object, whose members a closure writes.
  package static func object(_ write: (inout JSONText) -> Void) -> String {
    var json = JSONText()
    json.openObject()
    write(&json)
    json.closeObject()
    return json.text
  }

  /// Writes a key and an array of objects, one for each element, whose members a closure writes.
  package mutating func objects<Elements: Sequence>(
    _ key: StaticString,
    _ elements: Elements,
    _ write: (inout JSONText, Elements.Element) throws -> Void
  ) rethrows {
    openArray(key)
    for element in elements {
      openObject()
      try write(&self, element)
      closeObject()
    }
    closeArray()
  }

  /// Writes a key and an array of strings.
  package mutating func strings(_ key: StaticString, _ elements: some Sequence<String>) {
    openArray(key)
    for string in elements { element(string) }
    closeArray()
  }
}
