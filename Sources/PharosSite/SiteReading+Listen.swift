import PharosReports
import Yams

extension SiteReading {
  private static let listenKeys = ["udp", "http", "allowedOrigins", "allowedHosts"]

  /// Where datagrams and requests arrive, and with which certificate.
  func readListen(_ fields: SiteFields, into configuration: inout SiteConfiguration) {
    if let listen = fields.fields("listen", known: SiteReading.listenKeys) {
      readUDP(listen, into: &configuration)
      configuration.http = listen["http"].flatMap { node in
        address(node, "listen.http", listen.path(of: "http"), listen, example: "\"127.0.0.1:8080\"")
      }
      configuration.allowedOrigins = texts(
        listen,
        "allowedOrigins",
        expected: "an origin without a path, as in \"https://floor.example.org\"",
        SiteReading.isOrigin
      )
      configuration.allowedHosts = texts(
        listen,
        "allowedHosts",
        expected: "a host name without port, as in \"pharos.local\"",
        SiteReading.isHostName
      )
    }
    guard let tls = fields.fields("tls", known: ["certificate", "key"]) else { return }
    let certificate = tls.requiredText("certificate", expected: "the path of a PEM file")
    let key = tls.requiredText("key", expected: "the path of a PEM file")
    if let certificate, let key { configuration.tls = TLSFiles(certificate: certificate, key: key) }
    if configuration.http == nil {
      fields.warning("tls", "tls stands without listen.http: it is used only where --http gives the address")
    }
  }

  private func texts(
    _ listen: SiteFields,
    _ key: String,
    expected: String,
    _ isGood: (String) -> Bool
  ) -> [String] {
    listen.list(key, of: "texts").compactMap { entry in
      if let text = entry.node.scalar?.string, isGood(text) { return text }
      problems.mistake(
        "listen.\(key): \(entry.node.sketch) is none",
        line: entry.node.mark?.line ?? listen.line,
        field: entry.path,
        expected: expected
      )
      return nil
    }
  }

  /// Whether a text is what browsers send as `Origin`: a scheme and a host, maybe a port, and nothing behind.
  private static func isOrigin(_ text: String) -> Bool {
    for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
      let host = text.dropFirst(scheme.count)
      return !host.isEmpty && !host.contains { "/?#@ \t".contains($0) }
    }
    return false
  }

  private static func isHostName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 253 && !text.contains { "/?#@: \t".contains($0) }
  }

  func address(
    _ node: Node,
    _ name: String,
    _ path: String,
    _ fields: SiteFields,
    example: String
  ) -> HostPort? {
    if let address = node.scalar.flatMap({ HostPort($0.string) }) { return address }
    problems.mistake(
      "\(name): \(node.sketch) is no address",
      line: node.mark?.line ?? fields.line,
      field: path,
      expected: "HOST:PORT, as in \(example)"
    )
    return nil
  }

  /// Where the journal is and what it keeps.
  func readJournal(_ fields: SiteFields, into configuration: inout SiteConfiguration) {
    configuration.data = fields.filledText("data", expected: "the path of a folder")
    guard let journal = fields.fields("journal", known: ["retention"]) else { return }
    guard let retention = journal.fields("retention", known: ["age", "size"]) else { return }
    configuration.retention.age = retention.time("age")
    configuration.retention.size = retention.parsed("size", expected: "a size, as in 500MB or 10GB") { text in
      ByteCount.read(text).flatMap { $0 > 0 ? $0 : nil }
    }
    guard configuration.data == nil else { return }
    fields.warning("journal", "journal stands without data: it is used only where --data gives the folder")
  }

  /// Returns the tree without the keys that a site file cannot set, and notes a mistake for each of them.
  func withoutHTTPKeys(_ root: Node) -> Node {
    guard let mapping = root.mapping else { return root }
    let reasons = [
      "webhooks": "webhooks carry secrets and are made over HTTP: POST /v1/webhooks",
      "tokens": "tokens are made by pharos token create",
      "notifications": "notification rules are made over HTTP: "
        + "PUT /v1/applications/{application}/notifications/{id}",
    ]
    let kept = mapping.filter { key, _ in
      guard let name = key.scalar?.string, let reason = reasons[name] else { return true }
      problems.mistake("site: \(reason)", line: key.mark?.line ?? 1, field: name, expected: "no such key")
      return false
    }
    return .mapping(Node.Mapping(kept.map { ($0.key, $0.value) }, mapping.tag, mapping.style, mapping.mark))
  }

  /// Somebody marked as a person can be asked only by an application that says what for.
  func checkAccess(_ fields: SiteFields, _ configuration: SiteConfiguration) {
    guard configuration.access.hasPersons else { return }
    for application in configuration.site.applications
    where configuration.access.purposes[application.identifier] == nil {
      fields.warning(
        "applications",
        "application \"\(application.identifier)\" has no purpose, so it cannot be authorised to learn "
          + "about persons",
        expected: "a purpose: \(SiteReading.purposeExpected)"
      )
    }
  }

  /// Returns the folders of the venues, which the caller opens and reads.
  func venues(_ fields: SiteFields) -> [String] {
    let entries = fields.list("venues", of: "venue folders")
    return entries.compactMap { _, path, venue -> String? in
      if let folder = venue.scalar?.string, folder.contains(where: { !$0.isWhitespace }) { return folder }
      problems.mistake(
        "venues: \(venue.sketch) is no folder",
        line: venue.mark?.line ?? fields.line(of: "venues"),
        field: path,
        expected: "the path of a venue's folder"
      )
      return nil
    }
  }
}
