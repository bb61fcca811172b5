package import PharosDocuments
package import PharosModel

/// The settings of an application that no site file declares.
package struct ApplicationSettings: Hashable, Sendable {
  /// The purpose for which it wants to know where people are; nil if it does not ask about people.
  package var purpose: String?
  /// The maximum number of regions that it may have.
  package var regionLimit: Int
  /// Its accuracy and the purposes of temporary full accuracy; nil if it says nothing of them.
  package var accuracy: AccuracyPolicy?

  /// Makes settings.
  package init(
    purpose: String? = nil,
    regionLimit: Int = Application.defaultRegionLimit,
    accuracy: AccuracyPolicy? = nil
  ) {
    self.purpose = purpose
    self.regionLimit = regionLimit
    self.accuracy = accuracy
  }
}

/// An application that is created over HTTP as a JSON document.
extension ApplicationSettings {
  /// The maximum limit that may be requested over HTTP: fifty times Core Location's.
  ///
  /// Each region costs the matcher an entry and each subject a row; a venue with more uses a rotation in the site file.
  package static let highestRegionLimit = 1_000

  /// Reads a document.
  ///
  /// - Parameters:
  ///   - json: an object with `purpose`, `regionLimit` and the keys of an accuracy, all of which may be left out.
  ///   - identifier: the application's identifier, from the address; an `id` in the document must be the same.
  /// - Throws: every mistake, each with its field.
  package init(json: [UInt8], identifier: String) throws(DocumentError) {
    self = try DocumentNode.read(json, name: "application", limit: Document.largest) { node, problems in
      Document.check(identifier: identifier, what: "the application", problems: problems)
      let known = ["id", "purpose", "regionLimit"] + AccuracyPolicy.keys
      guard let fields = DocumentFields(node, place: "application", known: known, problems: problems) else {
        return nil
      }
      fields.check(identifier: identifier)
      let purpose = fields.filledText("purpose", expected: SiteReading.purposeExpected, form: .lines)
      if let length = purpose?.unicodeScalars.count, length > Application.maximumPurpose {
        fields.mistake(
          "purpose",
          "purpose has \(length) characters",
          expected: "at most \(Application.maximumPurpose)"
        )
      }
      let limit = fields.value("regionLimit", .integer(in: 1...ApplicationSettings.highestRegionLimit))
      return ApplicationSettings(
        purpose: purpose,
        regionLimit: limit ?? Application.defaultRegionLimit,
        accuracy: AccuracyPolicy.read(fields)
      )
    }
  }

  /// Writes the members into an open JSON object.
  package func write(to json: inout JSONText) {
    json.member("purpose", ifPresent: purpose)
    json.member("regionLimit", regionLimit)
    DocumentField.write(AccuracyPolicy.properties, ofAny: accuracy, to: &json)
  }
}
