package import PharosIngest
import PharosReports
import PharosSite

/// What was heard, in the shape of a site file.
extension StarterSite {
  /// The most observers and beacons that are listed: who hears more picks his own.
  private static let mostListed = 50

  /// What was heard, as comments in the shape of the file, ready to be uncommented.
  package static func appendix(_ heard: Heard?) -> String {
    guard let heard else { return "" }
    guard !heard.observers.isEmpty else {
      return "\n# Nothing was heard when this file was written.\n"
    }
    var lines = [
      "", "# Heard when this file was written; move what you want up and uncomment it:", "# observers:",
    ]
    for observer in heard.observers.prefix(mostListed) {
      lines.append("#   - { id: \(quoted(observer.id.description)) }    # \(observer.format)")
    }
    lines.append("# beacons:")
    var seen: Set<BeaconID> = []
    for beacon in heard.beacons {
      guard let identity = beacon.identities.first, seen.count < mostListed else { continue }
      guard seen.insert(identity).inserted else { continue }
      lines.append("#   - { \(keys(of: identity)) }")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func keys(of beacon: BeaconID) -> String {
    if let uuid = beacon.uuid, let major = beacon.major, let minor = beacon.minor {
      return "uuid: \(uuid), major: \(major), minor: \(minor)"
    }
    if let namespace = beacon.namespace, let instance = beacon.instance {
      return "namespace: \"\(namespace)\", instance: \"\(Hex.text(instance, bytes: 6))\""
    }
    return "mac: \(quoted(beacon.address?.description ?? ""))"
  }

  /// A text from the radio in the quotes of YAML; what could end them is left out.
  private static func quoted(_ text: String) -> String {
    let safe = PlainText.clean(text).filter { $0 != "\"" && $0 != "\\" }
    return "\"\(safe)\""
  }
}
