import PharosDocuments
import PharosModel
import PharosWire

/// The bytes that hexadecimal digits spell; white space and bars between them are for the reader.
func bytes(_ hex: String) -> [UInt8] {
  guard let bytes = Hex.bytes(hex.filter { !$0.isWhitespace && $0 != "|" }) else {
    preconditionFailure("not hexadecimal: \(hex)")
  }
  return bytes
}

/// The frames of a payload.
func frames(_ payload: [UInt8], iBeaconCompanies: [UInt16] = []) -> [Frame] {
  FrameDecoder(iBeaconCompanies: iBeaconCompanies).frames(in: payload.span.bytes)
}

/// The structures of a payload, and whether it ended in a fault.
func structures(_ payload: [UInt8]) -> (all: [ADStructure], isMalformed: Bool) {
  var walk = ADStructures()
  var all: [ADStructure] = []
  while let structure = walk.next(in: payload.span.bytes) { all.append(structure) }
  return (all, walk.isMalformed)
}

/// The summary of a payload.
func summary(_ payload: [UInt8]) -> AdvertSummary { AdvertSummary(of: payload.span.bytes) }

/// A structure as bytes.
func structure(_ type: UInt8, _ data: [UInt8]) -> [UInt8] { [UInt8(data.count + 1), type] + data }

/// A frame in one line, so that tables can say what is expected.
func line(_ frame: Frame) -> String {
  switch frame {
  case .iBeacon(let frame):
    "iBeacon \(frame.uuid)/\(frame.major)/\(frame.minor) \(frame.measuredPower)"
  case .altBeacon(let frame):
    "altBeacon \(frame.uuid)/\(frame.major)/\(frame.minor) \(frame.measuredPower)"
      + " of \(Hex.text(UInt64(frame.company), bytes: 2)) \(frame.manufacturerByte)"
  case .eddystoneUID(let frame):
    "UID \(frame.namespace)/\(Hex.text(frame.instance, bytes: 6)) \(frame.transmitPower)"
  case .eddystoneURL(let frame):
    "URL \(frame.url) \(frame.transmitPower)"
  case .eddystoneTLM(let frame):
    "TLM \(frame.batteryMillivolts.map { "\($0) mV" } ?? "-") \(frame.temperature.map { "\($0) °C" } ?? "-")"
      + " \(frame.advertCount) \(frame.uptimeTenths)"
  case .eddystoneEncryptedTLM(let frame):
    "eTLM \(Hex.text(frame.high, bytes: 8))\(Hex.text(UInt64(frame.low), bytes: 4))"
      + " \(Hex.text(UInt64(frame.salt), bytes: 2)) \(Hex.text(UInt64(frame.integrityCheck), bytes: 2))"
  case .eddystoneEID(let frame):
    "EID \(Hex.text(frame.identifier, bytes: 8)) \(frame.transmitPower)"
  }
}
