import PharosReports
import PharosSite

/// What a server says when it listens: where, with what, what is missing, and what to try next.
package struct Banner {
  let settings: ServeSettings
  let isDemo: Bool
  let configuration: SiteConfiguration

  package init(settings: ServeSettings, isDemo: Bool, configuration: SiteConfiguration) {
    self.settings = settings
    self.isDemo = isDemo
    self.configuration = configuration
  }

  package func lines(_ addresses: [HostPort], http: HostPort?) -> [String] {
    let places = addresses.map { "udp \($0)" }.joined(separator: ", ")
    var lines = ["Pharos is listening on \(places). Ctrl-C ends."]
    lines.append(row("site", site))
    if let http {
      let scheme = settings.tls == nil ? "http" : "https"
      let place = HostPort(host: Banner.reachable(http.host), port: http.port)
      lines.append(row("dashboard", "\(scheme)://\(place)/"))
    }
    if let data = settings.data { lines.append(row("journal", data)) }
    if let output = settings.output {
      lines.append(row("events", output == "-" ? "on standard output" : output))
    }
    if let record = settings.record { lines.append(row("recording", record)) }
    lines += missing(addresses).map { row("not yet", $0) }
    lines.append(row("try next", next(addresses)))
    return lines.map(PlainText.clean)
  }

  private func row(_ name: String, _ value: String) -> String { "  \(name.padded(to: 11))\(value)" }

  private var site: String {
    let site = configuration.site
    let regions = site.applications.reduce(0) { $0 + $1.regions.count }
    let name = settings.site ?? (isDemo ? "the demo's own" : "none")
    let parts = [
      CheckRunner.count(regions, "region"), CheckRunner.count(site.zones.count, "zone"),
      CheckRunner.count(site.observers.count, "observer"),
    ]
    return "\(name): \(parts.joined(separator: ", "))"
  }

  private func missing(_ addresses: [HostPort]) -> [String] {
    var missing: [String] = []
    let site = configuration.site
    if site.applications.allSatisfy({ $0.regions.isEmpty && $0.ranging.isEmpty && $0.rotation.isEmpty }) {
      missing.append("no region to enter: pharos init writes a site file to start from")
    }
    if settings.output == nil, settings.http == nil, !isDemo {
      missing.append("events go nowhere: add --http 127.0.0.1:8080 or --output events.jsonl")
    }
    if settings.data == nil, !isDemo {
      missing.append("nothing survives a restart: --data pharos-data keeps states and events")
    }
    if !isDemo, addresses.allSatisfy({ $0.host.hasPrefix("127.") || $0.host == "::1" }) {
      missing.append("only this machine is heard: --udp 0.0.0.0:50001 hears the network")
    }
    return missing
  }

  private func next(_ addresses: [HostPort]) -> String {
    guard !isDemo else { return "pharos init, then pharos serve --site site.yaml --output -" }
    let to = addresses.first.map { HostPort(host: Banner.reachable($0.host), port: $0.port) }
    return
      "pharos replay Captures/museum-visit/capture.pcapng --to \(to.map { "\($0)" } ?? "127.0.0.1:50001")"
  }

  /// An address that a sender on this machine can use for one that means all of the machine's.
  private static func reachable(_ host: String) -> String {
    switch host {
    case "0.0.0.0": "127.0.0.1"
    case "::": "::1"
    default: host
    }
  }
}
