import PharosReports

/// Where the AD structures of a datagram's adverts lie in a batch.
///
/// They are copied in one go, from the first advert's to the end of the records, with the few bytes between them: that
/// costs less than a copy for each.
struct CopiedPayloads {
  /// Where the records end in the datagram.
  let end: Int
  /// From a place in the datagram to the one in the batch.
  private var shift = 0
  private var isCopied = false

  /// Nothing has been copied yet of a datagram whose records end there.
  init(end: Int) { self.end = end }

  /// The place in the batch of what has a place in the datagram, which is copied if it has not been yet.
  mutating func place(of data: Range<Int>, in datagram: RawSpan, _ batch: inout ReportBatch) -> Range<UInt32>
  {
    if !isCopied {
      let copy = batch.append(payload: datagram.extracting(data.lowerBound..<end))
      shift = Int(copy.lowerBound) - data.lowerBound
      isCopied = true
    }
    let start = UInt32(truncatingIfNeeded: data.lowerBound &+ shift)
    return start..<start &+ UInt32(truncatingIfNeeded: data.count)
  }
}
