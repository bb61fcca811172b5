package import PharosModel

/// The site file that `pharos init` writes: everything explained, everything usable as it stands.
package enum StarterSite {
  /// The text with examples; it reads without a mistake or a warning.
  package static let text = file(udp: SiteConfiguration.defaultListen)

  /// Writes the text for a site.
  ///
  /// - Parameters:
  ///   - udp: the addresses at which datagrams are received.
  ///   - site: the site in YAML, in place of the examples, which are comments then; nil for the examples.
  /// - Returns: the text.
  package static func file(udp: [HostPort], site: String? = nil) -> String {
    let addresses = udp.map { "\"\($0)\"" }.joined(separator: ", ")
    let listen = "listen: { udp: [\(addresses)], http: \"127.0.0.1:8080\" }\n"
    let middle = site.map { "\($0)\n# Examples of what else may stand there:\n#\n\(commented(examples))#\n" }
    return addressing + listen + keeping + (middle ?? examples) + more
  }

  private static func commented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      .map { $0.hasPrefix("#") ? "\($0)\n" : $0.isEmpty ? "#\n" : "# \($0)\n" }.joined()
  }

  private static let addressing = """
    # The configuration of this site. Everything has a default; unknown keys are mistakes.
    # After a change:   pharos check site.yaml
    # To run it:        pharos serve --site site.yaml

    # Where gateways and handsets send their datagrams. 127.0.0.1 hears this machine alone;
    # "0.0.0.0:50001" hears the network.
    # The dashboard and the HTTP interface stand at http://127.0.0.1:8080; any other address than
    # this machine's own needs a token first: pharos token create --operator --data DIR

    """

  private static let keeping = """

    # Where events and states are kept, so that a restart loses nothing; without it they are kept
    # in memory. Events go once they are older, or all together larger, than this:
    # data: pharos-data
    # journal: { retention: { age: 30d, size: 10GB } }

    # Whose datagrams are taken: open (any sender's), allowlist (those of observers that stand below or
    # were accepted; others are shown and change nothing), or signed (those that are signed with a
    # key that pharos observer add made). A listener may have its own:
    # listen: { udp: [{ address: "0.0.0.0:50002", policy: signed }] }
    ingest: { policy: open }


    """

  private static let examples = """
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


    """

  private static let more = """
    # Gateways by name, with a correction of what they hear and how their silence is judged:
    # observers:
    #   - { id: "ac:23:3f:a0:00:01", name: front desk, rssiOffset: -2.5, liveness: auto }
    #
    # A handset or badge that a person carries gets `person: true`: no event about it is published
    # until an application, which then needs a purpose, is authorised to learn about it:
    #   - { id: 7d1c2f3e-0000-4000-8000-000000000001, name: a visitor's telephone, person: true }
    #
    # Rooms, made of the gateways that stand in them:
    # zones:
    #   - { id: lobby, observers: ["ac:23:3f:a0:00:01"], adjacent: [hall] }
    #   - { id: hall, observers: ["ac:23:3f:a0:00:02"], adjacent: [lobby] }
    #
    # Gateways at an MQTT broker, and states for Home Assistant (a build with --traits MQTT):
    # listen: { mqtt: { broker: "mqtt://127.0.0.1" } }
    # publish: { mqtt: { broker: "mqtt://127.0.0.1" } }
    #
    # Floor plans on which handsets and tags are located, and how often (`pharos survey` makes such folders):
    # venues: [ venues/museum/ ]
    # positioning: { interval: 1s }
    # visits: { minimum: 45s }

    """
}
