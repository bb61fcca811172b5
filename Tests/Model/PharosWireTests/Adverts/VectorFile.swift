import Foundation
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// A file of vectors, and what we find in it.
struct VectorFile: Sendable, CustomTestStringConvertible {
  /// Its name without the ending.
  let name: String
  /// How many rows it has, so that a row that went unread shows.
  let rowCount: Int
  /// The frames of each row that holds some, counted from 1.
  let frames: [Int: [String]]
  /// How many values of frames the project states.
  let comparedFacts: Int
  /// How many names, powers and companies the project states.
  let comparedSummaries: Int
  /// The rows in which we differ from the project, and why.
  let exceptions: [Int: String]

  var testDescription: String { name }

  /// The rows in order.
  func rows() throws -> [VectorRow] {
    try SharedData.jsonLines("vectors/\(name).jsonl").enumerated().map { index, object in
      VectorRow(file: name, number: index + 1, object: object)
    }
  }
}

/// One row of a file of vectors.
struct VectorRow {
  let file: String
  let number: Int
  let kind: String
  let origin: String
  let expect: [String: Any]
  /// Whether the project finds nothing in it.
  let isRefusedByPeer: Bool
  /// Whether it is one AD structure, not an advert of many.
  let isField: Bool
  /// The AD structures; empty where the row holds none.
  let payload: [UInt8]
  let name: String

  /// The frames in the payload.
  var frames: [Frame] { FrameDecoder().frames(in: payload.span.bytes) }

  init(file: String, number: Int, object: [String: Any]) {
    self.file = file
    self.number = number
    kind = object["kind"] as? String ?? ""
    origin = object["origin"] as? String ?? ""
    expect = object["expect"] as? [String: Any] ?? [:]
    isRefusedByPeer = object["expect"] as? String == "not parsed"
    isField = kind == "ll_pdu_or_field"
    name = "\(file) \(number) \(object["test"] as? String ?? "")"
    payload = VectorRow.payload(of: object, kind: kind, origin: origin)
  }

  /// The AD structures that a row's bytes are, are part of, or hold.
  private static func payload(of object: [String: Any], kind: String, origin: String) -> [UInt8] {
    let data = bytes(object["payload"] as? String ?? "")
    switch kind {
    case "manufacturer_data":
      let company = object["company"] as? Int ?? 0
      let services = (object["service_data"] as? [String: String] ?? [:]).sorted { $0.key < $1.key }
      return structure(0xFF, [UInt8(company & 0xFF), UInt8(company >> 8)] + data)
        + services.flatMap { structure(0x16, bytes($0.key).reversed() + bytes($0.value)) }
    case "manufacturer_data_no_company":
      // As Apple's, whosever they are: none but an iBeacon may be taken for one even so.
      return structure(0xFF, [0x4C, 0x00] + data)
    case "service_data_no_uuid":
      // Under Eddystone's UUID where the tests are those of Eddystone, otherwise under BTHome's.
      return structure(0x16, bytes(origin.hasSuffix("eddystone.test.js") ? "aafe" : "d2fc") + data)
    case "ll_pdu_or_field":
      let pdu = (object["expect"] as? [String: Any])?["type"] as? String
      return pdu == nil ? data : pdu == "ADV_NONCONN_IND" ? Array(data.dropFirst(8)) : []
    case "hci_event":
      return advertisingData(inEvent: data)
    default:
      return data
    }
  }

  /// The advertising data of an HCI event that holds one report, legacy or extended.
  private static func advertisingData(inEvent event: [UInt8]) -> [UInt8] {
    precondition(event[0] == 0x04 && event[1] == 0x3E, "an LE meta event")
    let lengthAt = event[3] == 0x0D ? 28 : 13
    let length = Int(event[lengthAt])
    return Array(event.dropFirst(lengthAt + 1).prefix(length))
  }
}
