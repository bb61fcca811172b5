/// Memory that begins at a multiple of a power of two.
///
/// Aligned by hand within a somewhat longer block: what the GNU C library before 2.38 gives for an alignment of its own it
/// does not find again once it is freed (its bug 14581). The pages of all tracks are copied whenever a checkpoint is
/// taken: aligned by the library they took 1.6 MB more of a server's memory every minute.
package struct AlignedBlock {
  /// The alignment that every allocator guarantees: 16 bytes on all 64-bit systems.
  private static let usual = 16

  private let memory: UnsafeMutableRawPointer

  /// Takes so many bytes.
  ///
  /// - Returns: the start of the bytes, and the block to free them with.
  package static func allocate(
    byteCount: Int,
    alignment: Int
  ) -> (start: UnsafeMutableRawPointer, block: AlignedBlock) {
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: byteCount + max(0, alignment - usual),
      alignment: usual
    )
    return (memory.alignedUp(toMultipleOf: alignment), AlignedBlock(memory: memory))
  }

  /// Returns the number of bytes before those that were asked for.
  ///
  /// Together with the bytes behind them, they are 16 fewer than the alignment.
  func lead(of start: UnsafeMutableRawPointer) -> Int { start - memory }

  /// Gives the bytes back; to be called once.
  package func free() { memory.deallocate() }
}
