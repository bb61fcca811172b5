/// Numbers in sets that are joined one by one.
package struct JoinedSets {
  private var parents: [Int]

  package init(count: Int) { parents = Array(0..<count) }

  /// The number that stands for a number's set: the smallest in it.
  package func root(of number: Int) -> Int {
    var number = number
    while parents[number] != number { number = parents[number] }
    return number
  }

  package mutating func join(_ one: Int, _ other: Int) {
    let (first, second) = (root(of: one), root(of: other))
    parents[max(first, second)] = min(first, second)
  }
}
