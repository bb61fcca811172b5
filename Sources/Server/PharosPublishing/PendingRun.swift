import PharosModel
import Synchronization

/// A part of a batch that waits in a queue; its elements are made when they are taken.
///
/// The hub hands over batches on the sender's thread. What operators such as ``EventPublisher/filter(_:)`` add is a user's
/// code, which may take its time: it runs on the subscriber's queue, so that it delays neither the sender nor others.
struct PendingRun<Output: Sendable>: Sendable {
  private var places: Range<Int>
  private let make: @Sendable (Range<Int>) -> ArraySlice<Output>
  private let hasEnded: (@Sendable () -> Bool)?
  /// Returns the subject of a place of the batch; nil where elements do not replace earlier ones.
  let subject: (@Sendable (Int) -> SubjectID)?

  /// Creates a run of all elements of a batch.
  init(_ batch: [Output], by subject: (@Sendable (Output) -> SubjectID)? = nil) {
    places = batch.indices
    make = { batch[$0] }
    hasEnded = nil
    if let subject {
      self.subject = { subject(batch[$0]) }
    } else {
      self.subject = nil
    }
  }

  private init<Base>(
    _ base: PendingRun<Base>,
    hasEnded: (@Sendable () -> Bool)?,
    make: @escaping @Sendable (Range<Int>) -> ArraySlice<Output>
  ) {
    places = base.places
    self.make = make
    self.hasEnded = hasEnded
    subject = base.subject
  }

  /// The number of places; operators may make fewer elements of them.
  var count: Int { places.count }
  /// The elements.
  var elements: ArraySlice<Output> { make(places) }
  /// Indicates whether an operator has ended the stream, so that no element follows.
  var isEnded: Bool { hasEnded?() ?? false }
  /// A run for each place, with its subject; none for a run without subjects.
  var single: [(run: PendingRun, subject: SubjectID)] {
    guard let subject else { return [] }
    return places.map { place in
      var run = self
      run.places = place..<place + 1
      return (run, subject(place))
    }
  }

  /// Removes up to so many places from the front and returns them; none for a count below 1.
  mutating func removeFirst(_ count: Int) -> PendingRun {
    var accepted = self
    let end = places.lowerBound + max(0, min(count, places.count))
    accepted.places = places.lowerBound..<end
    places = end..<places.upperBound
    return accepted
  }

  /// Returns a run of what a function makes of the elements, without those for which it returns nil.
  func compactMap<Result>(_ transform: @escaping @Sendable (Output) -> Result?) -> PendingRun<Result> {
    PendingRun<Result>(self, hasEnded: hasEnded) { [make] in make($0).compactMap(transform)[...] }
  }

  /// Returns a run without the elements beyond a count, which all runs of a subscription share.
  ///
  /// - Parameters:
  ///   - rest: the number of elements that may still follow.
  ///   - end: called once after the last of them was made.
  /// - Returns: the run.
  func prefix(_ rest: MutexBox<Int>, end: @escaping @Sendable () -> Void) -> PendingRun {
    PendingRun(self, hasEnded: { [hasEnded] in rest.mutex.withLock { $0 <= 0 } || hasEnded?() ?? false }) {
      [make] places in
      var made: ArraySlice<Output> = []
      // One place at a time: what precedes the operator is not called for elements that are not wanted.
      for place in places {
        guard rest.mutex.withLock({ $0 > 0 }) else { break }
        let element = make(place..<place + 1)
        made += element
        let isLast = rest.mutex.withLock { count in
          count -= element.count
          return count == 0 && !element.isEmpty
        }
        if isLast { end() }
      }
      return made
    }
  }
}

/// A mutex that several closures share.
final class MutexBox<Value: Sendable>: Sendable {
  let mutex: Mutex<Value>

  init(_ value: Value) { mutex = Mutex(value) }
}
