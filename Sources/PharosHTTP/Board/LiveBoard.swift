package import PharosAccess
package import PharosEvents
package import PharosJournal
package import PharosPublishing
import PharosReports
import Synchronization

/// The board that the interface reads: filled from the journal's rows, then updated with published events.
///
/// Withheld events are not published, so the board learns nothing about a subject while its authorisation is withdrawn.
/// After a change of authorisations the board is therefore filled from the rows again before the next read.
package final class LiveBoard: Sendable {
  private struct State {
    var board = Board()
    /// Whether the rows have to be read before the board is.
    var isStale = true
    /// The events that were published while the rows are being read; nil while no read is under way.
    var pending: [Event]?
  }

  private let rows: @Sendable () throws(JournalError) -> LastTold
  private let authorisations: @Sendable () -> AuthorisationView
  private let inUse: @Sendable () -> Set<String>
  private let state = Mutex(State())
  private let turns = Turns()

  /// Makes a board that is filled when it is first read.
  ///
  /// - Parameters:
  ///   - told: where told events come out.
  ///   - rows: reads the journal's rows.
  ///   - authorisations: says who may be seen.
  ///   - inUse: says which applications have a live stream open.
  package init(
    told: ToldHub,
    rows: @escaping @Sendable () throws(JournalError) -> LastTold,
    authorisations: @escaping @Sendable () -> AuthorisationView,
    inUse: @escaping @Sendable () -> Set<String>
  ) {
    self.rows = rows
    self.authorisations = authorisations
    self.inUse = inUse
    told.tap { [weak self] batch in self?.take(batch) }
  }

  /// Looks at the board as it stands, after all that has been told.
  ///
  /// - Parameter look: takes what it needs; it holds up who tells, so it must be quick.
  /// - Returns: what it took.
  /// - Throws: why the journal's rows cannot be read.
  package func read<Value: Sendable>(_ look: (borrowing Board) -> Value) async throws(JournalError) -> Value {
    if state.withLock({ $0.isStale }) { try await refill() }
    return state.withLock { look($0.board) }
  }

  /// Forgets a subject, once it is gone from the journal.
  func forget(_ traces: SubjectTraces) {
    state.withLock { state in
      state.board.forget(traces)
      state.isStale = true
    }
  }

  /// How many subjects stand where, by region of an application.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - principal: who asks.
  /// - Returns: the counts of those regions that have any.
  /// - Throws: why the journal's rows cannot be read.
  func counts(
    of application: String,
    for principal: Principal
  ) async throws(JournalError) -> [String: StateCounts] {
    let isShown = visibility(of: application, to: principal)
    return try await read { $0.counts(of: application, isShown: isShown) }
  }

  /// Whether a subject's whereabouts in an application's regions may be shown to somebody.
  ///
  /// A subject that may be told of while the application is in use is shown to that application, as long as it has a
  /// live stream open.
  func visibility(of application: String, to principal: Principal) -> (SubjectID) -> Bool {
    let view = authorisations()
    guard !view.isOpen else { return { _ in true } }
    let isInUse = principal.application == application && inUse().contains(application)
    return { subject in
      switch view.state(application: application, subject: subject) {
      case .always: true
      case .whenInUse: isInUse
      case .notDetermined, .restricted, .denied: false
      }
    }
  }

  /// Whether a fix may be shown to somebody.
  ///
  /// Fixes are for all applications, each as far as it may learn of the subject: about a person only one that is granted it
  /// by name, while in use as long as it has a live stream open. The operator sees what any application may always learn.
  func visibility(ofFixesTo principal: Principal) -> (Event) -> Bool {
    let view = authorisations()
    guard !view.isOpen else { return { _ in true } }
    let isLive = principal.application.map(inUse().contains) ?? false
    return { view.allows($0, to: principal.application, isLive: isLive) }
  }

  private func take(_ batch: [ToldEvent]) {
    state.withLock { state in
      for told in batch {
        if told.event.kind == .authorisationChanged { state.isStale = true }
        state.board.note(told.event)
        state.pending?.append(told.event)
      }
    }
  }

  private func refill() async throws(JournalError) {
    try await turns.take { () async throws(JournalError) in
      guard state.withLock({ $0.isStale }) else { return }
      state.withLock { state in
        state.isStale = false
        state.pending = []
      }
      do throws(JournalError) {
        let told = try rows()
        state.withLock { state in
          state.board.reset(to: told)
          // The rows may already hold events that were published meanwhile; applying them again is harmless.
          for event in state.pending ?? [] { state.board.note(event) }
          state.pending = nil
        }
      } catch {
        state.withLock { state in
          state.isStale = true
          state.pending = nil
        }
        throw error
      }
    }
  }
}
