package import PharosModel

/// The common part of the documents that clients send over HTTP: JSON, read by the rules of the site file.
enum Document {
  /// The maximum size of a document.
  ///
  /// - Units: bytes. A region that lists 10,000 observers by UUID takes 400 KB.
  static let largest = 1 << 20
  /// The maximum length of an identifier in a document, in bytes of UTF-8: it appears in addresses, logs and events.
  static let longestIdentifier = 128

  /// Notes a mistake in an identifier that comes from an address.
  static func check(identifier: String, what: String, problems: DocumentProblems) {
    let expected = "1 to \(longestIdentifier) bytes without control characters"
    let isGood =
      identifier.contains { !$0.isWhitespace } && identifier.utf8.count <= longestIdentifier
      && !identifier.unicodeScalars.contains(where: PlainText.isControl)
    guard !isGood else { return }
    let sketch = PlainText.cut(identifier, to: 60)
    problems.mistake("\(what)'s identifier is \"\(sketch)\"", line: 1, field: "id", expected: expected)
  }
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
  package init(json: [UInt8], identifier: String) throws(DocumentError) {
    self = try DocumentNode.read(json, name: "application", limit: Document.largest) { node, problems in
      Document.check(identifier: identifier, what: "the application", problems: problems)
      let known = ["id", "purpose", "regionLimit"]
      guard let fields = DocumentFields(node, place: "application", known: known, problems: problems) else {
        return nil
      }
      fields.check(identifier: identifier)
      let purpose = fields.filledText("purpose", expected: SiteReading.purposeExpected)
      if let length = purpose?.unicodeScalars.count, length > Application.longestPurpose {
        fields.mistake(
          "purpose",
          "purpose has \(length) characters",
          expected: "at most \(Application.longestPurpose)"
        )
      }
      let limit = fields.value("regionLimit", .integer(in: 1...ApplicationDocument.highestRegionLimit))
      return ApplicationDocument(purpose: purpose, regionLimit: limit ?? Application.defaultRegionLimit)
    }
  }

  /// Writes the members into an open JSON object.
  package func write(to json: inout JSONText) {
    json.member("purpose", ifPresent: purpose)
    json.member("regionLimit", regionLimit)
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
}
