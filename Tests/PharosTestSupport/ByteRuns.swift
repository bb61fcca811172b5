extension [UInt8] {
  /// Returns whether some bytes stand in these, one behind the other.
  package func contains(run: some Collection<UInt8>) -> Bool {
    let run = Array(run)
    guard !run.isEmpty, count >= run.count else { return run.isEmpty }
    return (0...(count - run.count)).contains { self[$0..<($0 + run.count)].elementsEqual(run) }
  }
}
