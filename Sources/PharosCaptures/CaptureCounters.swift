/// What was found in a capture, and what was passed over and why.
///
/// Each packet handed to an extractor is counted once under `packets`; the reasons tell where the rest went.
package struct CaptureCounters: Sendable, Equatable {
  /// Packets handed in.
  package var packets = 0
  /// Packets whose link type cannot hold what is sought.
  package var unsupportedLinkType = 0
  /// Packets of a right link type that hold something else: HCI commands, connections, TCP.
  package var unrelated = 0
  /// Packets too damaged to be read: lengths that contradict each other.
  package var malformed = 0
  /// Packets that the capture cut short, where the missing part was needed.
  package var snapped = 0

  /// Advertising reports found.
  package var reports = 0
  /// Link-layer packets whose checksum is wrong.
  package var badCRC = 0
  /// Link-layer packets that end before their own length field says.
  package var cutShort = 0
  /// Extended advertising PDUs that only point to another and name no advertiser.
  package var pointers = 0
  /// Chains of extended advertising data given up: too long, too old, or too many at a time.
  package var abandonedChains = 0

  /// UDP datagrams found.
  package var datagrams = 0
  /// Fragments of datagrams.
  package var fragments = 0
  /// Datagrams given up because fragments of theirs never came.
  package var abandonedDatagrams = 0
  /// Datagrams refused because fragments of theirs contradict each other.
  package var overlaps = 0

  /// Counts nothing.
  package init() {}

  /// Adds what another one counted.
  package static func += (left: inout CaptureCounters, right: CaptureCounters) {
    left.packets += right.packets
    left.unsupportedLinkType += right.unsupportedLinkType
    left.unrelated += right.unrelated
    left.malformed += right.malformed
    left.snapped += right.snapped
    left.reports += right.reports
    left.badCRC += right.badCRC
    left.cutShort += right.cutShort
    left.pointers += right.pointers
    left.abandonedChains += right.abandonedChains
    left.datagrams += right.datagrams
    left.fragments += right.fragments
    left.abandonedDatagrams += right.abandonedDatagrams
    left.overlaps += right.overlaps
  }
}
