import CPharos
import Glibc
import PharosModel
import Synchronization

/// Looks a host name up on a thread of its own, since that may take as long as a DNS server likes.
final class HostLookup: Sendable {
  /// The number of addresses of a host that are tried.
  private static let maximumAddresses = 64

  private let destination: HostPort
  private let pipe: WakePipe
  private let state = Mutex<State>(.idle)

  private enum State {
    case idle
    case running
    case done(Result<[pharos_address], LinkTrouble>)
  }

  /// Prepares; the pipe is woken when a lookup is done.
  init(_ destination: HostPort, wakes pipe: WakePipe) {
    self.destination = destination
    self.pipe = pipe
  }

  /// Begins a lookup; the answer of one that still runs will do.
  func begin() {
    let isIdle = state.withLock { state in
      if case .running = state { return false }
      state = .running
      return true
    }
    guard isIdle else { return }
    // A written address needs no thread and no waiting.
    if let answer = try? HostLookup.find(destination, flags: AI_NUMERICHOST) {
      return finish(.success(answer))
    }
    if !startThread() { answer() }
  }

  /// The answer, once.
  func result() -> Result<[pharos_address], LinkTrouble>? {
    state.withLock { state in
      guard case .done(let answer) = state else { return nil }
      state = .idle
      return answer
    }
  }

  private func finish(_ answer: Result<[pharos_address], LinkTrouble>) {
    state.withLock { $0 = .done(answer) }
    pipe.wake()
  }

  /// Starts the thread, which keeps the lookup alive until it is done.
  private func startThread() -> Bool {
    let context = Unmanaged.passRetained(self)
    var thread = pthread_t()
    let outcome = pthread_create(
      &thread,
      nil,
      { context in
        guard let context else { return nil }
        let lookup = Unmanaged<HostLookup>.fromOpaque(context).takeRetainedValue()
        lookup.answer()
        return nil
      },
      context.toOpaque()
    )
    guard outcome == 0 else {
      context.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  /// Asks the resolver, which may take its time.
  private func answer() {
    finish(Result { () throws(LinkTrouble) in try HostLookup.find(destination, flags: 0) })
  }

  /// All addresses of a host, in the order of the system's preference.
  private static func find(
    _ destination: HostPort,
    flags: Int32
  ) throws(LinkTrouble) -> [pharos_address] {
    var addresses = [pharos_address](repeating: pharos_address(), count: HostLookup.maximumAddresses)
    let count = pharos_look_up(
      destination.host,
      destination.port,
      flags,
      &addresses,
      Int32(addresses.count)
    )
    guard count >= 0 else {
      throw .unknownHost(reason: gai_strerror(count).map { String(cString: $0) } ?? "error \(count)")
    }
    guard count > 0 else { throw .unknownHost(reason: "it has no IPv4 or IPv6 address") }
    return Array(addresses.prefix(Int(count)))
  }
}
