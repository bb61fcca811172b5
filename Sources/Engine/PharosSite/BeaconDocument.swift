package import PharosDocuments
package import PharosModel

/// A beacon as a JSON document: the keys of its entry in the site file, without its identity, `person` and `irk`.
package enum BeaconDocument {
  /// Reads a beacon.
  ///
  /// - Parameters:
  ///   - json: an object with `name`, `measuredPower` and `interval`, each of which may be left out.
  ///   - id: the beacon, from the address; an `id` in the document must be the same.
  /// - Returns: the beacon's entry.
  /// - Throws: every mistake, each with its field.
  package static func beacon(json: [UInt8], id: BeaconID) throws(DocumentError) -> BeaconEntry {
    try DocumentNode.read(json, name: "beacon", limit: Document.largest) { node, problems in
      SiteReading(problems: problems).beacon(node, id: id)
    }
  }

  /// Writes what an entry says of a beacon into an open JSON object; read back, it gives the same entry.
  package static func write(_ entry: BeaconEntry, to json: inout JSONText) {
    DocumentField.write(BeaconEntry.properties, of: entry, to: &json)
  }
}

extension SiteReading {
  /// A beacon of a document, whose identity stands in the address.
  fileprivate func beacon(_ node: DocumentNode, id: BeaconID) -> BeaconEntry? {
    let known = ["id"] + DocumentField.keys(BeaconEntry.properties)
    guard let fields = DocumentFields(node, place: "beacon \"\(id)\"", known: known, problems: problems)
    else {
      return nil
    }
    fields.check(identifier: id.description)
    var entry = BeaconEntry(constraint: BeaconEntry.constraint(of: id))
    DocumentField.read(BeaconEntry.properties, of: fields, into: &entry)
    fields.check(name: entry.name)
    return entry
  }
}
