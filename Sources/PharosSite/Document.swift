import Yams

/// What the documents that come over HTTP have in common: JSON, read by the rules of the site file.
enum Document {
  /// The largest document.
  ///
  /// - Units: bytes. A region that lists 10,000 observers by UUID takes 400 KB.
  static let largest = 1 << 20
  /// The longest identifier in a document, in bytes of UTF-8: it stands in addresses, logs and events.
  static let longestIdentifier = 128

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: the bytes.
  ///   - name: how messages call the document.
  ///   - read: makes a value of the tree, or notes why not.
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

  /// Notes what is wrong with an identifier that comes from an address.
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
