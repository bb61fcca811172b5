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

  /// How far what has a place in the datagram lies from there in the batch; all from a first place on is copied, if it has not been
  /// yet.
  mutating func shift(from first: Int, in datagram: RawSpan, _ batch: inout ReportBatch) -> Int {
    guard !isCopied else { return shift }
    let copy = batch.append(payload: datagram.extracting(first..<end))
    shift = Int(copy.lowerBound) - first
    isCopied = true
    return shift
  }
}
