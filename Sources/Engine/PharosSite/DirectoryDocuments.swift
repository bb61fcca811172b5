package import PharosDocuments
package import PharosModel

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

  /// Reads changes of several zones that count together.
  ///
  /// - Parameter json: an object with `zones`, documents of zones with their `id`, and `removed`, identifiers.
  /// - Returns: the zones that are made or replaced, and the identifiers of those that are removed.
  /// - Throws: every mistake, each with its field.
  package static func changes(json: [UInt8]) throws(DocumentError) -> (zones: [Zone], removed: [String]) {
    try DocumentNode.read(json, name: "zones", limit: Document.largest) { node, problems in
      let known = ["zones", "removed"]
      guard let fields = DocumentFields(node, place: "zones", known: known, problems: problems) else {
        return nil
      }
      var seen: Set<String> = []
      var reading = SiteReading(problems: problems)
      let zones = fields.list("zones", of: "zones").compactMap { _, path, node -> Zone? in
        let identifier = node["id"]?.scalar(.text) ?? ""
        Document.check(identifier: identifier, what: "the zone", problems: problems)
        guard seen.insert(identifier).inserted else {
          fields.mistake(
            "zones",
            "zone \"\(PlainText.cut(identifier, to: 64))\" occurs twice",
            expected: "each once"
          )
          return nil
        }
        return reading.zone(node, identifier: identifier, path: path)
      }
      let removed = fields.values("removed", of: "identifiers", .text)
      for identifier in removed where !seen.insert(identifier).inserted {
        let name = PlainText.cut(identifier, to: 64)
        fields.mistake("removed", "zone \"\(name)\" occurs twice", expected: "each zone once")
      }
      return (zones, removed)
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
    FingerprintDocument.write(zone.fingerprint, to: &json)
  }
}
