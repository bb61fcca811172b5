/// A ring of loads one way and of their emptied containers back.
///
/// A container that was emptied keeps its storage and is filled again, so that in the steady state nothing is
/// allocated however much crosses.
package struct Conveyor<Load: Sendable, Container: Sendable>: Sendable {
  /// What was loaded.
  package let full: SingleProducerRing<Load>
  /// What may be filled again; the producer of `full` is the consumer here.
  let empty: SingleProducerRing<Container>

  /// How many emptied containers are kept: twice what a loop fills in one turn.
  ///
  /// After a stall there may be as many as the ring holds, each grown to its largest; the rest of them is freed.
  static var spares: Int { 64 }

  /// Makes a conveyor for at least so many loads under way.
  init(capacity: Int) {
    full = SingleProducerRing(capacity: capacity)
    empty = SingleProducerRing(capacity: min(capacity, Self.spares))
  }

  /// Gives an emptied container back; called by the consumer.
  ///
  /// Without room for it, its storage is freed.
  func giveBack(_ container: consuming Container) { _ = empty.push(container) }
}
