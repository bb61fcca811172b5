package import PharosReports

/// What waits for a subscriber that wants the present alone: one element about each subject, the newest.
///
/// A subject keeps the place that it got when its first element came, so that one which moves often does not push back
/// those that move seldom.
package struct NewestElements<Output: Sendable>: Sendable {
  private var elements: [SubjectID: Output] = [:]
  /// The subjects in the order in which they began to wait; `head` is the first one whose element is not taken.
  private var order: [SubjectID] = []
  private var head = 0

  package init() {}

  /// How many wait.
  package var count: Int { elements.count }

  /// Takes an element, which replaces the one that waits about the same subject.
  package mutating func put(_ element: Output, about subject: SubjectID) {
    if elements.updateValue(element, forKey: subject) == nil { order.append(subject) }
  }

  /// Gives out up to so many, those that wait longest first.
  package mutating func take(upTo most: Int) -> ArraySlice<Output> {
    let end = min(order.count, most < order.count - head ? head + most : order.count)
    let taken = order[head..<end].compactMap { elements.removeValue(forKey: $0) }
    head = end
    compact()
    return taken[...]
  }

  /// Gives up the one that waits longest.
  package mutating func dropOldest() {
    guard head < order.count else { return }
    elements[order[head]] = nil
    head += 1
    compact()
  }

  /// Gives back the room of taken places once they are the larger part, so that taking stays cheap on average.
  private mutating func compact() {
    guard head == order.count || head > 32 && head * 2 > order.count else { return }
    order.removeFirst(head)
    head = 0
  }
}
