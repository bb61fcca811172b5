import Yams

extension SiteReading {
  private static let listenKeys = ["udp", "http"]

  func listen(_ fields: SiteFields) -> [HostPort] {
    guard let listen = fields.fields("listen", known: SiteReading.listenKeys), let udp = listen["udp"] else {
      return SiteConfiguration.defaultListen
    }
    let nodes = udp.sequence.map(Array.init) ?? [udp]
    return nodes.compactMap { node in
      guard let address = node.scalar.flatMap({ HostPort($0.string) }) else {
        problems.mistake(
          "listen.udp: \(node.sketch) is no address",
          line: node.mark?.line ?? listen.line,
          expected: "HOST:PORT, as in \"127.0.0.1:50001\" or \"[::]:50001\""
        )
        return nil
      }
      return address
    }
  }

  func http(_ fields: SiteFields) -> HostPort? {
    // The unknown keys of `listen` were noted when its udp part was read.
    guard let node = fields["listen"]?.mapping?["http"], !node.isNothing else { return nil }
    let line = node.mark?.line ?? fields.line(of: "listen")
    guard let address = node.scalar.flatMap({ HostPort($0.string) }) else {
      problems.mistake(
        "listen.http: \(node.sketch) is no address",
        line: line,
        expected: "HOST:PORT, as in \"127.0.0.1:8080\""
      )
      return nil
    }
    problems.warning(
      "listen.http is not served by this version: nothing will listen on \(address)",
      line: line
    )
    return address
  }

  func policy(_ fields: SiteFields) -> IngestPolicy {
    guard let ingest = fields.fields("ingest", known: ["policy"]), let text = ingest.text("policy") else {
      return .open
    }
    switch IngestPolicy(rawValue: text) {
    case .open:
      return .open
    case .allowlist, .signed:
      ingest.mistake("policy", "policy \(text) comes with signed ingest; use open", expected: "open")
    case nil:
      let hint = Spelling.nearest(to: text, among: IngestPolicy.allCases.map(\.rawValue))
      let question = hint.map { "; did you mean \"\($0)\"?" } ?? ""
      ingest.mistake("policy", "unknown policy \"\(text)\"\(question)", expected: "open")
    }
    return .open
  }

  func warnOfVenues(_ fields: SiteFields) {
    let venues = fields.list("venues", of: "venue folders")
    for venue in venues where venue.scalar == nil {
      problems.mistake(
        "venues: \(venue.sketch) is no folder",
        line: venue.mark?.line ?? fields.line(of: "venues"),
        expected: "the path of a venue's folder"
      )
    }
    guard !venues.isEmpty else { return }
    fields.warning("venues", "venues are not read by this version: no fixes will be made")
  }
}
