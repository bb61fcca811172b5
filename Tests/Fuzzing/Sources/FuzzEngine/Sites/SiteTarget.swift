import FuzzSupport
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosSite

/// The site file: a configuration that a server can start with, or errors for its author.
final class SiteTarget: FuzzTarget {
  static let name = "site"
  static let maximumLength = 2_048

  func run(_ input: RawSpan) {
    let configuration: SiteConfiguration
    do {
      configuration = try SiteFile.parse(bytes: input.array, path: "site.yaml")
    } catch {
      demand(error.problems.contains { $0.severity == .mistake }, "a refused site file has a mistake")
      for problem in error.problems { check(problem) }
      return
    }
    for problem in configuration.warnings {
      demand(problem.severity == .warning, "an accepted site file has no mistake")
      check(problem)
    }
    do {
      _ = try Pipeline(site: configuration.site)
    } catch {
      demand(false, "a server starts with a site file that was accepted: \(error)")
    }
  }

  private func check(_ problem: DocumentProblem) {
    let text = problem.text(in: "site.yaml")
    demand(!text.isEmpty && !text.contains("\n"), "a mistake is reported on one line: \(text)")
  }

  static var words: [[UInt8]] {
    [
      "listen:", "http:", "udp:", "ingest:", "policy:", "open", "allowlist", "signed", "regions:",
      "applications:", "- id: ",
      "uuid:", "major:", "minor:", "mac:", "namespace:", "instance:", "enter:", "exit:", "samples:",
      "within:", "rssi:",
      "distance:", "dwell:", "silence:", "adaptive", "never", "ranging:", "beacons:", "observers:", "zones:",
      "adjacent:",
      "rssiOffset:", "liveness:", "person:", "purpose:", "rotation:", "children:", "subject: beacon",
      "measuredPower:",
      "interval:", "journal:", "retention:", "venues:", "positioning:", "tls:", "access:", "irk:", "key: mac",
      "name:",
      "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "&a", "*a", "<<:", "!!str", "!!int", "---", "|", ">", "\n  ",
      "{ ", " }", "[ ", " ]",
      "ec0234a357c8ad05341010a60a397d9b",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    let texts = [
      """
      listen: { udp: ["127.0.0.1:50001"], http: "127.0.0.1:8080" }
      data: d
      journal: { retention: { age: 30d, size: 10GB } }
      ingest: { policy: allowlist }
      applications:
        - id: a
          purpose: x
          regions:
            - { id: r, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 2, enter: { samples: 2, within: 3s, rssi: -80 },
                exit: { rssi: -90, dwell: 5s, silence: adaptive } }
            - { id: t, subject: beacon, mac: "c0:de:00:00:00:01", exit: { silence: 30s } }
          ranging: [ { namespace: 00112233445566778899, instance: 0000000000ab } ]
      """,
      """
      beacons:
        - { uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1, minor: 7, name: door, measuredPower: -59, interval: 350ms }
        - { name: nurse, mac: "ac:23:3f:00:00:01", irk: "ec0234a357c8ad05341010a60a397d9b" }
      observers: [ { id: "ac:23:3f:a0:00:01", name: desk, rssiOffset: -2.5, liveness: auto, person: true } ]
      zones: [ { id: lobby, observers: ["ac:23:3f:a0:00:01"], adjacent: [hall] }, { id: hall, observers: [x], adjacent: [lobby] } ]
      positioning: { interval: 1s }
      """,
    ]
    let starter = Array(StarterSite.text.utf8)
    // The explanations would fill the input: they are left out.
    let plain = StarterSite.text.split(separator: "\n")
      .filter { line in !line.drop { $0 == " " }.hasPrefix("#") }
      .joined(separator: "\n")
    return texts.map { Array($0.utf8) } + [Array(plain.utf8), Array(starter.prefix(maximumLength))]
  }
}
