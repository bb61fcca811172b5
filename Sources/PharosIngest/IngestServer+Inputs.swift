import Atomics
import NIOCore
package import PharosCaptures
import PharosMonitoring
package import PharosReports
package import PharosSigning

extension IngestServer {
  /// Changes the regions of an application, at an instant that has its place among all inputs.
  ///
  /// Returns once the change is accepted; an event says when it had consequences.
  ///
  /// - Throws: `RegionRefusal`, nothing having changed; ``IngestError/stopped``.
  package func apply(_ change: RegionChange) async throws {
    try await ask { .change(change, $0) }
    for loop in loops { loop.eventLoop.execute { loop.value.intake.recognise(change) } }
  }

  /// Takes over an edited site, at an instant that has its place among all inputs.
  ///
  /// What it declares alike goes on as it was, and what applications added at run time stays. Returns once it is accepted.
  ///
  /// - Throws: `RegionRefusal`, nothing having changed; ``IngestError/stopped``.
  package func adopt(_ site: Site) async throws {
    try await ask { .adoption(site, $0) }
    let applications = try await applications()
    for loop in loops {
      loop.eventLoop.execute {
        loop.value.recognise(site, applications: applications)
        loop.value.intake.gate.adopt(site)
      }
    }
  }

  /// Takes over other keys for signed datagrams; returns once every loop goes by them.
  ///
  /// What a key that stays has taken stays with it; a key that is gone opens nothing from then on.
  ///
  /// - Parameter observers: all observers with their keys.
  /// - Throws: ``IngestError/stopped``.
  package func adopt(keys observers: [KeyedObserver]) async throws {
    let keys = parts.desk.adopt(observers)
    for loop in loops {
      do {
        try await loop.eventLoop.scheduleTask(in: .zero) { loop.value.intake.gate.adopt(keys) }.futureResult
          .get()
      } catch is EventLoopError {
        throw IngestError.stopped
      }
    }
  }

  /// Takes a datagram that came otherwise than over UDP, as if it had.
  ///
  /// It has its place among all inputs and is recorded with its source; one longer than 65,507 bytes is refused as truncated.
  ///
  /// - Parameters:
  ///   - payload: its bytes, in any format that is understood.
  ///   - source: who sent it.
  /// - Returns: what was decoded, or why it was refused.
  /// - Throws: ``IngestError/stopped``.
  package func receive(_ payload: [UInt8], from source: Endpoint) async throws -> Receipt {
    try await ask { .datagram(payload, from: source, $0) }
  }

  /// Takes a checkpoint now; returns once it was handed over, which does nothing where the configuration takes none.
  ///
  /// - Throws: ``IngestError/stopped``.
  package func checkpoint() async throws {
    try await ask { .checkpoint(CheckpointMarker(lease: CheckpointLease(), answer: $0)) }
  }

  /// Has loop 0 take a request and waits for its answer.
  private func ask<Answer: Sendable>(
    _ request: @escaping @Sendable (EventLoopPromise<Answer>) -> ServerInputs.Request
  ) async throws -> Answer {
    guard !isStopping.load(ordering: .acquiring) else { throw IngestError.stopped }
    let loop = loops[0]
    do {
      return try await loop.eventLoop.scheduleTask(in: .zero) {
        let answer = loop.eventLoop.makePromise(of: Answer.self)
        loop.value.request(request(answer))
        return answer.futureResult
      }.futureResult.flatMap { $0 }.get()
    } catch is EventLoopError {
      throw IngestError.stopped
    }
  }
}
