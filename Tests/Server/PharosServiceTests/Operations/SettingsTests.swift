import Foundation
import PharosModel
import PharosService
import PharosSite
import PharosTerminal
import Testing

@Suite("Settings: flags before the environment before the site file")
struct SettingsTests {
  private let file = {
    var file = SiteConfiguration()
    file.http = HostPort(host: "127.0.0.1", port: 3)
    file.tls = TLSFiles(certificate: "c.pem", key: "k.pem")
    file.data = "file"
    file.retention = Retention(age: .seconds(90), size: 4_000_000_001)
    return file
  }()

  private func resolved(
    _ change: (inout ServeSettings) -> Void = { _ in },
    _ environment: [String: String] = [:]
  ) throws -> (ServeSettings, String?) {
    var flags = ServeSettings()
    change(&flags)
    var asked: String?
    let finished = try ServeSettings.resolved(flags: flags, environment: environment) {
      path throws(CommandFailure) in
      asked = path
      return file
    }
    return (finished.settings, asked)
  }

  @Test("settings that no option states come from the site file, to the byte and the second")
  func siteFile() throws {
    let (settings, asked) = try resolved()
    #expect(asked == nil)
    #expect(settings.http == file.http)
    #expect(settings.data == "file")
    #expect(settings.tls == file.tls)
    #expect(settings.retention == file.retention)
    #expect(settings.udp.isEmpty)
    #expect(settings.loops == nil)
  }

  @Test("the environment goes before the site file")
  func environment() throws {
    let variables = [
      "PHAROS_SITE": "site.yaml", "PHAROS_UDP": "0.0.0.0:1, [::1]:2", "PHAROS_HTTP": "[::1]:4",
      "PHAROS_DATA": "variable", "PHAROS_OUTPUT": "-", "PHAROS_RECORD": "r", "PHAROS_LOOPS": "3",
      "PHAROS_TLS_CERTIFICATE": "a", "PHAROS_TLS_KEY": "b", "PHAROS_RETENTION_AGE": "12h",
      "PHAROS_RETENTION_SIZE": "2GiB", "PHAROS_HTTP_CONNECTIONS": "300", "PHAROS_HTTP_STREAMS": "40",
    ]
    let (settings, asked) = try resolved({ _ in }, variables)
    #expect(asked == "site.yaml")
    #expect(settings.site == "site.yaml")
    #expect(settings.udp.map(\.description) == ["0.0.0.0:1", "[::1]:2"])
    #expect(settings.http == HostPort(host: "::1", port: 4))
    #expect(settings.data == "variable")
    #expect(settings.output == "-")
    #expect(settings.record == "r")
    #expect(settings.loops == 3)
    #expect(settings.tls == TLSFiles(certificate: "a", key: "b"))
    #expect(settings.retention == Retention(age: .seconds(43_200), size: 2 << 30))
    #expect(settings.connections == 300)
    #expect(settings.streams == 40)
  }

  @Test("every variable of the process is seen, those for the limits of the HTTP interface too")
  func process() {
    setenv("PHAROS_HTTP_STREAMS", "40", 1)
    defer { unsetenv("PHAROS_HTTP_STREAMS") }
    #expect(ProcessEnvironment.variables()["PHAROS_HTTP_STREAMS"] == "40")
  }

  @Test("flags go before both, and a variable set to nothing says nothing")
  func flags() throws {
    let variables = ["PHAROS_HTTP": "[::1]:4", "PHAROS_DATA": "", "PHAROS_SITE": "other.yaml"]
    let (settings, asked) = try resolved(
      { flags in
        flags.http = HostPort(host: "::1", port: 5)
        flags.site = "mine.yaml"
        flags.udp = [HostPort(host: "a", port: 1), HostPort(host: "b", port: 2)]
      },
      variables
    )
    #expect(asked == "mine.yaml")
    #expect(settings.http == HostPort(host: "::1", port: 5))
    #expect(settings.data == "file")
    #expect(settings.udp.count == 2)
  }

  @Test(
    "a variable that is wrong is named with what was expected",
    arguments: [
      ("PHAROS_HTTP", "8080", "PHAROS_HTTP is \"8080\" (expected HOST:PORT, as in 127.0.0.1:8080)."),
      ("PHAROS_LOOPS", "17", "PHAROS_LOOPS is \"17\" (expected a number from 1 to 16)."),
      (
        "PHAROS_UDP", "a:1,b",
        "PHAROS_UDP is \"a:1,b\" (expected HOST:PORT, several with commas between them)."
      ),
      ("PHAROS_RETENTION_AGE", "30", "PHAROS_RETENTION_AGE is \"30\" (expected a time with a unit"),
      ("PHAROS_RETENTION_SIZE", "much", "PHAROS_RETENTION_SIZE is \"much\" (expected a size"),
    ]
  )
  func wrong(name: String, value: String, message: String) {
    #expect {
      _ = try resolved({ _ in }, [name: value])
    } throws: { error in
      let failure = error as? CommandFailure
      return failure?.status == .configuration && failure?.message.hasPrefix(message) == true
    }
  }

  @Test("log settings: flags before the environment, and a wrong word is named")
  func log() throws {
    let variables = ["PHAROS_LOG_LEVEL": "debug", "PHAROS_LOG_FORMAT": "json"]
    #expect(
      try LogSettings(level: nil, format: nil, environment: variables)
        == LogSettings(level: .debug, format: .json)
    )
    #expect(
      try LogSettings(level: .error, format: .text, environment: variables)
        == LogSettings(level: .error, format: .text)
    )
    #expect(try LogSettings(level: nil, format: nil, environment: [:]) == LogSettings())
    #expect {
      _ = try LogSettings(level: nil, format: nil, environment: ["PHAROS_LOG_FORMAT": "xml"])
    } throws: { error in
      (error as? CommandFailure)?.message == "PHAROS_LOG_FORMAT is \"xml\" (expected one of text, json)"
    }
  }
}
