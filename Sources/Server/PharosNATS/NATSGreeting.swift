#if NATS
import Foundation
import Glibc

/// What a server says of itself before a client has said anything: the line `INFO {…}` of the protocol.
///
/// libnats 3.4.1 reads the line and passes on nothing of it but an id, so that it is read here by a connection of its own.
package struct NATSGreeting: Sendable, Equatable, Decodable {
  /// The server's id, another one after each start.
  package var id: String
  /// The server's name by its configuration, by which JetStream names leaders and replicas.
  package var name: String
  /// The version, for example `2.9.10`.
  package var version: String
  /// The name of the cluster; nil for a server alone.
  package var cluster: String?
  /// Indicates whether JetStream is enabled.
  package var hasJetStream: Bool?

  private enum CodingKeys: String, CodingKey {
    case id = "server_id"
    case name = "server_name"
    case version
    case cluster
    case hasJetStream = "jetstream"
  }

  /// Reads the line of a server; nil if none came in time.
  ///
  /// - Parameters:
  ///   - address: The address, `nats://HOST:PORT`.
  ///   - time: The time to connect and to read, in milliseconds each.
  init?(of address: String, within time: Int) {
    guard let components = URLComponents(string: address), let host = components.host else { return nil }
    let literal = host.trimmingCharacters(in: ["[", "]"])
    guard let line = NATSGreeting.firstLine(of: literal, components.port ?? 4_222, time),
      line.starts(with: Array("INFO {".utf8)),
      let greeting = try? JSONDecoder().decode(NATSGreeting.self, from: Data(line.dropFirst(5)))
    else { return nil }
    self = greeting
  }

  private static func firstLine(of host: String, _ port: Int, _ time: Int) -> [UInt8]? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else { return nil }
    defer { freeaddrinfo(found) }
    let descriptor = socket(
      found.pointee.ai_family,
      Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
      0
    )
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    _ = connect(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen)
    guard wait(for: descriptor, POLLOUT, time) else { return nil }
    var (line, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
    while line.count < 65_536, wait(for: descriptor, POLLIN, time) {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return nil }
      line += buffer.prefix(count)
      if let end = line.firstIndex(of: UInt8(ascii: "\n")) { return Array(line[..<end]) }
    }
    return nil
  }

  private static func wait(for descriptor: Int32, _ events: Int32, _ time: Int) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return poll(&entry, 1, Int32(time)) == 1 && Int32(entry.revents) & events != 0
  }
}
#endif
