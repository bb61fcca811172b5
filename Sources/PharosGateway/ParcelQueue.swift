/// Parcels in the order in which they are to be sent.
///
/// An array with its front cut off now and then: taking the first and putting some back in front cost nothing that
/// grows with the length.
package struct ParcelQueue: Sendable {
  private var items: [Parcel] = []
  private var start = 0
  /// How much memory its parcels take.
  ///
  /// - Units: bytes.
  package private(set) var memory = 0

  package init() {}

  /// How many there are.
  package var count: Int { items.count - start }

  /// Whether there is none.
  var isEmpty: Bool { count == 0 }

  /// The first one.
  package var first: Parcel? { isEmpty ? nil : items[start] }

  /// Puts one behind all others.
  package mutating func append(_ parcel: Parcel) {
    items.append(parcel)
    memory += parcel.memory
  }

  /// Puts some in front of all others, the first of them foremost.
  package mutating func prepend(_ parcels: some Collection<Parcel>) {
    items.replaceSubrange(0..<start, with: parcels)
    start = 0
    for parcel in parcels { memory += parcel.memory }
  }

  /// Takes the first one.
  package mutating func popFirst() -> Parcel? {
    guard start < items.count else { return nil }
    let parcel = items[start]
    // What is taken gives its memory back at once, though its place stays until the front is cut off.
    items[start] = Parcel(start: parcel.start, length: 0)
    start += 1
    memory -= parcel.memory
    if start >= 32, start * 2 >= items.count {
      items.removeSubrange(0..<start)
      start = 0
    }
    return parcel
  }
}
