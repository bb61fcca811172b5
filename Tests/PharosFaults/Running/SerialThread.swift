/// A thread of the server on virtual time: one piece of work after the other, however long each takes.
///
/// It belongs to one world and is touched by that world's one thread only, hence `@unchecked Sendable`.
package final class SerialThread: @unchecked Sendable {
  private let clockwork: Clockwork
  private let owner: Int
  private var waiting: [() -> Void] = []
  private var isBusy = false

  /// How long it takes until a thread does what it was asked for: a wake-up of a loaded machine.
  private static let latency: TrueTime = 50_000

  package init(_ clockwork: Clockwork, owner: Int) {
    self.clockwork = clockwork
    self.owner = owner
  }

  /// Does a piece of work soon.
  package func submit(_ work: @escaping () -> Void) { submit(after: SerialThread.latency, work) }

  /// Does a piece of work after a time, or when what is under way then is done.
  func submit(after delay: TrueTime, _ work: @escaping () -> Void) {
    clockwork.after(delay, owner: owner) { [self] in
      waiting.append(work)
      runWaiting()
    }
  }

  private func runWaiting() {
    guard !isBusy else { return }
    isBusy = true
    while !waiting.isEmpty { waiting.removeFirst()() }
    isBusy = false
  }
}
