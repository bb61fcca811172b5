import Dispatch
import Synchronization

/// Takes calls that block, as reading a disk does, off the threads that all asynchronous work shares.
enum Blocking {
  /// Two calls at a time: the journal has four readers, of which live streams use two.
  private static let lanes = [
    DispatchQueue(label: "pharos.http.reads.0", qos: .userInitiated),
    DispatchQueue(label: "pharos.http.reads.1", qos: .userInitiated),
  ]
  // Relaxed: whichever lane a call takes, it is served.
  private static let turn = Atomic<UInt>(0)

  /// Does some blocking work elsewhere and waits for it without blocking.
  ///
  /// - Parameter work: the work.
  /// - Returns: what the work gives.
  /// - Throws: what the work throws.
  static func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws
    -> Value
  {
    let turn = turn.wrappingAdd(1, ordering: .relaxed).newValue
    return try await withCheckedThrowingContinuation { continuation in
      lanes[Int(turn % UInt(lanes.count))].async {
        continuation.resume(with: Result(catching: work))
      }
    }
  }
}
