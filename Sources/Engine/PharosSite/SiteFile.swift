package import PharosDocuments
package import PharosModel
package import PharosSpace
import Yams

/// The reader of the site file: it turns YAML into a checked configuration, and reports every mistake with its line.
///
/// It is strict: it refuses the whole file for an unknown key, a value out of bounds or a name that refers to nothing,
/// and reports all mistakes together.
package enum SiteFile {
  /// The largest file that is read; a site of 10,000 regions takes 2 MB.
  ///
  /// - Units: bytes.
  package static let largest = 16 << 20

  /// Reads the text of a site file.
  ///
  /// - Parameters:
  ///   - text: the YAML.
  ///   - path: the name of the file in messages.
  ///   - files: reads a file that the site names, by its path beside the site file; nil if it may name none.
  /// - Returns: the configuration, which contains the warnings.
  /// - Throws: all mistakes together with the warnings.
  package static func parse(
    _ text: String,
    path: String,
    files: ((String) throws -> [UInt8])? = nil
  ) throws(DocumentError) -> SiteConfiguration {
    let problems = DocumentProblems()
    var configuration = SiteConfiguration()
    let traps = YAMLTraps(text)
    for trap in traps.problems { problems.add(trap) }
    do throws(DocumentProblem) {
      if let node = try DocumentNode(yaml: text) {
        var reading = SiteReading(problems: problems, files: files)
        configuration = reading.configuration(of: node)
      }
    } catch {
      problems.add(traps.explanation(at: error.line) ?? error)
    }
    configuration.warnings = try problems.conclude(path: path)
    return configuration
  }

  /// Reads a site file's bytes; they must be UTF-8.
  ///
  /// - Throws: all mistakes together.
  package static func parse(
    bytes: [UInt8],
    path: String,
    files: ((String) throws -> [UInt8])? = nil
  ) throws(DocumentError) -> SiteConfiguration {
    if let text = String(validating: bytes, as: UTF8.self) {
      return try parse(text, path: path, files: files)
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let index = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
    let problem = DocumentProblem(
      place: .line(index + 1),
      message: "not UTF-8",
      expected: DocumentProblem.textInUTF8("a text file", instead: bytes)
    )
    throw DocumentError(path: path, problems: [problem])
  }
}

extension VenueFolder {
  /// Reads a folder whose `venue.yaml` is parsed as the site file is.
  ///
  /// - Parameters:
  ///   - folder: the name of the folder in messages.
  ///   - files: reads its files.
  /// - Returns: the venue and the warnings.
  /// - Throws: all mistakes together with the warnings.
  package static func read(
    _ folder: String,
    files: VenueFiles
  ) throws(DocumentError) -> (venue: Venue, warnings: [DocumentProblem]) {
    var traps: [DocumentProblem] = []
    let (venue, warnings) = try read(folder, files: files) { text throws(DocumentProblem) in
      let found = YAMLTraps(text)
      traps = found.problems
      do throws(DocumentProblem) {
        return try DocumentNode(yaml: text)
      } catch {
        throw found.explanation(at: error.line) ?? error
      }
    }
    for index in traps.indices { traps[index].file = mainFile }
    return (venue, traps + warnings)
  }
}

extension DocumentNode {
  /// Reads a YAML text; nil if it is empty.
  ///
  /// - Throws: the line and the reason if it is no YAML.
  init?(yaml text: String) throws(DocumentProblem) {
    do {
      guard let node = try Yams.compose(yaml: text) else { return nil }
      self.init(node)
    } catch {
      throw DocumentNode.problem(of: error, in: text)
    }
  }

  private init(_ node: Node) {
    let content: Content =
      switch node {
      case .scalar(let scalar): scalar.style == .plain ? .plain(scalar.string) : .text(scalar.string)
      case .sequence(let elements): .list { elements.map { DocumentNode($0) } }
      case .mapping(let members):
        .mapping { members.map { (DocumentNode($0.key), DocumentNode($0.value)) } }
      // The composer puts the node in the place of its alias.
      case .alias: .null
      }
    self.init(content, line: node.mark?.line ?? 1)
  }
}

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
