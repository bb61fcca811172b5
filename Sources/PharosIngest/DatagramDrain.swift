import CPharos
import PharosCaptures

/// The slots that one loop receives datagrams into, made once and filled again and again.
struct DatagramDrain: ~Copyable {
  /// How many datagrams one call takes at most.
  static let slots = 64

  private let handle: OpaquePointer

  /// Makes the slots.
  ///
  /// - Parameter capacity: the longest datagram, in bytes, that a slot takes whole.
  /// - Throws: ``IngestError/outOfMemory``.
  init(capacity: Int) throws(IngestError) {
    guard let handle = pharos_drain_create(UInt32(DatagramDrain.slots), UInt32(capacity)) else {
      throw .outOfMemory
    }
    self.handle = handle
  }

  deinit { pharos_drain_destroy(handle) }

  /// Takes what a socket holds, up to all slots, without waiting; an error is taken for an empty socket, since NIO
  /// learns of a broken one by itself and closes it.
  mutating func receive(from descriptor: Int32) -> Int {
    max(0, Int(pharos_drain_receive(handle, descriptor)))
  }

  /// The bytes in a slot, valid until the next call of ``receive(from:)``, and whether more was sent than they.
  func datagram(_ slot: Int) -> (bytes: UnsafeRawBufferPointer, isTruncated: Bool) {
    let datagram = pharos_drain_datagram(handle, UInt32(slot))
    return (
      UnsafeRawBufferPointer(start: datagram.bytes, count: Int(datagram.length)), datagram.truncated != 0
    )
  }

  /// Who sent the datagram in a slot.
  func source(_ slot: Int) -> Endpoint { Endpoint(pharos_drain_source(handle, UInt32(slot))) }

  /// Asks for the cache lines of a slot that is read soon.
  func prefetch(_ slot: Int) { pharos_prefetch(pharos_drain_datagram(handle, UInt32(slot)).bytes) }
}
