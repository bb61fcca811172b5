/// The places in the tag table at which an observer's beacons were found in its last second, in report order.
///
/// An observer reports its beacons in nearly the same order from second to second, so the place of the next beacon is
/// usually known without a lookup. It is only a hint: the caller must check that the beacon is at that place.
package struct KnownOrder {
  /// How far ahead a beacon is looked for that comes out of turn.
  private static let reach = 16

  private let last: [Int32]
  private var present: [Int32] = []
  private var cursor = 0

  /// Begins a second of an observer.
  package init(_ orders: [[Int32]], of observer: Int) {
    last = observer < orders.count ? orders[observer] : []
    present.reserveCapacity(last.count + 1)
  }

  /// Where the next beacon was the last time.
  package var next: Int? { cursor < last.count ? Int(last[cursor]) : nil }

  /// Notes where the next beacon is, and goes on behind it.
  package mutating func append(_ place: Int) {
    present.append(Int32(place))
    let end = min(cursor + KnownOrder.reach, last.count)
    var index = cursor
    while index < end {
      if last[index] == Int32(place) {
        cursor = index + 1
        return
      }
      index += 1
    }
  }

  /// Ends the second: what was found in it is what the next one begins with.
  package func keep(in orders: inout [[Int32]], of observer: Int) {
    while orders.count <= observer { orders.append([]) }
    if present != last { orders[observer] = present }
  }
}
