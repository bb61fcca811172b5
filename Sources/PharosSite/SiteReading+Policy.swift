import PharosReports
import Yams

extension SiteReading {
  /// Where datagrams arrive: `HOST:PORT` each, or a mapping with an address and a policy of its own.
  func readUDP(_ listen: SiteFields, into configuration: inout SiteConfiguration) {
    guard let udp = listen["udp"] else { return }
    let nodes = udp.sequence.map(Array.init) ?? [udp]
    configuration.listen = nodes.enumerated().compactMap { index, node in
      let path = udp.sequence == nil ? listen.path(of: "udp") : listen.path(of: "udp", index)
      let example = "\"127.0.0.1:50001\" or \"[::]:50001\""
      guard node.mapping != nil else { return address(node, "listen.udp", path, listen, example: example) }
      let fields = SiteFields(
        node,
        place: "listen.udp",
        path: path,
        known: ["address", "policy"],
        problems: problems
      )
      guard let fields else { return nil }
      guard let place = fields["address"] else {
        fields.mistake("address", "address is missing", expected: "HOST:PORT, as in \(example)")
        return nil
      }
      let address = address(place, "listen.udp", fields.path(of: "address"), fields, example: example)
      if let address, let policy = policy(fields) { configuration.listenerPolicies[address] = policy }
      return address
    }
  }

  /// Whose datagrams are taken where a listener does not say so itself.
  func readPolicy(_ fields: SiteFields, into configuration: inout SiteConfiguration) {
    if let ingest = fields.fields("ingest", known: ["policy"]) {
      configuration.policy = policy(ingest) ?? .open
      if configuration.policy == .allowlist, !fields.has("observers") {
        ingest.warning(
          "policy",
          "policy allowlist, and no observer is listed: each is quarantined until it is accepted",
          expected: "observers, or pharos observer accept for each"
        )
      }
    }
    let policies = configuration.listen.map { configuration.policy(of: $0) }
    // Where anybody may send to some listener, the others look after their lists themselves.
    configuration.site.admission = policies.contains(.open) ? .open : .listed
    warnOfKeys(fields, configuration, policies)
  }

  private func policy(_ fields: SiteFields) -> IngestPolicy? {
    guard let text = fields.text("policy") else { return nil }
    if let policy = IngestPolicy(rawValue: text) { return policy }
    let hint = Spelling.nearest(to: text, among: IngestPolicy.allCases.map(\.rawValue))
    let question = hint.map { "; did you mean \"\($0)\"?" } ?? ""
    fields.mistake("policy", "unknown policy \"\(text)\"\(question)", expected: "open, allowlist or signed")
    return nil
  }

  private func warnOfKeys(
    _ fields: SiteFields,
    _ configuration: SiteConfiguration,
    _ policies: [IngestPolicy]
  ) {
    guard policies.contains(.signed) else { return }
    let key = configuration.policy == .signed && configuration.listenerPolicies.isEmpty ? "ingest" : "listen"
    if configuration.data == nil {
      fields.warning(
        key,
        "signatures are asked for, and there is no data folder to keep keys in: every gateway is refused unless --data "
          + "gives one",
        expected: "data, and pharos observer add for each gateway"
      )
    }
    for (address, policy) in zip(configuration.listen, policies) where policy == .open && !address.isLoopback
    {
      fields.warning(
        "listen",
        "\(address) takes anybody's datagrams, also such as name observers that sign elsewhere",
        expected: "policy: allowlist or signed there, or an address of this machine alone"
      )
    }
  }
}

extension HostPort {
  /// Whether only this machine can send there.
  var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}
