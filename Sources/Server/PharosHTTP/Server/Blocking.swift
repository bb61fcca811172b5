import PharosDelivery

/// The threads of calls that block or take long.
enum Blocking {
  /// Reads of the journal and of files, two at a time: the journal has four readers, of which live streams use two.
  static let reads = WorkPool(threads: 2, limit: 4_096, yields: false)
  /// Searches of ways.
  static let searches = WorkPool(threads: 2, limit: 64, yields: true)
  /// Drawing of tiles.
  static let tiles = WorkPool(threads: 2, limit: 512, yields: true)
  /// Bundles of venues, one at a time: a mall takes seconds of a core.
  static let bundles = WorkPool(threads: 1, limit: 16, yields: true)
  /// Comparisons of captures.
  static let comparisons = WorkPool(threads: 1, limit: 4, yields: true)
  /// Storing of the summaries of minutes.
  static let summaries = WorkPool(threads: 1, limit: 4, yields: true)

  /// Runs a read on another thread and waits for it without blocking.
  ///
  /// - Parameter work: the work.
  /// - Returns: the result of the work.
  /// - Throws: the error of the work.
  static func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await reads.run { _ in try work() }
  }
}
