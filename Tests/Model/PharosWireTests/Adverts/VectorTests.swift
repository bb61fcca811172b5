import Foundation
import PharosDocuments
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

/// Payloads from the test suites of other projects.
///
/// The frames that we find are pinned for every row; a row that is not named holds none. Where the row's own
/// project states a value of a frame, ours must agree, or the exception says why not.
@Suite(.enabled(if: SharedData.isPresent))
struct VectorTests {
  @Test("each payload gives the frames that stand in it and no other", arguments: VectorFile.all)
  func frames(file: VectorFile) throws {
    let rows = try file.rows()
    #expect(rows.count == file.rowCount)
    for row in rows {
      let expected = file.frames[row.number] ?? []
      #expect(row.frames.map(line) == expected, "\(row.name): \(Hex.text(row.payload))")
    }
    #expect(file.frames.keys.allSatisfy { (1...rows.count).contains($0) })
  }

  @Test("frames decode as in the other projects", arguments: VectorFile.all)
  func agreement(file: VectorFile) throws {
    var disagreeing: Set<Int> = []
    var compared = 0
    for row in try file.rows() {
      let theirs = row.theirFacts
      compared += theirs.count
      let ours = row.ourFacts
      if theirs.contains(where: { ours[$0.key] != $0.value }) { disagreeing.insert(row.number) }
      if row.isRefusedByPeer, !row.frames.isEmpty { disagreeing.insert(row.number) }
    }
    #expect(compared == file.comparedFacts, "a row's values went unread")
    #expect(disagreeing == Set(file.exceptions.keys), "\(file.exceptions)")
  }

  @Test("names, powers and companies are those that other projects read", arguments: VectorFile.all)
  func summaries(file: VectorFile) throws {
    var compared = 0
    for row in try file.rows() where row.isField || row.expect["manufacturer_data"] != nil {
      let found = summary(row.payload)
      if let name = (row.expect["local_name"] ?? row.expect["name"]) as? String {
        #expect(found.localName == name, "\(row.name)")
        compared += 1
      }
      if let power = (row.expect["tx_power"] ?? row.expect["txPower"]) as? Int {
        #expect(found.transmitPower.map(Int.init) == power, "\(row.name)")
        compared += 1
      }
      if let companies = row.expect["manufacturer_data"] as? [String: String] {
        #expect(found.company.map { "\($0)" } == companies.keys.first, "\(row.name)")
        compared += 1
      }
    }
    #expect(compared == file.comparedSummaries)
  }
}

extension VectorRow {
  /// What the project that the row comes from says about the frame, in words of ours.
  var theirFacts: [String: String] {
    guard holdsFrameFacts else { return [:] }
    var facts: [String: String] = [:]
    for (key, word) in VectorRow.words {
      guard let value = expect[key], !(value is NSNull) else { continue }
      facts[word] = "\(value)".lowercased()
    }
    // advlib writes an iBeacon's identity as one text, its numbers in hexadecimal.
    if file == "advlib", number == 1, let identity = (expect["deviceIds"] as? [String])?.first {
      let parts = identity.split(separator: "/")
      facts["uuid"] = UUID128(parts[0])?.description.lowercased()
      facts["major"] = UInt16(parts[1], radix: 16).map { "\($0)" }
      facts["minor"] = UInt16(parts[2], radix: 16).map { "\($0)" }
    }
    return facts
  }

  /// Whether the expected values are those of a frame, rather than a sensor's or an advert's.
  private var holdsFrameFacts: Bool {
    switch file {
    case "altbeacon", "homeassistant": true
    case "beacontools": (expect["type"] as? String)?.hasPrefix("Eddystone") == true
    case "ble_monitor": expect["uuid"] != nil
    case "advlib": number == 1 || origin.hasSuffix("eddystone.test.js")
    default: false
    }
  }

  /// How the projects call what a frame says.
  private static let words: [(String, String)] = [
    ("uuid", "uuid"), ("major", "major"), ("minor", "minor"), ("tx_power", "power"), ("txPower", "power"),
    ("getTxPower()", "power"), ("getIdentifier(0)", "uuid"), ("getIdentifier(1)", "major"),
    ("getIdentifier(2)", "minor"), ("getManufacturer()", "company"), ("getId1()", "uuid"),
    ("namespace", "namespace"), ("instance", "instance"), ("url", "url"), ("uri", "url"),
    ("voltage", "voltage"), ("temperature", "temperature"), ("advertising_count", "adverts"),
    ("seconds_since_boot", "uptime"), ("encrypted_data", "encrypted"), ("salt", "salt"), ("mic", "mic"),
    ("eid", "eid"),
  ]

  /// What we say about the frames of the row.
  var ourFacts: [String: String] {
    var facts: [String: String] = [:]
    for frame in frames {
      switch frame {
      case .iBeacon(let frame):
        facts["uuid"] = uuidText(frame.uuid)
        facts["major"] = "\(frame.major)"
        facts["minor"] = "\(frame.minor)"
        facts["power"] = "\(frame.measuredPower)"
      case .altBeacon(let frame):
        facts["uuid"] = uuidText(frame.uuid)
        facts["major"] = "\(frame.major)"
        facts["minor"] = "\(frame.minor)"
        facts["power"] = "\(frame.measuredPower)"
        facts["company"] = "\(frame.company)"
      case .eddystoneUID(let frame):
        facts["namespace"] = frame.namespace.description
        facts["instance"] = Hex.text(frame.instance, bytes: 6)
        facts["power"] = "\(frame.transmitPower)"
      case .eddystoneURL(let frame):
        facts["url"] = frame.url
        facts["power"] = "\(frame.transmitPower)"
      case .eddystoneTLM(let frame):
        facts["voltage"] = frame.batteryMillivolts.map { "\($0)" }
        facts["temperature"] = frame.temperature.map { "\(Int($0))" }
        facts["adverts"] = "\(frame.advertCount)"
        facts["uptime"] = "\(Int(frame.uptime.seconds))"
      case .eddystoneEncryptedTLM(let frame):
        facts["encrypted"] = Hex.text(frame.high, bytes: 8) + Hex.text(UInt64(frame.low), bytes: 4)
        facts["salt"] = "\(frame.salt)"
        facts["mic"] = "\(frame.integrityCheck)"
      case .eddystoneEID(let frame):
        facts["eid"] = Hex.text(frame.identifier, bytes: 8)
        facts["power"] = "\(frame.transmitPower)"
      }
    }
    return facts
  }

  /// A UUID in the way that the row's project writes it.
  private func uuidText(_ uuid: UUID128) -> String {
    let text = uuid.description.lowercased()
    return file == "ble_monitor" ? text.filter { $0 != "-" } : text
  }
}
