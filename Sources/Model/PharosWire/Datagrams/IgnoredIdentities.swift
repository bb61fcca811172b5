import PharosDocuments
import PharosModel

/// The numbers of members, by name, that look like the identity of a beacon in JSON objects of which only the device's
/// address is understood.
///
/// A gateway that names an identity in its own way would otherwise lose each beacon silently. Bounded, since senders choose
/// the names: further ones are counted together.
package struct IgnoredIdentities: Sendable, Equatable {
  /// The numbers by name; the name `other` has those for which there is no room.
  package private(set) var counts: [String: UInt64] = [:]

  /// The maximum number of names, `other` included.
  private static let capacity = 16
  /// The longest name that is kept, in bytes.
  private static let maximumName = 32
  /// The name of those for which there is no room.
  private static let other = "other"
  /// The words that occur in names of identities.
  private static let words: [StaticString] = ["uuid", "major", "minor", "namespace", "instance"]

  /// Counts nothing.
  package init() {}

  /// The names in the order of the alphabet, with their numbers.
  package var sorted: [(name: String, count: UInt64)] {
    counts.sorted { $0.key < $1.key }.map { (name: $0.key, count: $0.value) }
  }

  /// As ``sorted``, with the name `other` even if its number is zero.
  package var withOther: [(name: String, count: UInt64)] {
    counts[IgnoredIdentities.other] == nil ? sorted + [(name: IgnoredIdentities.other, count: 0)] : sorted
  }

  /// Adds the numbers of another one.
  package static func += (left: inout IgnoredIdentities, right: IgnoredIdentities) {
    guard !right.counts.isEmpty else { return }
    for (name, count) in right.sorted { left.add(name, count) }
  }

  /// Counts a member by its name; an empty range is a name that is not kept.
  mutating func count(_ name: Range<Int>, _ bytes: RawSpan) {
    let isKept = 1...IgnoredIdentities.maximumName ~= name.count
    let text = isKept ? WireText.string(bytes, name) : nil
    add(text.map { PlainText.clean($0) } ?? IgnoredIdentities.other, 1)
  }

  /// Returns whether a name looks like one of an identity.
  static func isIdentity(_ bytes: RawSpan, _ name: Range<Int>) -> Bool {
    words.contains { contains(bytes, name, $0) }
  }

  private mutating func add(_ name: String, _ count: UInt64) {
    let hasRoom = counts[name] != nil || counts.count < IgnoredIdentities.capacity - 1
    counts[hasRoom ? name : IgnoredIdentities.other, default: 0] &+= count
  }

  /// Returns whether a name contains a word of lower-case letters, in any case.
  private static func contains(_ bytes: RawSpan, _ name: Range<Int>, _ word: StaticString) -> Bool {
    let length = word.utf8CodeUnitCount
    guard name.count >= length else { return false }
    return (name.lowerBound...name.upperBound - length).contains { start in
      (0..<length).allSatisfy { unsafe bytes.byte(at: start + $0) | 0x20 == word.utf8Start[$0] }
    }
  }
}
