import PharosGateway
import PharosModel
import Testing

@Suite("Boot ids")
struct BootIDTests {
  @Test(
    "a start's number is the clock's, or one more than the last",
    arguments: [
      (wall: 1_800_000_000, last: nil, next: 1_800_000_000),
      (wall: 1_800_000_000, last: 1_799_999_999, next: 1_800_000_000),
      (wall: 1_800_000_000, last: 1_800_000_000, next: 1_800_000_001),
      (wall: 0, last: 1_800_000_000, next: 1_800_000_001),
      (wall: -5, last: nil, next: 0),
      (wall: 1 << 40, last: 7, next: UInt32.max),
      (wall: 5, last: UInt32.max, next: UInt32.max),
    ] as [(wall: Int64, last: UInt32?, next: UInt32)]
  )
  func next(wall: Int64, last: UInt32?, next: UInt32) {
    #expect(BootID.next(wall: Timestamp(seconds: wall), last: last) == next)
  }
}
