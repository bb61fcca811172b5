import Atomics

/// A bounded queue from one thread to one other.
///
/// All data that crosses between loops goes through this type. A push or pop costs a few nanoseconds and no lock; a
/// full ring refuses, and its producer waits, so that nothing is lost.
///
/// The one reviewed `@unchecked Sendable` of this module. It is safe because each stored property has one owner: the
/// producer writes `storage` slots from `tail` to `head + capacity` and `knownHead`; the consumer reads and empties
/// slots from `head` to `tail` and writes `knownTail`; the two counters are atomics. Which loop is the producer and
/// which the consumer of a ring is fixed by ``Exchange``.
package final class SingleProducerRing<Element: Sendable>: @unchecked Sendable {
  private let mask: Int
  private let storage: UnsafeMutablePointer<Element>
  /// Counts what was popped.
  ///
  /// Released by the consumer after it has emptied a slot, acquired by the producer before
  /// it fills that slot again: otherwise the filling could be seen before the emptying.
  private let head = ManagedAtomic<Int>(0)
  /// Counts what was pushed.
  ///
  /// Released by the producer after it has filled a slot, acquired by the consumer before
  /// it reads that slot: otherwise the slot could be read before it is filled.
  private let tail = ManagedAtomic<Int>(0)
  /// The producer's last view of `head`: it looks at the shared counter only when the ring seems full.
  private var knownHead = 0
  /// The consumer's last view of `tail`: it looks at the shared counter only when the ring seems empty.
  private var knownTail = 0

  /// Makes a ring with room for at least so many elements.
  package init(capacity: Int) {
    precondition(capacity > 0, "a ring needs room for an element")
    var size = 1
    while size < capacity { size <<= 1 }
    mask = size - 1
    storage = .allocate(capacity: size)
  }

  deinit {
    while pop() != nil {}
    storage.deallocate()
  }

  /// The number of elements that the ring holds at most.
  package var capacity: Int { mask + 1 }

  /// Indicates whether a push would succeed.
  ///
  /// Called by the producer, for which `true` remains valid until it pushes.
  package var hasRoom: Bool {
    // Relaxed: only the producer writes `tail`.
    let end = tail.load(ordering: .relaxed)
    if end &- knownHead <= mask { return true }
    knownHead = head.load(ordering: .acquiring)
    return end &- knownHead <= mask
  }

  /// Returns whether more than a number of elements wait; called by the producer.
  func holds(moreThan count: Int) -> Bool {
    // Relaxed: only the producer writes `tail`.
    let end = tail.load(ordering: .relaxed)
    if end &- knownHead <= count { return false }
    knownHead = head.load(ordering: .acquiring)
    return end &- knownHead > count
  }

  /// Appends an element, or refuses it if the ring is full; called by the producer.
  package func push(_ element: consuming Element) -> Bool {
    guard hasRoom else { return false }
    let end = tail.load(ordering: .relaxed)
    (storage + (end & mask)).initialize(to: element)
    tail.store(end &+ 1, ordering: .releasing)
    return true
  }

  /// Indicates whether there is nothing to pop; called by the consumer.
  package var isEmpty: Bool {
    // Relaxed: only the consumer writes `head`.
    let start = head.load(ordering: .relaxed)
    if start != knownTail { return false }
    knownTail = tail.load(ordering: .acquiring)
    return start == knownTail
  }

  /// Passes the next element to a closure and returns its result, or nil if there is none; called by the consumer.
  package func withFirst<Result>(_ body: (borrowing Element) -> Result) -> Result? {
    guard !isEmpty else { return nil }
    return body(storage[head.load(ordering: .relaxed) & mask])
  }

  /// Takes the oldest element, or nil if there is none; called by the consumer.
  package func pop() -> Element? {
    guard !isEmpty else { return nil }
    let start = head.load(ordering: .relaxed)
    let element = (storage + (start & mask)).move()
    head.store(start &+ 1, ordering: .releasing)
    return element
  }
}

/// A ring of loads one way and of their emptied containers back.
///
/// A container that was emptied keeps its storage and is filled again, so that in the steady state nothing is
/// allocated however much crosses.
package struct RecyclingQueue<Load: Sendable, Container: Sendable>: Sendable {
  /// The loads.
  package let full: SingleProducerRing<Load>
  /// The emptied containers to fill again; the consumer of `full` is the producer here.
  let empty: SingleProducerRing<Container>

  /// The number of emptied containers that are kept: twice what a loop fills in one turn.
  ///
  /// After a stall there may be as many as the ring holds, each grown to its largest; the rest of them is freed.
  static var spares: Int { 64 }

  /// Creates a queue with at least `capacity` slots.
  init(capacity: Int) {
    full = SingleProducerRing(capacity: capacity)
    empty = SingleProducerRing(capacity: min(capacity, Self.spares))
  }

  /// Gives an emptied container back; called by the consumer.
  ///
  /// Without room for it, its storage is freed.
  func recycle(_ container: consuming Container) { _ = empty.push(container) }
}
