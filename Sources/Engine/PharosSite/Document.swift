import PharosDocuments
import PharosModel

/// The common part of the documents that clients send over HTTP: JSON, read by the rules of the site file.
enum Document {
  /// The maximum size of a document.
  ///
  /// - Units: bytes. A region that lists 10,000 observers by UUID takes 400 KB.
  static let largest = 1 << 20
  /// The maximum length of an identifier in a document, in bytes of UTF-8: it appears in addresses, logs and events.
  static let maximumIdentifier = 128

  /// Notes a mistake in an identifier that comes from an address.
  static func check(identifier: String, what: String, problems: DocumentProblems) {
    let expected = "1 to \(maximumIdentifier) bytes without control characters"
    let isGood =
      identifier.contains { !$0.isWhitespace } && identifier.utf8.count <= maximumIdentifier
      && !PlainText.hasControls(identifier)
    guard !isGood else { return }
    let sketch = PlainText.cut(identifier, to: 60)
    problems.mistake("\(what)'s identifier is \"\(sketch)\"", line: 1, field: "id", expected: expected)
  }
}

extension DocumentFields {
  /// Notes a mistake if the `id` differs from the one in the address.
  func check(identifier: String) {
    guard let id = text("id"), id != identifier else { return }
    mistake(
      "id",
      "id is \"\(PlainText.cut(id, to: 60))\"",
      expected: "\"\(PlainText.cut(identifier, to: 60))\", as in the address, or no id"
    )
  }

  /// Notes a mistake if the name is none that can be shown to people.
  func check(name: String?) {
    guard let name else { return }
    let isGood =
      (1...Document.maximumIdentifier).contains(name.utf8.count)
      && !PlainText.hasControls(name)
    guard !isGood else { return }
    let expected = "1 to \(Document.maximumIdentifier) bytes without control characters"
    mistake("name", "name is \"\(PlainText.cut(name, to: 60))\"", expected: expected)
  }
}
