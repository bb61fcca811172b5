/// A node of a document that a person or a client wrote: of YAML, with its line, or of JSON.
///
/// The nodes below it are made when they are read, so that the aliases of YAML cannot multiply them in memory.
package struct DocumentNode {
  /// The content of a node.
  package enum Content {
    /// Null, in JSON.
    case null
    /// True or false, in JSON.
    case bool(Bool)
    /// A number as it is written, in JSON.
    case number(String)
    /// A text in quotes.
    case text(String)
    /// A text without quotes, in YAML: the reader of the value decides on its type.
    case plain(String)
    /// The elements of a list.
    case list(() -> [DocumentNode])
    /// The keys and values of a mapping, in order.
    case mapping(() -> [(key: DocumentNode, value: DocumentNode)])
  }

  /// The type of a scalar.
  package enum ScalarType {
    case bool, number, text
  }

  /// The content.
  package let content: Content
  /// The line, counted from 1; 1 in JSON, where the path in the tree says where a value is.
  package let line: Int
  /// Indicates whether the document is JSON, which distinguishes numbers from texts.
  package let isJSON: Bool

  /// Makes a node of YAML.
  package init(_ content: Content, line: Int) {
    self.content = content
    self.line = line
    isJSON = false
  }

  /// Makes a node of a value in JSON.
  package init(_ json: JSONValue) {
    content =
      switch json {
      case .null: .null
      case .bool(let flag): .bool(flag)
      case .integer(let number): .number("\(number)")
      case .number(let number): .number("\(number)")
      case .string(let text): .text(text)
      case .array(let elements): .list { elements.map { DocumentNode($0) } }
      case .object(let members):
        .mapping { members.map { (DocumentNode(.string($0.name)), DocumentNode($0.value)) } }
      }
    line = 1
    isJSON = true
  }

  /// Indicates whether the node has an empty value: `regions:` with nothing after it.
  package var isNull: Bool {
    switch content {
    case .null: true
    case .plain(let text): ["", "~", "null", "Null", "NULL"].contains(text)
    default: false
    }
  }

  /// The text of a scalar of any type.
  package var scalar: String? {
    switch content {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .number(let text), .text(let text), .plain(let text): text
    case .list, .mapping: nil
    }
  }

  /// Returns the text of a scalar of a type, which only JSON distinguishes.
  package func scalar(_ type: ScalarType) -> String? {
    guard isJSON else { return scalar }
    switch (content, type) {
    case (.bool, .bool), (.number, .number), (.text, .text): return scalar
    default: return nil
    }
  }

  /// The text of a number; nil for what readers of YAML take for different numbers: `010` is 8 to some, `0x1F` is 31.
  package var numeral: String? {
    guard let text = scalar(.number) else { return nil }
    let digits = text.drop { $0 == "-" || $0 == "+" }
    guard digits.first == "0", let next = digits.dropFirst().first else { return text }
    return next.isNumber || next.isLetter ? nil : text
  }

  /// True or false; in YAML without quotes in every spelling of YAML 1.2 (10.3.2) and 1.1 (yaml.org/type/bool.html).
  package var flag: Bool? {
    switch (content, scalar(.bool)) {
    case (_, "true"): return true
    case (_, "false"): return false
    case (.plain(let text), _):
      let lower = text.lowercased()
      guard [lower, lower.uppercased(), lower.prefix(1).uppercased() + lower.dropFirst()].contains(text)
      else {
        return nil
      }
      return ["true", "yes", "on", "y"].contains(lower)
        ? true : ["false", "no", "off", "n"].contains(lower) ? false : nil
    default: return nil
    }
  }

  /// The elements of a list.
  package var elements: [DocumentNode]? {
    guard case .list(let elements) = content else { return nil }
    return elements()
  }

  /// The keys and values of a mapping.
  package var members: [(key: DocumentNode, value: DocumentNode)]? {
    guard case .mapping(let members) = content else { return nil }
    return members()
  }

  /// The value of a key.
  package subscript(_ key: String) -> DocumentNode? { members?.first { $0.key.scalar == key }?.value }

  /// Returns the line of a key within mappings, as in `listen.http`; nil if it is absent.
  package func line(ofKey path: String) -> Int? {
    var (node, line) = (self, Int?.none)
    for part in path.split(separator: ".") {
      guard let member = node.members?.first(where: { $0.key.scalar.map { $0 == part } ?? false }) else {
        return nil
      }
      (node, line) = (member.value, member.key.line)
    }
    return line
  }

  /// The description of the node in messages.
  package var sketch: String {
    switch content {
    case .mapping: "a mapping"
    case .list: "a list"
    default: "\"\(PlainText.cut(scalar ?? "", to: 60))\""
    }
  }

  /// Returns the name of an entry in messages: its id or another key, or its number in the list if it has none.
  package func name(_ kind: String, _ index: Int, key: String = "id") -> String {
    guard let id = self[key]?.scalar, !id.isEmpty else { return "\(kind) \(index + 1)" }
    return "\(kind) \"\(PlainText.cut(id, to: 64))\""
  }
}

extension DocumentNode {
  /// Reads a JSON document.
  ///
  /// - Parameters:
  ///   - json: the bytes.
  ///   - name: the name of the document in messages.
  ///   - limit: the maximum number of bytes.
  ///   - read: makes a value of the tree, or notes the reason why not.
  /// - Returns: the value.
  /// - Throws: all mistakes together.
  package static func read<Value>(
    _ json: [UInt8],
    name: String,
    limit: Int,
    _ read: (DocumentNode, DocumentProblems) -> Value?
  ) throws(DocumentError) -> Value {
    let problems = DocumentProblems()
    var value: Value?
    if json.count > limit {
      problems.mistake("longer than \(limit) bytes", line: 1, field: "", expected: "a shorter document")
    } else if let parsed = parse(json, file: nil, problems) {
      value = read(DocumentNode(parsed), problems)
      if value == nil, !problems.hasMistakes {
        problems.mistake("nothing can be made of it", line: 1, field: "")
      }
    }
    _ = try problems.conclude(path: name)
    guard let value else { throw DocumentError(path: name, problems: []) }
    return value
  }

  /// Parses JSON; nil, with the line and the reason noted, if it is none.
  package static func parse(_ json: [UInt8], file: String?, _ problems: DocumentProblems) -> JSONValue? {
    func refuse(_ offset: Int, _ message: String, _ expected: String) {
      let line = 1 + json.prefix(offset).count { $0 == UInt8(ascii: "\n") }
      problems.add(DocumentProblem(file: file, place: .line(line), message: message, expected: expected))
    }
    guard String(validating: json, as: UTF8.self) != nil else {
      refuse(0, "not UTF-8", DocumentProblem.textInUTF8("JSON", instead: json))
      return nil
    }
    do throws(JSONError) {
      return try JSONValue(parsing: json)
    } catch {
      refuse(error.offset, "not JSON: \(error.reason)", error.expected)
      return nil
    }
  }
}
