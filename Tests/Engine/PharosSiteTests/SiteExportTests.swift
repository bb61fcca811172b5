import PharosDocuments
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

/// A configuration that is written as YAML and read again.
@Suite("Writing the site file")
struct SiteExportTests {
  @Test("a site that is written is read back the same, without a mistake", arguments: Seeds.drawn(0..<200))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let drawn = DrawnSite.configuration(using: &random)
    let text = try SiteFile.text(of: drawn)
    var read = try SiteFile.parse(text, path: "site.yaml")
    (read.warnings, read.lines) = ([], [:])
    #expect(read == drawn, "\(text)")
    #expect(try SiteFile.text(of: read) == text)
  }

  @Test("an empty configuration is an empty file")
  func empty() throws {
    #expect(try SiteFile.text(of: SiteConfiguration()) == "{}\n")
    #expect(try SiteFile.parse("{}\n", path: "site.yaml") == SiteConfiguration())
  }

  @Test("the starter site, as an operator reads it: one line for each entry, and nothing that is a default")
  func looks() throws {
    let configuration = try SiteFile.parse(StarterSite.text, path: "site.yaml")
    #expect(
      try SiteFile.text(of: configuration) == """
        listen: {http: '127.0.0.1:8080'}
        applications:
        - id: default
          regions:
          - {id: anywhere, uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0}
          - id: entrance
            uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
            major: 1
            minor: 7
            enter: {within: 3s, rssi: -80}
            exit: {rssi: -90}
          - {id: trolley, mac: 'c0:de:00:00:00:01', subject: beacon, exit: {silence: 30s}}
          ranging:
          - {uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major: 1}
        beacons:
        - uuid: E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
          major: 1
          minor: 7
          name: door
          measuredPower: -59
          interval: 350ms

        """
    )
  }

  @Test("an entry that no site file can declare is refused with the mistake that a reader reports")
  func refusal() throws {
    let desk = try #require(ObserverID("desk"))
    let roof = try #require(ObserverID("roof"))
    var configuration = SiteConfiguration()
    configuration.site.observers = [ObserverEntry(id: desk)]
    configuration.site.zones = [Zone(identifier: "attic", observers: [roof])]
    let error = #expect(throws: DocumentError.self) { try SiteFile.text(of: configuration) }
    #expect(error?.problems.first?.message.contains("\"roof\" is not listed") == true)
  }

  @Test("the starter file with a site in place of its examples has the examples as comments alone")
  func starter() throws {
    let site = "observers:\n  - { id: desk }\n"
    let text = StarterSite.file(udp: [HostPort(host: "0.0.0.0", port: 50_001)], site: site)
    let read = try SiteFile.parse(text, path: "site.yaml")
    #expect(read.site == Site(observers: [ObserverEntry(id: .name("desk"))]))
    #expect(read.listen == [HostPort(host: "0.0.0.0", port: 50_001)])
    #expect(text.contains("#   - id: entrance"))
  }
}
