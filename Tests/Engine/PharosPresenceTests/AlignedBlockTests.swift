import PharosPresence
import Testing

@Suite("Aligned blocks")
struct AlignedBlockTests {
  @Test(
    "a block begins at a multiple of its alignment and holds all its bytes",
    arguments: [16, 64, 128, 4_096]
  )
  func aligned(to alignment: Int) {
    var blocks: [(start: UnsafeMutableRawPointer, block: AlignedBlock)] = []
    for number in 1...200 {
      let byteCount = number * 24
      let (start, block) = AlignedBlock.allocate(byteCount: byteCount, alignment: alignment)
      #expect(Int(bitPattern: start) % alignment == 0)
      start.initializeMemory(as: UInt8.self, repeating: UInt8(number), count: byteCount)
      blocks.append((start, block))
    }
    // No block lies in another: each still holds what was written to it before all later ones.
    for (place, (start, block)) in blocks.enumerated() {
      let bytes = UnsafeRawBufferPointer(start: start, count: (place + 1) * 24)
      #expect(bytes.allSatisfy { $0 == UInt8(place + 1) })
      block.free()
    }
  }
}
