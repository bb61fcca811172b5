import FuzzSupport
import PharosDocuments
import PharosModel

/// JSON as documents, bodies and GeoJSON are read; and what is written of it, read again.
final class JSONTextTarget: FuzzTarget {
  static let name = "json-text"
  static let maximumLength = 2_048

  private var text = JSONText()

  func run(_ input: RawSpan) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: input.array)
    } catch {
      demand((0...input.byteCount).contains(error.offset), "an error lies within the text")
      return
    }
    let writable = reduced(value)
    text.removeAll()
    write(writable)
    do {
      let again = try JSONValue(parsing: text.utf8)
      demand(again == writable, "what is written reads as it was: \(text.text)")
    } catch {
      // The root is one level deeper than what was read where it is no container.
      demand(error.reason.hasPrefix("nested"), "what is written can be read: \(error)")
    }
  }

  /// The same in what can be written by names that are not known beforehand: members become texts, the root a list.
  private func reduced(_ value: JSONValue) -> JSONValue {
    func element(_ value: JSONValue) -> JSONValue {
      switch value {
      case .null, .bool: return .string(value.kind)
      case .integer, .string: return value
      // A whole number that was written with a fraction or an exponent is written without.
      case .number(let number):
        let isWhole = number == number.rounded() && number.magnitude < 9e15
        return isWhole ? .integer(Int64(number)) : value
      case .array(let elements): return .array(elements.map(element))
      case .object(let members):
        return .object(
          members.map { member in
            if case .string = member.value { return member }
            return JSONValue.Member(name: member.name, value: .string(member.value.kind))
          }
        )
      }
    }
    return .array([element(value)])
  }

  private func write(_ value: JSONValue) {
    switch value {
    case .null, .bool: break
    case .integer(let number): text.element(number)
    case .number(let number): text.element(number)
    case .string(let string): text.element(string)
    case .array(let elements):
      text.openArray()
      for element in elements { write(element) }
      text.closeArray()
    case .object(let members):
      text.openObject()
      for member in members {
        if case .string(let string) = member.value { text.member(named: member.name, string) }
      }
      text.closeObject()
    }
  }

  static var words: [[UInt8]] {
    [
      "true", "false", "null", "\\u00e9", "\\ud83d\\ude00", "1e308", "-0.0", "1e-400", "{\"a\":", "[[[[",
      "9223372036854775808",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    Array(Samples.json.prefix(3))
      + [
        #"{"a":[1,-2.5e-3,true,null,"\u00e9\n"],"b":{"c":{}}}"#, "[0,-0,1e5,123456789012345678901]", "\"x\"",
      ].map { Array($0.utf8) }
  }
}
