import CPharos
import PharosReports

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The socket's side.
extension GatewayRun {
  /// Opens a socket to the next address of the server; looks its name up again once all addresses were tried.
  mutating func open() {
    guard let address = addresses.popFirst() else { return lookup.begin() }
    do throws(LinkTrouble) {
      socket = try GatewaySocket(to: address)
      gateway.opened(at: GatewayRun.now)
    } catch {
      fail(error)
    }
  }

  /// Takes the answer of a lookup, if there is one.
  mutating func takeLookup() {
    switch lookup.take() {
    case nil: break
    case .success(let found):
      addresses = found[...]
      open()
    case .failure(let trouble): fail(trouble)
    }
  }

  /// Closes the socket and tells the gateway.
  mutating func fail(_ trouble: LinkTrouble) {
    socket = nil
    gateway.failed(trouble, at: GatewayRun.now, hasAlternative: !addresses.isEmpty)
  }

  /// Waits until something is there to be done.
  mutating func wait() {
    let now = GatewayRun.now
    var polled = [pollfd(fd: stop.pipe.reading, events: Int16(POLLIN), revents: 0)]
    // `poll` reports errors whether they are requested or not.
    let events = gateway.isBlocked ? Int16(POLLOUT) : 0
    polled.append(pollfd(fd: socket?.descriptor ?? -1, events: events, revents: 0))
    let reads = wantsBytes && !input.isFile && now >= readableAt
    if reads { polled.append(pollfd(fd: input.descriptor, events: Int16(POLLIN), revents: 0)) }
    var deadline = gateway.deadline(after: now)
    if let held { deadline = min(deadline, held.due) }
    if wantsBytes, !reads { deadline = min(deadline, input.isFile ? now : readableAt) }
    if held == nil, !isDrained, gateway.wantsInput(isLive: isLive) { deadline = now }
    guard GatewayRun.poll(&polled, for: deadline - now) > 0 else { return }
    if polled[0].revents != 0 {
      stop.pipe.drain()
      takeLookup()
    }
    if polled[1].revents & Int16(POLLOUT) != 0 { gateway.writable() }
    if polled[1].revents & Int16(POLLERR) != 0, let trouble = socket?.takeError() { fail(trouble) }
    if reads, polled[polled.count - 1].revents != 0 { readInput() }
  }

  /// Polls; a deadline that has passed means a look without waiting.
  private static func poll(_ polled: inout [pollfd], for time: TimeSpan) -> Int32 {
    // Rounded up: to wake a moment too early would mean to poll again. An hour at most, which fits the parameter.
    let milliseconds = (max(0, min(time.nanoseconds, 3_600_000_000_000)) + 999_999) / 1_000_000
    let count = nfds_t(polled.count)
    #if canImport(Darwin)
    return Darwin.poll(&polled, count, Int32(milliseconds))
    #elseif canImport(Musl)
    return Musl.poll(&polled, count, Int32(milliseconds))
    #else
    return Glibc.poll(&polled, count, Int32(milliseconds))
    #endif
  }
}
