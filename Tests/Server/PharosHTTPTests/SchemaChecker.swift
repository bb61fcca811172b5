import Foundation
import Testing

/// Checks values against the schemas of an OpenAPI description: as much of JSON Schema as ours uses, and strictly so:
/// members that a schema does not name are mistakes, unless it says that there may be others.
struct SchemaChecker {
  /// The whole description.
  let description: JSON

  /// What is wrong with a value.
  func mistakes(_ value: JSON, _ schema: JSON, at path: String = "$") -> [String] {
    if let reference = schema["$ref"].string {
      return mistakes(value, resolve(reference), at: path)
    }
    var mistakes: [String] = []
    if let types = schema["type"].string.map({ [$0] }) ?? schema["type"].value as? [String] {
      guard types.contains(where: { Self.isA(value, $0) }) else {
        return ["\(path) is \(value.value ?? "missing"), not \(types.joined(separator: " or "))"]
      }
    }
    if let words = schema["enum"].value as? [String], let word = value.string, !words.contains(word) {
      mistakes.append("\(path) is \"\(word)\", none of \(words)")
    }
    if let word = schema["const"].string, value.string != word {
      mistakes.append("\(path) is not \(word)")
    }
    if let minimum = schema["minimum"].number, let number = value.number, number < minimum {
      mistakes.append("\(path) is \(number), less than \(minimum)")
    }
    if let pattern = schema["pattern"].string, let text = value.string {
      if (try? Regex(pattern).firstMatch(in: text)) == nil {
        mistakes.append("\(path) is not like \(pattern)")
      }
    }
    if let minimum = schema["minLength"].integer, let text = value.string, text.count < minimum {
      mistakes.append("\(path) is too short")
    }
    if let minimum = schema["minItems"].integer, value.value is [Any], value.elements.count < minimum {
      mistakes.append("\(path) has too few elements")
    }
    let choices = schema["oneOf"].elements
    if !choices.isEmpty, choices.count(where: { self.mistakes(value, $0, at: path).isEmpty }) != 1 {
      mistakes.append("\(path) is not exactly one of the choices")
    }
    if schema["format"].string == "date-time", let text = value.string, !Self.isTime(text) {
      mistakes.append("\(path) is \"\(text)\", no time")
    }
    for (index, element) in value.elements.enumerated() where schema["items"].members != nil {
      mistakes += self.mistakes(element, schema["items"], at: "\(path)[\(index)]")
    }
    guard let members = value.members else { return mistakes }
    for name in schema["required"].value as? [String] ?? [] where members[name] == nil {
      mistakes.append("\(path).\(name) is missing")
    }
    let known = schema["properties"].members ?? [:]
    for (name, member) in members {
      if known[name] != nil {
        mistakes += self.mistakes(JSON(member), schema["properties"][name], at: "\(path).\(name)")
      } else if schema["additionalProperties"].members != nil {
        mistakes += self.mistakes(JSON(member), schema["additionalProperties"], at: "\(path).\(name)")
      } else if schema["additionalProperties"].bool != true, !known.isEmpty {
        mistakes.append("\(path).\(name) is not described")
      }
    }
    return mistakes
  }

  /// What a reference leads to.
  func resolve(_ reference: String) -> JSON {
    reference.dropFirst(2).split(separator: "/").reduce(description) { $0[String($1)] }
  }

  private static func isA(_ value: JSON, _ type: String) -> Bool {
    switch type {
    case "null": value.isNull
    case "string": value.string != nil
    case "array": value.value is [Any]
    case "object": value.members != nil
    case "boolean": isTruth(value)
    case "integer": !isTruth(value) && value.number.map { $0 == $0.rounded() } ?? false
    case "number": !isTruth(value) && value.number != nil
    default: false
    }
  }

  private static func isTruth(_ value: JSON) -> Bool {
    // Foundation's numbers remember what they were made of; a truth value is a character to them.
    (value.value as? NSNumber).map { $0.objCType.pointee == CChar(bitPattern: UInt8(ascii: "c")) }
      ?? false
  }

  private static func isTime(_ text: String) -> Bool {
    text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil
  }
}
