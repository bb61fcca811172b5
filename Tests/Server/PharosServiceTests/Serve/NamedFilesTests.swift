import Foundation
import Logging
import PharosConsoleSupport
import PharosModel
import PharosService
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosTools
import Testing

@Suite("Files that a site names", .serialized)
struct NamedFilesTests {
  /// A file that a site names: the key, the rest of the site, a good content and contents that serve refuses.
  private static let namedFiles:
    [(key: String, site: @Sendable (String) -> String, good: String, bad: [String])] = [
      (
        "listen.meraki.secretFile", { "listen:\n  meraki:\n    secretFile: \($0)\n" }, "secret\n",
        ["", "\nsecret\n"]
      ),
      (
        "listen.mqtt.passwordFile",
        { "listen:\n  mqtt:\n    broker: mqtt://a\n    username: b\n    passwordFile: \($0)\n" }, "secret",
        ["", "\r\n"]
      ),
      (
        "publish.mqtt.ca", { "publish:\n  mqtt:\n    broker: mqtts://a\n    ca: \($0)\n" },
        TestCertificate.certificate,
        ["", TestCertificate.key]
      ),
      (
        "tls.certificate",
        { "listen: { http: \"127.0.0.1:0\" }\ntls:\n  key: key.pem\n  certificate: \($0)\n" },
        TestCertificate.certificate,
        ["", "x", TestCertificate.key]
      ),
      (
        "tls.key", { "listen: { http: \"127.0.0.1:0\" }\ntls:\n  certificate: cert.pem\n  key: \($0)\n" },
        TestCertificate.key, ["", "x", TestCertificate.certificate, TestCertificate.foreignKey]
      ),
    ]

  @Test(
    "a folder that serve cannot write to, or that is not there, is named with its line",
    arguments: [
      ("data", "file/data", "cannot be written to"), ("data", "file", "is a file"),
      ("data", "~/data", "home folder"),
      ("venues", "[ museum/ ]", "is not there"), ("venues", "\n  - museum/", "is not there"),
      ("venues", "[ ~/museum ]", "home folder"),
    ]
  )
  func folders(key: String, value: String, message: String) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write("x", to: "file")
    let site = "stream: a\n\(key): \(value)\n"
    let path = try folder.write(site, to: "site.yaml")
    let kept = KeptConsole()
    #expect(CheckRunner.run(path: path, console: kept.console) == .configuration)
    let line = site.split(separator: "\n").count
    let said = kept.output.text + kept.errors.text
    #expect(said.contains("\(path):\(line): \(key)") && said.contains(message), "\(said)")
    // The trial leaves nothing behind.
    let configuration = try SiteFile.parse("data: new/data", path: path).resolved(against: path)
    #expect(NamedFiles.mistakes(of: configuration).isEmpty)
    #expect(
      Set(try FileManager.default.contentsOfDirectory(atPath: folder.path("."))) == ["file", "site.yaml"]
    )
  }

  @Test("check and serve refuse the same files that a site names", arguments: namedFiles.indices)
  func refused(index: Int) async throws {
    let (key, site, good, bad) = NamedFilesTests.namedFiles[index]
    let folder = try TemporaryFolder()
    _ = try folder.write(TestCertificate.certificate, to: "cert.pem")
    _ = try folder.write(TestCertificate.key, to: "key.pem")
    let path = try folder.write(site("named"), to: "site.yaml")
    let line = try #require(site("named").split(separator: "\n").lastIndex { $0.contains("named") }) + 1
    func check() -> (status: CommandStatus, said: String) {
      let kept = KeptConsole()
      return (CheckRunner.run(path: path, console: kept.console), kept.output.text + kept.errors.text)
    }
    let configuration = try SiteFile.parse(site("named"), path: path).resolved(against: path)
    #expect(configuration.paths.contains { $0.key == key && $0.path == folder.path("named") })
    for content in [nil] + bad.map(Optional.some) {
      if let content { _ = try folder.write(content, to: "named") }
      let checked = check()
      #expect(checked.status == .configuration, "\(content ?? "no file")")
      #expect(
        checked.said.contains("site.yaml:\(line): \(key.hasPrefix("tls") ? "tls" : key)"),
        "\(checked.said)"
      )
      let served = KeptConsole()
      let runner = ServeRunner(
        ServeRunner.Options(site: path),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      )
      #expect(await runner.run(on: served.console) == .configuration)
      let mistake =
        checked.said.split(separator: "\n").first {
          $0.contains("site.yaml:\(line): ") && !$0.contains("warning: ")
        } ?? "?"
      #expect(served.errors.text.contains(mistake), "\(served.errors.text)")
    }
    _ = try folder.write(good, to: "named")
    #expect(check().status == .success, "\(check().said)")
  }
}
