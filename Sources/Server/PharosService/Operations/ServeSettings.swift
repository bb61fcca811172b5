import Configuration
import Foundation
import PharosDocuments
package import PharosModel
package import PharosSite
package import PharosTerminal

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
  /// - Throws: `CommandFailure` that names the variable that is wrong, or the mistake in the site file.
  package static func resolved(
    flags: ServeSettings,
    environment: [String: String],
    load: (String?) throws(CommandFailure) -> SiteConfiguration
  ) throws(CommandFailure) -> (settings: ServeSettings, configuration: SiteConfiguration) {
    let variables = VariableReader(environment)
    let site = flags.site ?? variables.text("site")
    let configuration = try load(site)
    var settings = flags
    settings.site = site
    settings.udp = flags.udp.isEmpty ? try variables.addresses("udp") : flags.udp
    settings.http = try variables.value(
      "http",
      between: flags.http,
      and: configuration.http,
      expected: "HOST:PORT, as in 127.0.0.1:8080"
    ) { HostPort($0) }
    settings.data = flags.data ?? variables.text("data") ?? configuration.data
    settings.output = flags.output ?? variables.text("output")
    settings.record = flags.record ?? variables.text("record")
    settings.loops = try variables.value("loops", between: flags.loops, expected: "a number from 1 to 16") {
      Int($0).flatMap { (1...16).contains($0) ? $0 : nil }
    }
    settings.tls = try variables.tls(or: configuration.tls)
    settings.connections = try variables.count("http.connections")
    settings.streams = try variables.count("http.streams")
    settings.retention.age = try variables.value(
      "retention.age",
      and: configuration.retention.age,
      expected: "a time with a unit, as in 30d or 12h"
    ) { TimeSpan(written: $0).flatMap { $0 > .zero ? $0 : nil } }
    settings.retention.size = try variables.value(
      "retention.size",
      and: configuration.retention.size,
      expected: "a size, as in 500MB or 10GB"
    ) { ByteCount.read($0).flatMap { $0 > 0 ? $0 : nil } }
    return (settings, configuration)
  }
}

/// Reads settings from the environment; a variable that is set to nothing counts as not set.
private struct VariableReader {
  private let reader: ConfigReader

  /// The prefix of every key; the variable of a key is called `PHAROS_…`.
  private static let prefix = "pharos"

  init(_ environment: [String: String]) {
    reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: environment))
  }

  func text(_ name: String) -> String? {
    let key = ConfigKey([VariableReader.prefix] + name.split(separator: ".").map(String.init))
    return reader.string(forKey: key).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A setting that takes precedence over its variable, else what a closure makes of the variable, else what the site
  /// file says.
  func value<Value>(
    _ name: String,
    between flag: Value? = nil,
    and file: Value? = nil,
    expected: String,
    _ parse: (String) -> Value?
  ) throws(CommandFailure) -> Value? {
    if let flag { return flag }
    guard let text = text(name) else { return file }
    guard let value = parse(text) else {
      let variable = "\(VariableReader.prefix)_\(name.replacing(".", with: "_"))".uppercased()
      throw CommandFailure(
        "\(variable) is \"\(PlainText.cut(PlainText.clean(text), to: 60))\" (expected \(expected)). Set it right, or "
          + "unset it.",
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

  func tls(or file: TLSFiles?) throws(CommandFailure) -> TLSFiles? {
    switch (text("tls.certificate") ?? file?.certificate, text("tls.key") ?? file?.key) {
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
  package static func variables() -> [String: String] { ProcessInfo.processInfo.environment }
}
