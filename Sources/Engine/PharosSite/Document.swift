package import PharosDocuments
package import PharosModel

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

/// An observer as a JSON document: the keys of its entry in the site file, without `person`.
package enum ObserverDocument {
  /// Reads an observer.
  ///
  /// - Parameters:
  ///   - json: an object with the keys of an observer in the site file; `id` may be left out.
  ///   - id: the observer, from the address; an `id` in the document must be the same.
  /// - Returns: the observer's entry.
  /// - Throws: every mistake, each with its field.
  package static func observer(json: [UInt8], id: ObserverID) throws(DocumentError) -> ObserverEntry {
    try DocumentNode.read(json, name: "observer", limit: Document.largest) { node, problems in
      SiteReading(problems: problems).observer(node, id: id)
    }
  }

  /// Writes an observer's members into an open JSON object; read back, they give the same observer.
  package static func write(_ entry: ObserverEntry, to json: inout JSONText) {
    json.member("id", "\(entry.id)")
    DocumentField.write(ObserverEntry.properties, of: entry, to: &json)
  }
}

/// A zone as a JSON document: the keys of its entry in the site file.
package enum ZoneDocument {
  /// Reads a zone.
  ///
  /// - Parameters:
  ///   - json: an object with the keys of a zone in the site file; `id` may be left out.
  ///   - identifier: the zone's identifier, from the address; an `id` in the document must be the same.
  /// - Returns: the zone.
  /// - Throws: every mistake, each with its field.
  package static func zone(json: [UInt8], identifier: String) throws(DocumentError) -> Zone {
    try DocumentNode.read(json, name: "zone", limit: Document.largest) { node, problems in
      Document.check(identifier: identifier, what: "the zone", problems: problems)
      var reading = SiteReading(problems: problems)
      return reading.zone(node, identifier: identifier)
    }
  }

  /// Writes a zone's members into an open JSON object; read back, they give the same zone.
  package static func write(_ zone: Zone, to json: inout JSONText) {
    json.member("id", zone.identifier)
    DocumentField.write(Zone.properties, of: zone, to: &json)
    json.strings("observers", zone.observers.map(\.description))
    json.strings("adjacent", zone.adjacent)
    json.openArray("beacons")
    for constraint in zone.beacons {
      json.openObject()
      RegionDocument.write(constraint, keyedByAddress: false, to: &json)
      json.closeObject()
    }
    json.closeArray()
    json.objects("occupancy", zone.occupancy) { json, threshold in
      json.member("above", threshold.above)
      json.member("below", threshold.below)
    }
  }
}
