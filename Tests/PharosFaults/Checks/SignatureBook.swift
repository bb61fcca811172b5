import PharosModel
import PharosWire

/// The signed datagrams that were taken, over all runs: none twice.
struct SignatureBook {
  private struct Name: Hashable {
    var observer: ObserverID
    var bootID: UInt32
    var sequence: UInt32

    init(_ head: PharosDatagramHead) {
      (observer, bootID, sequence) = (head.observer, head.bootID, head.sequence)
    }
  }

  private var accepted: Set<Name> = []
  /// Indicates whether some record could not be kept: then what was taken may be taken again after a kill, which the server logs.
  private(set) var isUnkept = false

  /// Notes that the disk did not take a record.
  mutating func recordUnkept() { isUnkept = true }

  /// Notes that a datagram was taken.
  mutating func record(_ head: PharosDatagramHead) { accepted.insert(Name(head)) }

  /// Returns whether a datagram was taken at some time.
  func isAccepted(_ head: PharosDatagramHead) -> Bool { accepted.contains(Name(head)) }
}
