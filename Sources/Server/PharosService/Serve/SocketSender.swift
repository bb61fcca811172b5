import Glibc
import PharosCaptures
import PharosDocuments
package import PharosIngest
import PharosModel

/// A UDP socket towards one address.
package final class SocketSender {
  private let sender: DatagramSender

  /// The time to wait for room in the socket's buffer before checking again for a request to stop.
  ///
  /// - Units: milliseconds.
  private static let patience = 100
  /// The send buffer to ask for.
  ///
  /// - Units: bytes. 4 MiB: a train of datagrams is charged as a whole, and so are those of a batch that waits.
  private static let sendBuffer = 4 << 20

  /// Opens a socket.
  ///
  /// - Throws: the system's error.
  package init(to destination: Endpoint) throws(SendError) {
    sender = try DatagramSender(to: destination, sendBuffer: SocketSender.sendBuffer)
  }

  /// Sends datagrams and says how many the system took.
  package func send(_ bytes: [UInt8], ranges: ArraySlice<Range<Int>>) throws(SendError) -> Int {
    try sender.send(bytes, ranges: ranges)
  }

  /// Waits until the socket's buffer has room.
  package func waitUntilWritable() { _ = sender.waitUntilWritable(milliseconds: SocketSender.patience) }
}

extension HostPort {
  /// Looks the host up and gives its first address.
  ///
  /// - Throws: ``CommandFailure`` that names the host and says what to do.
  package func endpoint() throws(CommandFailure) -> Endpoint {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let outcome = getaddrinfo(host, nil, &hints, &found)
    defer { if let found { freeaddrinfo(found) } }
    guard outcome == 0, let address = found?.pointee.ai_addr, let length = found?.pointee.ai_addrlen else {
      let reason = outcome == 0 ? "no address" : String(cString: gai_strerror(outcome))
      throw CommandFailure(
        "cannot send to \(self): host \"\(host)\": \(Wording.clause(reason)). Give an address or a known name."
      )
    }
    var text = [CChar](repeating: 0, count: 64)
    let named = getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
    let numeric = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard named == 0, let ip = IPAddress(numeric.prefix { $0 != "%" }) else {
      throw CommandFailure("cannot send to \(self): \"\(host)\" has no IPv4 or IPv6 address.")
    }
    return Endpoint(ip, port: port)
  }
}
