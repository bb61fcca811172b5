import Configuration
import PharosModel
package import PharosSite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The settings of `serve`: flags take precedence over the environment, and the environment over the site file.
///
/// | setting | flag | environment | site file |
/// | --- | --- | --- | --- |
/// | ``site`` | `--site` | `PHAROS_SITE` | – |
/// | ``udp`` | `--udp` | `PHAROS_UDP`, with commas | `listen.udp` |
/// | ``http`` | `--http` | `PHAROS_HTTP` | `listen.http` |
/// | ``data`` | `--data` | `PHAROS_DATA` | `data` |
/// | ``output`` | `--output` | `PHAROS_OUTPUT` | – |
/// | ``record`` | `--record` | `PHAROS_RECORD` | – |
/// | ``loops`` | `--loops` | `PHAROS_LOOPS` | – |
/// | ``tls`` | – | `PHAROS_TLS_CERTIFICATE`, `PHAROS_TLS_KEY` | `tls` |
/// | ``connections`` | – | `PHAROS_HTTP_CONNECTIONS` | – |
/// | ``streams`` | – | `PHAROS_HTTP_STREAMS` | – |
/// | ``retention`` | – | `PHAROS_RETENTION_AGE`, `PHAROS_RETENTION_SIZE` | `journal.retention` |
package struct ServeSettings: Hashable, Sendable {
  /// The site file, or nil for none.
  package var site: String?
  /// The addresses that receive datagrams; empty for those of the site file.
  package var udp: [HostPort] = []
  /// The address of the HTTP interface, or nil for none.
  package var http: HostPort?
  /// The data folder, or nil to keep the journal in memory.
  package var data: String?
  /// The destination of events, or nil for none.
  package var output: String?
  /// The destination of recorded inputs, or nil for none.
  package var record: String?
  /// The number of loops that read and decide, or nil for one per core, up to four.
  package var loops: Int?
  /// The TLS files, or nil for plain HTTP.
  package var tls: TLSFiles?
  /// The maximum number of open HTTP connections, or nil for 4,096.
  package var connections: Int?
  /// The maximum number of open live streams, or nil for 2,048.
  package var streams: Int?
  /// The retention of the journal.
  package var retention = Retention()

  /// Starts without any.
  package init() {}

  /// Settles what the command line leaves open.
  ///
  /// - Parameters:
  ///   - flags: the settings from the command line.
  ///   - environment: the variables of the process.
  ///   - load: reads the site file that flags or environment name.
  /// - Returns: the settings, and what the site file says.
  /// - Throws: ``CommandFailure`` that names the variable that is wrong, or the mistake in the site file.
  package static func settled(
    flags: ServeSettings,
    environment: [String: String],
    load: (String?) throws(CommandFailure) -> SiteConfiguration
  ) throws(CommandFailure) -> (settings: ServeSettings, configuration: SiteConfiguration) {
    let given = environment.filter { !$0.value.isEmpty }
    let variables = EnvironmentVariablesProvider(environmentVariables: given)
    let upper = SettingReader(providers: [flags.provider(named: "command line"), variables])
    let site = upper.text("site")
    let configuration = try load(site)
    var file = ServeSettings()
    file.http = configuration.http
    file.data = configuration.data
    file.tls = configuration.tls
    file.retention = configuration.retention
    let reader = SettingReader(
      providers: [
        flags.provider(named: "command line"), variables, file.provider(named: "site file"),
      ]
    )
    var settings = ServeSettings()
    settings.site = site
    settings.udp = try reader.addresses("udp")
    settings.http = try reader.value("http", expected: "HOST:PORT, as in 127.0.0.1:8080") { HostPort($0) }
    settings.data = reader.text("data")
    settings.output = reader.text("output")
    settings.record = reader.text("record")
    settings.loops = try reader.value("loops", expected: "a number from 1 to 16") { text in
      Int(text).flatMap { (1...16).contains($0) ? $0 : nil }
    }
    settings.tls = try reader.tls()
    settings.connections = try reader.count("http.connections")
    settings.streams = try reader.count("http.streams")
    let times = "a time with a unit, as in 30d or 12h"
    settings.retention.age = try reader.value("retention.age", expected: times) { text in
      TimeSpan(written: text).flatMap { $0 > .zero ? $0 : nil }
    }
    let sizes = "a size, as in 500MB or 10GB"
    settings.retention.size = try reader.value("retention.size", expected: sizes) { text in
      ByteCount.read(text).flatMap { $0 > 0 ? $0 : nil }
    }
    return (settings, configuration)
  }

  /// The settings as a layer of configuration: a text for each that is given.
  private func provider(named name: String) -> InMemoryProvider {
    var values: [AbsoluteConfigKey: ConfigValue] = [:]
    func set(_ key: String, _ text: String?) {
      guard let text else { return }
      values[SettingReader.key(key)] = ConfigValue(.string(text), isSecret: false)
    }
    set("site", site)
    set("udp", udp.isEmpty ? nil : udp.map(\.description).joined(separator: ","))
    set("http", http?.description)
    set("data", data)
    set("output", output)
    set("record", record)
    set("loops", loops.map(String.init))
    set("tls.certificate", tls?.certificate)
    set("tls.key", tls?.key)
    set("retention.age", retention.age?.exactlyWritten)
    set("retention.size", retention.size.map { "\($0)B" })
    return InMemoryProvider(name: name, values: values)
  }
}

/// Reads settings from layers; one that is set to nothing counts as not set.
private struct SettingReader {
  private let reader: ConfigReader

  /// The prefix of every key; the variable of a key is called `PHAROS_…`.
  private static let prefix = "pharos"

  init(providers: [any ConfigProvider]) { reader = ConfigReader(providers: providers) }

  static func key(_ name: String) -> AbsoluteConfigKey {
    AbsoluteConfigKey([prefix] + name.split(separator: ".").map(String.init))
  }

  /// The variable that gives a setting.
  private static func variable(_ name: String) -> String {
    "\(prefix)_\(name.replacing(".", with: "_"))".uppercased()
  }

  func text(_ name: String) -> String? {
    let key = ConfigKey([SettingReader.prefix] + name.split(separator: ".").map(String.init))
    guard let text = reader.string(forKey: key), !text.isEmpty else { return nil }
    return text
  }

  /// A setting that a closure makes of its text.
  ///
  /// Flags and site file are checked where they are read, so that only a variable can be wrong here.
  func value<Value>(
    _ name: String,
    expected: String,
    _ parse: (String) -> Value?
  ) throws(CommandFailure) -> Value? {
    guard let text = text(name) else { return nil }
    guard let value = parse(text) else {
      throw CommandFailure(
        "\(SettingReader.variable(name)) is \"\(PlainText.cut(PlainText.clean(text), to: 60))\" "
          + "(expected \(expected)). Set it right, or unset it.",
        status: .configuration
      )
    }
    return value
  }

  func addresses(_ name: String) throws(CommandFailure) -> [HostPort] {
    try value(name, expected: "HOST:PORT, several with commas between them") { text in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      let addresses = parts.compactMap { HostPort($0.filter { !$0.isWhitespace }) }
      return addresses.count == parts.count ? addresses : nil
    } ?? []
  }

  func count(_ name: String) throws(CommandFailure) -> Int? {
    try value(name, expected: "a number from 1 to 1000000") { text in
      Int(text).flatMap { (1...1_000_000).contains($0) ? $0 : nil }
    }
  }

  func tls() throws(CommandFailure) -> TLSFiles? {
    switch (text("tls.certificate"), text("tls.key")) {
    case (nil, nil): return nil
    case (let certificate?, let key?): return TLSFiles(certificate: certificate, key: key)
    case (nil, _), (_, nil):
      throw CommandFailure(
        "PHAROS_TLS_CERTIFICATE and PHAROS_TLS_KEY go together: one is set and the other is not.",
        status: .configuration
      )
    }
  }
}

/// The environment of this process.
package enum ProcessEnvironment {
  /// The variables by name.
  ///
  /// To be read at the start, before there are threads that might change them.
  package static func variables() -> [String: String] {
    var variables: [String: String] = [:]
    for name in names { if let value = getenv(name) { variables[name] = String(cString: value) } }
    return variables
  }

  /// The variables that Pharos looks at, and no others.
  static let names = [
    "PHAROS_SITE", "PHAROS_UDP", "PHAROS_HTTP", "PHAROS_DATA", "PHAROS_OUTPUT", "PHAROS_RECORD",
    "PHAROS_LOOPS", "PHAROS_TLS_CERTIFICATE", "PHAROS_TLS_KEY", "PHAROS_RETENTION_AGE",
    "PHAROS_RETENTION_SIZE", "PHAROS_LOG_LEVEL", "PHAROS_LOG_FORMAT", "PHAROS_TOKEN", "NOTIFY_SOCKET",
    "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS",
  ]
}
