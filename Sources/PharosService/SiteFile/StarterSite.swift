import PharosIngest
import PharosReports

/// The site file that `pharos init` writes: everything explained, everything usable as it stands.
public enum StarterSite {
  /// The text; it reads without a mistake or a warning.
  public static let text = """
    # What Pharos is told about this site. Everything has a default; unknown keys are mistakes.
    # After a change:   pharos check site.yaml
    # To run it:        pharos serve --site site.yaml

    # Where gateways and handsets send their datagrams. 127.0.0.1 hears this machine alone;
    # "0.0.0.0:50001" hears the network.
    listen: { udp: ["127.0.0.1:50001"] }

    # Whose datagrams are taken.
    ingest: { policy: open }

    # The regions of one application called "default", at most 20 of them. Several applications
    # with 20 each stand under `applications:`, each with an id and its own regions.
    regions:
      # A handset that hears any beacon with this UUID is inside.
      - id: anywhere
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0

      # A handset near one beacon: two adverts of -80 dBm or more within 3 s to enter; weaker
      # than -90 dBm for 5 s, or too long a silence, to leave.
      - id: entrance
        uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 7
        enter: { samples: 2, within: 3s, rssi: -80 }
        exit: { rssi: -90, dwell: 5s, silence: adaptive }

      # A tag that any gateway hears. Addresses stand in quotes.
      - id: trolley
        subject: beacon
        mac: "c0:de:00:00:00:01"
        exit: { silence: 30s }

    # How near these beacons are, once a second.
    ranging:
      - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1 }

    # Names and facts, for those that are known.
    beacons:
      - uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
        major: 1
        minor: 7
        name: door
        measuredPower: -59
        interval: 350ms

    # Gateways by name, with a correction of what they hear and how their silence is judged:
    # observers:
    #   - { id: "ac:23:3f:a0:00:01", name: front desk, rssiOffset: -2.5, liveness: auto }
    #
    # Rooms, made of the gateways that stand in them:
    # zones:
    #   - { id: lobby, observers: ["ac:23:3f:a0:00:01"], adjacent: [hall] }
    #   - { id: hall, observers: ["ac:23:3f:a0:00:02"], adjacent: [lobby] }

    """

  /// The most observers and beacons that are listed: who hears more picks his own.
  private static let mostListed = 50

  /// What was heard, as comments in the shape of the file, ready to be uncommented.
  static func appendix(_ heard: Heard?) -> String {
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
    let safe = TextTable.clean(text).filter { $0 != "\"" && $0 != "\\" }
    return "\"\(safe)\""
  }
}
