/// Finds the word that somebody probably meant.
package enum Spelling {
  /// The candidate nearest to a word, or nil if none is near enough to be meant.
  ///
  /// Near enough is one slip in three letters: `majr` is `major`, `foo` is nothing.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let ranked = candidates.map { (name: $0, distance: distance(word.lowercased(), $0.lowercased())) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, min(word.count, best.name.count) / 3) ? best.name : nil
  }

  /// How many letters must be added, left out, replaced or swapped with their neighbour.
  ///
  /// - Complexity: O(n·m); the words are keys of a file, cut to 40 letters.
  /// - Source: the restricted Damerau–Levenshtein distance.
  package static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left.prefix(40))
    let right = Array(right.prefix(40))
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for i in 1...left.count {
      var row = [i] + [Int](repeating: 0, count: right.count)
      for j in 1...right.count {
        let replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)
        row[j] = min(last[j] + 1, row[j - 1] + 1, replaced)
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          row[j] = min(row[j], beforeLast[j - 2] + 1)
        }
      }
      beforeLast = last
      last = row
    }
    return last[right.count]
  }
}
