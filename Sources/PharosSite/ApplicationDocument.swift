package import PharosReports
import Yams

/// What an application that is made over HTTP says of itself.
package struct ApplicationDocument: Hashable, Sendable {
  /// What it wants to know where people are for; nil if it does not ask about people.
  package var purpose: String?
  /// How many regions it may hold.
  package var regionLimit: Int

  /// The highest limit that may be asked for over HTTP: fifty times Core Location's.
  ///
  /// Each region costs the matcher an entry and each subject a row; a venue with more uses a rotation in the site file.
  package static let highestRegionLimit = 1_000
  /// The longest purpose; it is read by a person who decides.
  ///
  /// - Units: characters.
  package static let longestPurpose = 1_000

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
      if let length = document.purpose?.count, length > ApplicationDocument.longestPurpose {
        fields.mistake(
          "purpose",
          "purpose has \(length) characters",
          expected: "at most \(ApplicationDocument.longestPurpose)"
        )
      }
      let limits = 1...ApplicationDocument.highestRegionLimit
      document.regionLimit = fields.integer("regionLimit", in: limits) ?? Application.defaultRegionLimit
      return document
    }
  }

  /// Writes the members into the object that the caller has opened.
  package func write(to json: inout JSONText) {
    json.member("purpose", ifPresent: purpose)
    json.member("regionLimit", regionLimit)
  }
}

extension SiteFields {
  /// Notes an `id` that is not the one of the address.
  func check(identifier: String) {
    guard let id = text("id"), id != identifier else { return }
    mistake(
      "id",
      "id is \"\(PlainText.cut(id, to: 60))\"",
      expected: "\"\(PlainText.cut(identifier, to: 60))\", as in the address, or no id"
    )
  }
}
