import CAllocationCounter
import PharosDocuments
import PharosModel
import PharosWire
import Testing

/// What an advert's path asks the allocator for, counted in front of the C library.
@Suite("Allocations", .enabled(if: allocations_are_counted(), "a sanitizer has the allocator"))
struct AllocationTests {
  /// An iBeacon as most of them advertise, behind its flags.
  static let payload: [UInt8] =
    Hex.bytes("0201061AFF4C000215E2C56DB5DFFB48D2B060D0F5A71096E000640000C5") ?? []

  @Test("the counter counts")
  func counter() {
    let before = allocation_count_of_this_thread()
    var arrays: [[UInt8]] = []
    arrays.reserveCapacity(100)
    for index in 0..<100 { arrays.append([UInt8](repeating: 1, count: 64 + index)) }
    #expect(allocation_count_of_this_thread() - before >= 100)
    #expect(arrays.count == 100)
  }

  @Test("decoding an advert allocates nothing")
  func decoding() {
    let decoder = FrameDecoder()
    var found = 0
    let span = Self.payload.span.bytes
    let before = allocation_count_of_this_thread()
    for _ in 0..<1_000 {
      decoder.forEachFrame(in: span) { frame in
        if let beacon = frame.beacon, beacon.major == 100, frame.measuredPower == -59 { found += 1 }
      }
    }
    let allocations = allocation_count_of_this_thread() - before
    #expect(found == 1_000)
    #expect(allocations == 0, "\(allocations) allocations in 1,000 adverts")
  }
}
