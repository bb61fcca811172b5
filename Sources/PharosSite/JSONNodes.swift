import PharosReports
import Yams

/// Reads JSON as the tree that a site file is read from, so that one set of rules serves both.
enum JSONNodes {
  /// The tree of a text.
  ///
  /// - Throws: where reading stopped, and why.
  static func read(_ bytes: [UInt8]) throws(SiteProblem) -> Node {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw SiteProblem(line: 1, severity: .mistake, message: "not UTF-8", expected: "JSON in UTF-8")
    }
    do throws(JSONError) {
      return node(of: try JSONValue(parsing: bytes))
    } catch {
      throw SiteProblem(
        line: 1 + bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") },
        severity: .mistake,
        message: "not JSON: \(error.reason)",
        expected: error.expected
      )
    }
  }

  private static func node(of value: JSONValue) -> Node {
    switch value {
    case .null: plain("null")
    case .bool(let flag): plain("\(flag)")
    case .integer(let number): plain("\(number)")
    case .number(let number): plain("\(number)")
    case .string(let text): quoted(text)
    case .array(let elements): .sequence(Node.Sequence(elements.map(node), Tag(.seq), .flow))
    case .object(let members):
      .mapping(Node.Mapping(members.map { (quoted($0.name), node(of: $0.value)) }, Tag(.map), .flow))
    }
  }

  private static func plain(_ text: String) -> Node { .scalar(Node.Scalar(text, Tag(.implicit), .plain)) }

  private static func quoted(_ text: String) -> Node { .scalar(Node.Scalar(text, Tag(.str), .doubleQuoted)) }
}
