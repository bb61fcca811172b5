package import PharosReports
import Yams

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
