import PharosAdvertising
import PharosReports

/// Beacon frames as members of an advert's line.
extension IBeacon {
  /// - Shape: `ibeacon` {`uuid` in lower case, `major`, `minor`, `tx_power`}.
  func append(to json: inout JSONText) {
    json.openObject("ibeacon")
    json.member("uuid", uuid.description.lowercased())
    json.member("major", major)
    json.member("minor", minor)
    json.member("tx_power", measuredPower)
    json.closeObject()
  }
}

extension AltBeacon {
  /// - Shape: `altbeacon` {`company`, `id` of 20 bytes in hex, `ref_rssi`, `mfg_reserved`}.
  func append(to json: inout JSONText) {
    json.openObject("altbeacon")
    json.member("company", company)
    let id = Hex.text(uuid.high, bytes: 8) + Hex.text(uuid.low, bytes: 8)
    json.member("id", id + Hex.text(UInt64(major), bytes: 2) + Hex.text(UInt64(minor), bytes: 2))
    json.member("ref_rssi", measuredPower)
    json.member("mfg_reserved", manufacturerByte)
    json.closeObject()
  }
}

extension Frame {
  /// - Shape: `eddystone` {`frame`, `service_data` in hex, then what the frame's type has}.
  func appendEddystone(serviceData: some Sequence<UInt8>, to json: inout JSONText) {
    guard let name = eddystoneName else { return }
    json.openObject("eddystone")
    json.member("frame", name)
    json.member("service_data", Hex.text(serviceData))
    switch self {
    case .eddystoneUID(let frame):
      json.member("tx_power_0m", frame.transmitPower)
      json.member("namespace", frame.namespace.description)
      json.member("instance", Hex.text(frame.instance, bytes: 6))
    case .eddystoneURL(let frame):
      json.member("tx_power_0m", frame.transmitPower)
      json.member("url", frame.url)
    case .eddystoneTLM(let frame):
      if let battery = frame.batteryMillivolts { json.member("battery_mv", battery) }
      if let temperature = frame.temperature { json.member("temperature", temperature, decimals: 3) }
      json.member("adv_count", frame.advertCount)
      json.member("uptime", frame.uptime.seconds, decimals: 1)
    case .eddystoneEID(let frame):
      json.member("tx_power_0m", frame.transmitPower)
      json.member("eid", Hex.text(frame.identifier, bytes: 8))
    case .eddystoneEncryptedTLM(let frame):
      json.member("salt", Hex.text(UInt64(frame.salt), bytes: 2))
    case .iBeacon, .altBeacon: break
    }
    json.closeObject()
  }

  private var eddystoneName: String? {
    switch self {
    case .eddystoneUID: "UID"
    case .eddystoneURL: "URL"
    case .eddystoneTLM, .eddystoneEncryptedTLM: "TLM"
    case .eddystoneEID: "EID"
    case .iBeacon, .altBeacon: nil
    }
  }
}
