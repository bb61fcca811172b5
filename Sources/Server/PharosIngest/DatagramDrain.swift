package import CPharos
import PharosCaptures
package import PharosModel

/// The slots that one loop receives datagrams into, made once and filled again and again.
package struct DatagramDrain: ~Copyable {
  /// The maximum number of datagrams that one call takes.
  static let slots = 64

  private let handle: OpaquePointer

  /// Makes the slots.
  ///
  /// - Parameter capacity: the longest datagram, in bytes, that a slot takes whole.
  /// - Throws: ``IngestError/outOfMemory``.
  package init(capacity: Int) throws(IngestError) {
    guard let handle = pharos_drain_create(UInt32(DatagramDrain.slots), UInt32(capacity)) else {
      throw .outOfMemory
    }
    self.handle = handle
  }

  deinit { pharos_drain_destroy(handle) }

  /// Takes what a socket holds, up to all slots, without waiting; an error is taken for an empty socket, since NIO
  /// learns of a broken one by itself and closes it.
  ///
  /// - Parameters:
  ///   - descriptor: the socket's.
  ///   - named: indicates whether the kernel is to give the sender of each, which costs it a twelfth of all that it
  ///     does for one.
  /// - Returns: the number of datagrams that it took.
  package mutating func receive(from descriptor: Int32, named: Bool = true) -> Int {
    max(0, Int(pharos_drain_receive(handle, descriptor, named ? 1 : 0)))
  }

  /// Returns the bytes in a slot, valid until the next call of ``receive(from:named:)``, and whether the datagram was
  /// longer.
  package func datagram(_ slot: Int) -> (bytes: UnsafeRawBufferPointer, isTruncated: Bool) {
    let datagram = pharos_drain_datagrams(handle)[slot]
    return (
      UnsafeRawBufferPointer(start: datagram.bytes, count: Int(datagram.length)), datagram.truncated != 0
    )
  }

  /// Returns the sender of the datagram in a slot, or `Endpoint.none` if the kernel was not asked.
  package func source(_ slot: Int) -> Endpoint { Endpoint(pharos_drain_source(handle, UInt32(slot))) }
}

extension Endpoint {
  /// The placeholder for the address of a socket that has none, such as a UNIX socket that was passed to the process.
  package static let none = Endpoint(IPAddress(v4: 0), port: 0)

  /// The endpoint that the C shim read; an IPv4 address mapped into IPv6 is one of version 4.
  package init(_ address: pharos_address) {
    switch address.version {
    case 4: self.init(IPAddress(v4: UInt32(truncatingIfNeeded: address.low)), port: address.port)
    case 6: self.init(IPAddress(v6: address.high, address.low), port: address.port)
    default: self = .none
    }
  }

  /// The endpoint as the C shim takes it.
  var system: pharos_address {
    pharos_address(
      high: address.high,
      low: address.low,
      scope: 0,
      port: port,
      version: address.version.rawValue
    )
  }
}
