package import PharosDocuments
package import PharosModel

/// A region as a JSON document: the keys, the checks and the words of the site file.
///
/// Numbers are numbers, times and distances are texts with their unit (`"3s"`, `"2.5m"`), addresses are texts.
package enum RegionDocument {
  /// Reads a region.
  ///
  /// - Parameters:
  ///   - json: an object with the keys of a region in the site file; `id` may be left out.
  ///   - identifier: the region's identifier, from the address; an `id` in the document must be the same.
  /// - Returns: the region.
  /// - Throws: every mistake, each with its field.
  package static func region(json: [UInt8], identifier: String) throws(DocumentError) -> Region {
    // A client has no files here: a polygon comes with its coordinates.
    try DocumentNode.read(json, name: "region", limit: Document.largest) { node, problems in
      Document.check(identifier: identifier, what: "the region", problems: problems)
      var reading = SiteReading(problems: problems)
      return reading.region(node, identifier: identifier)
    }
  }

  /// Writes a region's members into the object that the caller has opened; read back, they give the same region.
  ///
  /// Rules at their defaults are written too, so that a reader sees what applies.
  package static func write(_ region: Region, to json: inout JSONText) {
    json.member("id", region.identifier)
    switch region.condition {
    case .beacons(let constraint): write(constraint, keyedByAddress: region.keyedByAddress, to: &json)
    case .geofence(let geofence): GeofenceDocument.write(geofence, to: &json)
    }
    switch region.subject {
    case .observer: json.member("subject", "observer")
    case .beacon(let observers):
      json.member("subject", "beacon")
      if let observers {
        json.openArray("observers")
        for observer in observers { json.element(observer.description) }
        json.closeArray()
      }
    }
    if let geofence = region.geofence {
      DocumentField.write(Region.announcing, of: region, to: &json)
      GeofenceDocument.write(geofence.policy, to: &json)
      return DocumentField.write(Region.holding + Region.describing, of: region, to: &json)
    }
    DocumentField.write(Region.notifying, of: region, to: &json)
    json.openObject("enter")
    DocumentField.write(PresencePolicy.enter, of: region.presence, to: &json)
    json.closeObject()
    json.openObject("exit")
    DocumentField.write(PresencePolicy.exit, of: region.presence, to: &json)
    json.closeObject()
    DocumentField.write(Region.holding + Region.describing, of: region, to: &json)
  }

  /// Writes the members that say which beacons are meant.
  static func write(_ constraint: BeaconConstraint, keyedByAddress: Bool, to json: inout JSONText) {
    switch constraint {
    case .proximity(let uuid, let major, let minor):
      json.member("uuid", "\(uuid)")
      if let major { json.member("major", major) }
      if let minor { json.member("minor", minor) }
    case .eddystone(let namespace, let instance):
      json.member("namespace", "\(namespace)")
      json.member("instance", ifPresent: instance.map { Hex.text($0, bytes: 6) })
    case .address(let address):
      json.member("mac", "\(address)")
    }
    if keyedByAddress { json.member("key", "mac") }
  }
}

extension Region {
  /// The keys that say which changes are published.
  static let notifying = announcing + displaying
  /// Those of them that a geofence lacks.
  static let displaying: [DocumentField<Region>] = [
    DocumentField("notifyEntryStateOnDisplay", \.notifyEntryStateOnDisplay, .flag, "By default `false`.")
  ]
  /// Those of them that a geofence has too.
  static let announcing: [DocumentField<Region>] = [
    DocumentField("notifyOnEntry", \.notifyOnEntry, .flag, "By default `true`."),
    DocumentField("notifyOnExit", \.notifyOnExit, .flag, "By default `true`."),
  ]
  /// The key of the longest time without news.
  static let holding = [DocumentField<Region>("maximumHold", \.maximumHold, .time)]
  /// The keys of the words for people.
  static let describing = DocumentField<Region>.members(Caption.members, of: \.caption)
}

extension PresencePolicy {
  /// The levels that a radio can report, in dBm; 127 and 0 mean "not available".
  private static let levels = -127.0...20.0

  /// The keys of `enter`.
  static let enter: [DocumentField<PresencePolicy>] = [
    DocumentField("samples", \.enterSamples, .integer(in: 1...1_000)),
    DocumentField("within", \.enterWithin, .time),
    DocumentField("rssi", \.enterRSSI, .number(in: levels, unit: "dBm")),
    DocumentField("distance", \.enterDistance, .distance),
  ]
  /// The keys of `exit`.
  static let exit: [DocumentField<PresencePolicy>] = [
    DocumentField("rssi", \.exitRSSI, .number(in: levels, unit: "dBm")),
    DocumentField("distance", \.exitDistance, .distance),
    DocumentField("dwell", \.exitDwell, .timeOrZero),
    DocumentField("silence", \.silence, .silence),
    DocumentField("floor", \.silenceFloor, .time),
    DocumentField("ceiling", \.silenceCeiling, .time),
    DocumentField("falseExitsPerDay", \.falseExitsPerDay, .number(in: 1e-6...1_000)),
    DocumentField("stillInterval", \.stillInterval, .time),
  ]
}

extension ValueForm where Value == Meters {
  /// A distance in metres, with its unit; beyond a kilometre no beacon is heard.
  fileprivate static var distance: Self {
    ValueForm(
      expected: "a distance in metres with its unit, as in 3m or 2.5m",
      schema: .distance.described("Metres with their unit, as in `2.5m`."),
      text: { "\($0.value)m" },
      parse: { text in
        guard text.hasSuffix("m"), let meters = Double(text.dropLast()) else { return nil }
        return meters > 0 && meters <= 1_000 ? Meters(meters) : nil
      }
    )
  }
}

extension ValueForm where Value == PresencePolicy.Silence {
  fileprivate static var silence: Self {
    ValueForm(
      expected: "adaptive, never or a time such as 30s",
      schema: .pattern(#"^(adaptive|never|[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d))$"#)
        .described("`adaptive`, `never` or a time."),
      text: { silence in
        switch silence {
        case .adaptive: "adaptive"
        case .never: "never"
        case .fixed(let time): time.exactlyWritten
        }
      },
      parse: { text in
        switch text {
        case "adaptive": .adaptive
        case "never": .never
        default: TimeSpan(written: text).flatMap { $0 > .zero ? .fixed($0) : nil }
        }
      }
    )
  }
}

/// A ranging request as a JSON document: which beacons, and whether only while inside.
package enum RangingDocument {
  /// Reads a request.
  ///
  /// - Parameter json: an object with the keys of a ranging entry in the site file.
  /// - Returns: the request.
  /// - Throws: every mistake, each with its field.
  package static func request(json: [UInt8]) throws(DocumentError) -> RangingRequest {
    try DocumentNode.read(json, name: "ranging", limit: Document.largest) { node, problems in
      DocumentFields(node, place: "ranging", known: SiteReading.rangingKeys, problems: problems)?.ranging()
    }
  }

  /// Writes a request's members into the object that the caller has opened.
  package static func write(_ request: RangingRequest, to json: inout JSONText) {
    RegionDocument.write(request.constraint, keyedByAddress: request.keyedByAddress, to: &json)
    DocumentField.write(RangingRequest.properties, of: request, to: &json)
  }
}
