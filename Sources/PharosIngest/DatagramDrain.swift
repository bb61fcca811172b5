import CPharos
package import PharosCaptures

/// The slots that one loop receives datagrams into, made once and filled again and again.
package struct DatagramDrain: ~Copyable {
  /// How many datagrams one call takes at most.
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
  ///   - named: whether the kernel is to say who sent each, which costs it a twelfth of all that it does for one.
  /// - Returns: how many datagrams it took.
  package mutating func receive(from descriptor: Int32, named: Bool = true) -> Int {
    max(0, Int(pharos_drain_receive(handle, descriptor, named ? 1 : 0)))
  }

  /// The bytes in a slot, valid until the next call of ``receive(from:named:)``, and whether more was sent than they.
  package func datagram(_ slot: Int) -> (bytes: UnsafeRawBufferPointer, isTruncated: Bool) {
    let datagram = pharos_drain_datagrams(handle)[slot]
    return (
      UnsafeRawBufferPointer(start: datagram.bytes, count: Int(datagram.length)), datagram.truncated != 0
    )
  }

  /// Who sent the datagram in a slot, or an endpoint that is none if the kernel was not asked.
  package func source(_ slot: Int) -> Endpoint { Endpoint(pharos_drain_source(handle, UInt32(slot))) }
}
