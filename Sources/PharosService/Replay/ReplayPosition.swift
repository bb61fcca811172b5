import PharosFiles

/// How far into a file a replay is, packet by packet: what a chunk holds may take minutes to send.
struct ReplayPosition {
  /// The length of the file in bytes, or nil if it is unknown.
  private(set) var total: Int?
  /// The bytes of the file that the chunks before this one took.
  private var before: UInt64 = 0
  /// The bytes of the file that this chunk and those before it took.
  private var behind: UInt64 = 0
  /// Where in the capture this chunk begins; in a packed one that is another number than in the file.
  private var start: UInt64 = 0
  private var length: UInt64 = 1

  /// Starts on a chunk of so many bytes of the capture.
  mutating func enter(chunk count: Int, of progress: FileChunks.Progress, at offset: UInt64) {
    before = behind
    behind = progress.read
    total = progress.total.map { Int(clamping: $0) }
    start = offset
    length = UInt64(max(1, count))
  }

  /// How many bytes of the file stand for what was played up to a place in the capture.
  func read(at offset: UInt64) -> Int {
    let share = min(1, Double(offset - min(offset, start)) / Double(length))
    return Int(clamping: before + UInt64(Double(behind - min(before, behind)) * share))
  }
}
