import CPharos
import PharosModel
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Looks a host name up on a thread of its own, since that may take as long as a DNS server likes.
final class HostLookup: Sendable {
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
    guard !startThread() else { return }
    finish(Result { () throws(LinkTrouble) in try HostLookup.find(destination, flags: 0) })
  }

  /// The answer, once.
  func take() -> Result<[pharos_address], LinkTrouble>? {
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
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    guard pthread_create(&thread, nil, HostLookup.run, context.toOpaque()) == 0 else {
      context.release()
      return false
    }
    #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
    return true
  }

  #if canImport(Darwin)
  private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { context in
    lookUp(context)
  }
  #else
  private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    context.flatMap { lookUp($0) }
  }
  #endif

  private static func lookUp(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let lookup = Unmanaged<HostLookup>.fromOpaque(context).takeRetainedValue()
    lookup.finish(Result { () throws(LinkTrouble) in try find(lookup.destination, flags: 0) })
    return nil
  }

  /// All addresses of a host, in the order of the system's preference.
  private static func find(
    _ destination: HostPort,
    flags: Int32
  ) throws(LinkTrouble) -> [pharos_address] {
    var hints = addrinfo()
    hints.ai_flags = flags
    #if canImport(Glibc)
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    #else
    hints.ai_socktype = SOCK_DGRAM
    #endif
    var found: UnsafeMutablePointer<addrinfo>?
    let outcome = getaddrinfo(destination.host, "\(destination.port)", &hints, &found)
    defer { if let found { freeaddrinfo(found) } }
    guard outcome == 0 else {
      throw .unknownHost(reason: gai_strerror(outcome).map { String(cString: $0) } ?? "error \(outcome)")
    }
    var addresses: [pharos_address] = []
    var next = found
    while let entry = next?.pointee {
      let address = pharos_address_of(entry.ai_addr, Int(entry.ai_addrlen))
      if address.version != 0 { addresses.append(address) }
      next = entry.ai_next
    }
    guard !addresses.isEmpty else { throw .unknownHost(reason: "it has no IPv4 or IPv6 address") }
    return addresses
  }
}
