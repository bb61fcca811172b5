import PharosFiles
package import PharosSigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where a gateway's key comes from: the command line, a file, or the environment, in this order.
package struct KeySource {
  var text: String?
  var file: String?
  var environment: String?

  package init(text: String? = nil, file: String? = nil, environment: String? = nil) {
    self.text = text
    self.file = file
    self.environment = environment
  }

  /// The longest file that is read: a key takes 84 bytes.
  ///
  /// - Units: bytes.
  private static let longestFile = 4_096

  /// The key, or nil if none is given.
  ///
  /// - Throws: ``GatewayFailure``, which names the place and never a part of the key.
  package func key(say: (String) -> Void) throws -> ObserverKey? {
    if let text { return try parse(text, from: "--key") }
    if let file { return try parse(read(file, say: say), from: file) }
    guard let environment, !environment.isEmpty else { return nil }
    return try parse(environment, from: "PHAROS_KEY")
  }

  private func parse(_ text: String, from place: String) throws -> ObserverKey {
    do {
      return try ObserverKey(text: text)
    } catch {
      throw GatewayFailure("\(place): \(error)")
    }
  }

  private func read(_ path: String, say: (String) -> Void) throws -> String {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & 0o077 != 0, status.st_mode & S_IFMT == S_IFREG {
      say("others can read the key in \(path): chmod 600 \(path).")
    }
    var chunks = try FileChunks(path: path)
    let bytes = try chunks.next() ?? []
    return String(decoding: bytes.prefix(KeySource.longestFile).filter { $0 > 32 }, as: UTF8.self)
  }
}

/// An error that keeps a gateway from starting, in words for the operator.
struct GatewayFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
