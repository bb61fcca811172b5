package import PharosModel
import Yams

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
  package static func region(json: [UInt8], identifier: String) throws(SiteFileError) -> Region {
    try Document.read(json, name: "region") { node, problems in
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
    write(region.constraint, keyedByAddress: region.keyedByAddress, to: &json)
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
    json.member("notifyOnEntry", region.notifyOnEntry)
    json.member("notifyOnExit", region.notifyOnExit)
    json.member("notifyEntryStateOnDisplay", region.notifyEntryStateOnDisplay)
    write(region.presence, to: &json)
    json.member("maximumHold", region.maximumHold.exactlyWritten)
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

  private static func write(_ policy: PresencePolicy, to json: inout JSONText) {
    json.openObject("enter")
    json.member("samples", policy.enterSamples)
    json.member("within", ifPresent: policy.enterWithin?.exactlyWritten)
    if let level = policy.enterRSSI { json.member("rssi", level) }
    json.member("distance", ifPresent: policy.enterDistance.map { "\($0.value)m" })
    json.closeObject()
    json.openObject("exit")
    if let level = policy.exitRSSI { json.member("rssi", level) }
    json.member("distance", ifPresent: policy.exitDistance.map { "\($0.value)m" })
    json.member("dwell", policy.exitDwell.exactlyWritten)
    switch policy.silence {
    case .adaptive: json.member("silence", "adaptive")
    case .never: json.member("silence", "never")
    case .fixed(let time): json.member("silence", time.exactlyWritten)
    }
    json.member("floor", policy.silenceFloor.exactlyWritten)
    json.member("ceiling", policy.silenceCeiling.exactlyWritten)
    json.member("falseExitsPerDay", policy.falseExitsPerDay)
    json.member("stillInterval", ifPresent: policy.stillInterval?.exactlyWritten)
    json.closeObject()
  }
}

/// A ranging request as a JSON document: which beacons, and whether only while inside.
package enum RangingDocument {
  /// Reads a request.
  ///
  /// - Parameter json: an object with the keys of a ranging entry in the site file.
  /// - Returns: the request.
  /// - Throws: every mistake, each with its field.
  package static func request(json: [UInt8]) throws(SiteFileError) -> RangingRequest {
    try Document.read(json, name: "ranging") { node, problems in
      SiteReading(problems: problems).ranging(node, place: "ranging", path: "")
    }
  }

  /// Writes a request's members into the object that the caller has opened.
  package static func write(_ request: RangingRequest, to json: inout JSONText) {
    RegionDocument.write(request.constraint, keyedByAddress: request.keyedByAddress, to: &json)
    json.member("whileInside", request.whileInside)
  }
}
