import Foundation
import NIOSSL
import PharosHTTP
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

/// HTTP over TLS, by certificate files.
@Suite("HTTP over TLS", .timeLimit(.minutes(20)))
struct TLSTests {
  @Test("requests and streams work over TLS, and plain HTTP does not")
  func served() async throws {
    try await withFiles { files in
      var configuration = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0))
      configuration.tls = files
      try await TestService.run(configuration: configuration, isLive: true) { service in
        var client = TLSConfiguration.makeClientConfiguration()
        client.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(files.certificate))
        let context = try NIOSSLContext(configuration: client)
        try await WireConnection.with(port: Int(service.address.port), tls: context) { connection in
          try await connection.send(service.head("GET", "/healthz", headers: ["Connection": "keep-alive"]))
          #expect(try await connection.answer().status == 200)
          try await connection.send(
            service.head("GET", "/v1/events", headers: ["Accept": "text/event-stream"])
          )
          #expect(try await connection.head().status == 200)
          #expect(try await connection.chunk() == Array("retry: 2000\n\n".utf8))
        }
        await #expect(throws: (any Error).self) {
          _ = try await service.request("GET", "/healthz")
        }
      }
    }
  }

  @Test("unusable files are reported in a sentence before anything is served")
  func unusable() async throws {
    try await withFiles { files in
      let foreignPairs = [
        TLSFiles(certificate: "/nowhere/certificate.pem", key: files.key),
        TLSFiles(certificate: files.certificate, key: "/nowhere/key.pem"),
        TLSFiles(certificate: files.key, key: files.key),
        TLSFiles(certificate: files.certificate, key: files.certificate),
      ]
      for foreignFiles in foreignPairs {
        var configuration = HTTPConfiguration(address: HostPort(host: "127.0.0.1", port: 0))
        configuration.tls = foreignFiles
        await #expect {
          try await TestService.run(configuration: configuration, isLive: true) { _ in }
        } throws: { error in
          "\(error)".contains("with certificate \(foreignFiles.certificate) and key \(foreignFiles.key)")
        }
      }
    }
  }

  private func withFiles(_ body: (TLSFiles) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pharos-tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = TLSFiles(
      certificate: folder.appending(path: "certificate.pem").path,
      key: folder.appending(path: "key.pem").path
    )
    try TestCertificate.certificate.write(toFile: files.certificate, atomically: true, encoding: .utf8)
    try TestCertificate.key.write(toFile: files.key, atomically: true, encoding: .utf8)
    try await body(files)
  }
}
