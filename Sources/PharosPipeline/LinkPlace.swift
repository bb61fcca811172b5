import PharosEvents
import PharosReports

/// When a link was decided, and where it lies: links are several times as large, so that these are sorted in their place.
struct LinkPlace: Sendable {
  let decidedAt: Timestamp
  let index: Int

  /// Sorts the places of links into the order of `StageLink.isOrderedBefore`.
  static func sort(_ places: inout [LinkPlace], of links: borrowing Span<StageLink>) {
    links.withUnsafeBufferPointer { links in
      places.sort { left, right in
        if left.decidedAt != right.decidedAt { return left.decidedAt < right.decidedAt }
        return StageLink.isOrderedBefore(links[left.index], links[right.index])
      }
    }
  }

  /// Whether links lie in the order of `StageLink.isOrderedBefore` already.
  static func areInOrder(_ links: borrowing Span<StageLink>) -> Bool {
    var index = 1
    while index < links.count {
      guard !isBehind(links, index - 1, index) else { return false }
      index += 1
    }
    return true
  }

  /// Whether the first of two links belongs behind the second.
  private static func isBehind(_ links: borrowing Span<StageLink>, _ first: Int, _ second: Int) -> Bool {
    let (before, after) = (links[first].decidedAt, links[second].decidedAt)
    guard before == after else { return before > after }
    return StageLink.isOrderedBefore(links[second], links[first])
  }
}
