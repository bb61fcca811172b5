package import PharosModel
import Yams

/// The common part of the documents that clients send over HTTP: JSON, read by the rules of the site file.
enum Document {
  /// The maximum size of a document.
  ///
  /// - Units: bytes. A region that lists 10,000 observers by UUID takes 400 KB.
  static let largest = 1 << 20
  /// The maximum length of an identifier in a document, in bytes of UTF-8: it appears in addresses, logs and events.
  static let longestIdentifier = 128

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: the bytes.
  ///   - name: the name of the document in messages.
  ///   - read: makes a value of the tree, or notes the reason why not.
  /// - Returns: the value.
  /// - Throws: all mistakes together.
  static func read<Value>(
    _ json: [UInt8],
    name: String,
    _ read: (Node, SiteProblems) -> Value?
  ) throws(SiteFileError) -> Value {
    guard json.count <= largest else {
      let problem = SiteProblem(
        line: 1,
        severity: .mistake,
        message: "longer than \(largest) bytes",
        expected: "a shorter document"
      )
      throw SiteFileError(path: name, problems: [problem])
    }
    let problems = SiteProblems(isJSON: true)
    let node: Node
    do throws(SiteProblem) {
      node = try JSONNodes.read(json)
    } catch {
      throw SiteFileError(path: name, problems: [error])
    }
    let value = read(node, problems)
    _ = try problems.conclude(path: name)
    guard let value else {
      let problem = SiteProblem(line: 1, severity: .mistake, message: "nothing can be made of it")
      throw SiteFileError(path: name, problems: [problem])
    }
    return value
  }

  /// Notes a mistake in an identifier that comes from an address.
  static func check(identifier: String, what: String, problems: SiteProblems) {
    let expected = "1 to \(longestIdentifier) bytes without control characters"
    let isGood =
      identifier.contains { !$0.isWhitespace } && identifier.utf8.count <= longestIdentifier
      && !identifier.unicodeScalars.contains(where: PlainText.isControl)
    guard !isGood else { return }
    let sketch = PlainText.cut(identifier, to: 60)
    problems.mistake("\(what)'s identifier is \"\(sketch)\"", line: 1, field: "id", expected: expected)
  }
}

/// A reader of JSON as the tree of a site file, so that one set of rules serves both.
enum JSONNodes {
  /// Returns the tree of a text.
  ///
  /// - Throws: the line and the reason at which reading stopped.
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

/// The settings of an application that is created over HTTP.
package struct ApplicationDocument: Hashable, Sendable {
  /// The purpose for which it wants to know where people are; nil if it does not ask about people.
  package var purpose: String?
  /// The maximum number of regions that it may have.
  package var regionLimit: Int

  /// The maximum limit that may be requested over HTTP: fifty times Core Location's.
  ///
  /// Each region costs the matcher an entry and each subject a row; a venue with more uses a rotation in the site file.
  package static let highestRegionLimit = 1_000

  /// Makes a document.
  package init(purpose: String? = nil, regionLimit: Int = Application.defaultRegionLimit) {
    self.purpose = purpose
    self.regionLimit = regionLimit
  }

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: an object with `purpose` and `regionLimit`, both of which may be left out.
  ///   - identifier: the application's identifier, from the address; an `id` in the document must be the same.
  /// - Throws: every mistake, each with its field.
  package init(json: [UInt8], identifier: String) throws(SiteFileError) {
    self = try Document.read(json, name: "application") { node, problems in
      Document.check(identifier: identifier, what: "the application", problems: problems)
      let known = ["id", "purpose", "regionLimit"]
      let fields = SiteFields(node, place: "application", path: "", known: known, problems: problems)
      guard let fields else { return nil }
      fields.check(identifier: identifier)
      var document = ApplicationDocument()
      document.purpose = fields.filledText("purpose", expected: SiteReading.purposeExpected)
      if let length = document.purpose?.unicodeScalars.count, length > Application.longestPurpose {
        fields.mistake(
          "purpose",
          "purpose has \(length) characters",
          expected: "at most \(Application.longestPurpose)"
        )
      }
      let limits = 1...ApplicationDocument.highestRegionLimit
      document.regionLimit = fields.integer("regionLimit", in: limits) ?? Application.defaultRegionLimit
      return document
    }
  }

  /// Writes the members into an open JSON object.
  package func write(to json: inout JSONText) {
    json.member("purpose", ifPresent: purpose)
    json.member("regionLimit", regionLimit)
  }
}

extension SiteFields {
  /// Notes a mistake if the `id` differs from the one in the address.
  func check(identifier: String) {
    guard let id = text("id"), id != identifier else { return }
    mistake(
      "id",
      "id is \"\(PlainText.cut(id, to: 60))\"",
      expected: "\"\(PlainText.cut(identifier, to: 60))\", as in the address, or no id"
    )
  }
}
