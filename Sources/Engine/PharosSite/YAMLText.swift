import PharosDocuments
import PharosModel
import Yams

/// A writer of YAML: a tree of JSON values in block style, and what fits on a line in flow style.
enum YAMLText {
  /// The width up to which a mapping or a list stands on one line.
  private static let width = 110

  /// Returns a value as YAML.
  ///
  /// - Throws: `YamlError` if the emitter has no memory.
  static func text(of value: JSONValue) throws -> String {
    try Yams.serialize(node: node(value, isRoot: true), width: -1, allowUnicode: true)
  }

  private static func node(_ value: JSONValue, isRoot: Bool = false) -> Node {
    let isFlow = !isRoot && !isNested(value) && length(of: value) < width
    switch value {
    case .null: return Node("null", Tag(.null))
    case .bool(let flag): return .scalar(flag.represented())
    case .integer(let number): return .scalar(number.represented())
    case .number(let number): return Node("\(number)", Tag(.float))
    case .string(let text): return .scalar(text.represented())
    case .array(let elements):
      return .sequence(Node.Sequence(elements.map { node($0) }, .implicit, isFlow ? .flow : .block))
    case .object(let members):
      let pairs = members.map { (Node($0.name), node($0.value)) }
      return .mapping(Node.Mapping(pairs, .implicit, isFlow ? .flow : .block))
    }
  }

  /// Returns whether a list of mappings stands in a value: each of them gets a line of its own.
  private static func isNested(_ value: JSONValue) -> Bool {
    switch value {
    case .array(let elements):
      elements.contains { if case .object = $0 { true } else { isNested($0) } }
    case .object(let members): members.contains { isNested($0.value) }
    default: false
    }
  }

  /// The length of a value on one line, about.
  private static func length(of value: JSONValue) -> Int {
    switch value {
    case .null, .bool: 5
    case .integer(let number): "\(number)".count
    case .number(let number): "\(number)".count
    case .string(let text): text.count
    case .array(let elements): elements.reduce(2) { $0 + length(of: $1) + 2 }
    case .object(let members): members.reduce(2) { $0 + $1.name.count + length(of: $1.value) + 4 }
    }
  }
}
