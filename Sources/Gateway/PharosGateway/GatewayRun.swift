import CPharos
import Glibc
import PharosCaptures
package import PharosFiles
import PharosModel
import PharosSecurity

/// Runs a ``Gateway``: one thread that waits for the input, the socket and the clock, and does what the gateway says.
///
/// One `poll(2)` instead of an event loop: there are two descriptors, and a refusal, which would close a channel, is what
/// a gateway meets whenever its server restarts.
package struct GatewayRun: ~Copyable {
  /// The number of packets that are handled before datagrams are sent again.
  static let packetsAtOnce = 256

  let options: GatewayOptions
  let stop: GatewayStop
  let say: (String) -> Void
  let signer: DatagramSigner?
  var gateway: Gateway
  var input: GatewayInput
  var reader = CaptureReader()
  var hearing = HearingClock()
  var playback: Playback?
  /// A packet that is not due yet.
  var held: (packet: Packet, due: Timestamp)?
  /// Indicates whether all packets were taken out of the bytes that the reader was given.
  var isDrained = true
  /// Indicates whether the input has ended, or was left.
  var isInputOver = false
  /// The time at which a pipe may be read again.
  var readableAt: Timestamp
  var damage: String?
  /// Indicates whether foreign bytes in the input were reported; the final report has their number.
  var hasReportedForeignBytes = false
  var socket: GatewaySocket?
  var addresses: ArraySlice<pharos_address> = []
  let lookup: HostLookup

  /// Opens the input.
  ///
  /// - Parameters:
  ///   - options: the input to read and the destination to send to.
  ///   - stop: requests the end of the run.
  ///   - say: takes lines for the operator.
  /// - Throws: `FileError` if the input cannot be opened.
  package init(
    _ options: GatewayOptions,
    stop: GatewayStop,
    say: @escaping (String) -> Void
  ) throws(FileError) {
    self.options = options
    self.stop = stop
    self.say = say
    signer = options.key.map { DatagramSigner(key: $0) }
    input = try GatewayInput(path: options.input)
    lookup = HostLookup(options.destination, wakes: stop.pipe)
    if case .recorded(let speed) = options.pace { playback = Playback(speed: speed) }
    readableAt = GatewayRun.now
    gateway = Gateway(
      GatewayIdentity(
        observer: options.observer,
        bootID: options.bootID,
        signingKeyID: options.key?.id
      ),
      limits: options.limits,
      at: readableAt
    )
  }

  /// Reads and sends until the input ends or a signal asks to stop, blocking the thread.
  package consuming func run() -> GatewayReport {
    var ended = false
    while !ended {
      if stop.isRequested { endInput() }
      feedPackets()
      ended = act()
      if !ended { wait() }
    }
    return GatewayReport(
      counters: gateway.counters,
      capture: gateway.captureCounters,
      foreign: reader.foreign,
      wasStopped: stop.isRequested,
      damage: damage,
      trouble: gateway.trouble
    )
  }

  /// The clock that a gateway goes by.
  static var now: Timestamp { Timestamp(nanoseconds: pharos_clock_since_boot()) }

  /// Does all that the gateway wants done now; gives true at its end.
  private mutating func act() -> Bool {
    while true {
      let action = gateway.next(at: GatewayRun.now)
      for notice in gateway.drainNotices() { say(notice.text(destination: "\(options.destination)")) }
      switch action {
      case nil: return false
      case .end: return true
      case .open: open()
      case .send(let datagram): send(datagram)
      }
    }
  }

  private mutating func send(_ datagram: [UInt8]) {
    var datagram = datagram
    signer?.sign(&datagram)
    switch socket?.send(datagram) {
    case .sent: gateway.sent(at: GatewayRun.now)
    case .blocked, nil: gateway.blocked()
    case .failed(let trouble): fail(trouble)
    }
  }
}

/// The input's side.
extension GatewayRun {
  /// Indicates whether the input carries what is heard at this moment, so that nothing can be kept waiting.
  var isLive: Bool {
    if playback != nil { return true }
    return !input.isFile && hearing.isLive != false
  }

  /// Indicates whether there is room for more bytes of the input, and use for them.
  var wantsBytes: Bool {
    !isInputOver && isDrained && held == nil && gateway.wantsInput(isLive: isLive)
  }

  /// Hands packets to the gateway as they are due, and reads a file on as there is room.
  mutating func feedPackets() {
    for _ in 0..<GatewayRun.packetsAtOnce {
      guard !isInputOver || !isDrained || held != nil else { return }
      guard gateway.wantsInput(isLive: isLive) else { return }
      if let (packet, due) = held {
        guard due <= GatewayRun.now else { return }
        held = nil
        gateway.receive(packet, heard: due)
        continue
      }
      guard let packet = nextPacket() else {
        guard isDrained, input.isFile, !isInputOver else { return }
        readInput()
        continue
      }
      receive(packet)
    }
  }

  /// Reads what there is.
  mutating func readInput() {
    hearing.look(
      HearingClock.Reading(now: GatewayRun.now, wall: Timestamp(nanoseconds: pharos_clock_wall()))
    )
    do throws(FileError) {
      let bytes = try input.read()
      if let bytes { reader.append(bytes) } else { endInput(isComplete: true) }
      readableAt = GatewayRun.now + GatewayInput.pause
      isDrained = false
    } catch {
      damage = "\(error)"
      endInput()
    }
  }

  /// Leaves the input, or finds it ended.
  mutating func endInput(isComplete: Bool = false) {
    guard !isInputOver else { return }
    isInputOver = true
    if !isComplete {
      isDrained = true
      held = nil
      gateway.end(at: GatewayRun.now)
    }
  }

  private mutating func receive(_ packet: Packet) {
    if playback != nil {
      let due = playback?.due(packet.time, at: GatewayRun.now) ?? GatewayRun.now
      if due > GatewayRun.now {
        held = (packet, due)
      } else {
        gateway.receive(packet, heard: due)
      }
    } else {
      // A file's times are those of its making, however lately that was.
      gateway.receive(packet, heard: input.isFile ? GatewayRun.now : hearing.heard(packet.time))
    }
  }

  private mutating func reportForeignBytes() {
    guard !hasReportedForeignBytes, !reader.foreign.isEmpty else { return }
    hasReportedForeignBytes = true
    say("\(reader.foreign).")
  }

  /// Returns the next packet of the bytes read so far, or nil if there is none.
  ///
  /// Once the input is over and no packet is left, it tells the gateway that nothing more will come.
  private mutating func nextPacket() -> Packet? {
    guard !isDrained else { return nil }
    do throws(CaptureError) {
      if let packet = try reader.nextPacket() {
        reportForeignBytes()
        return packet
      }
      if isInputOver { try reader.finish() }
    } catch {
      damage = "\(error)"
      isInputOver = true
    }
    isDrained = true
    if isInputOver { gateway.end(at: GatewayRun.now) }
    return nil
  }
}

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
  mutating func finishLookup() {
    switch lookup.result() {
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
      finishLookup()
    }
    if polled[1].revents & Int16(POLLOUT) != 0 { gateway.writable() }
    if polled[1].revents & Int16(POLLERR) != 0, let trouble = socket?.pendingError() { fail(trouble) }
    if reads, polled[polled.count - 1].revents != 0 { readInput() }
  }

  /// Polls; a deadline that has passed means a look without waiting.
  private static func poll(_ polled: inout [pollfd], for time: TimeSpan) -> Int32 {
    // Rounded up: to wake a moment too early would mean to poll again. An hour at most, which fits the parameter.
    let milliseconds = (max(0, min(time.nanoseconds, 3_600_000_000_000)) + 999_999) / 1_000_000
    return Glibc.poll(&polled, nfds_t(polled.count), Int32(milliseconds))
  }
}

/// The source of packets: a file, which always has the next bytes, or a pipe, which has some now and then.
struct GatewayInput: ~Copyable {
  /// The number of bytes read from a pipe in one go: the capacity of a pipe in Linux.
  ///
  /// - Units: bytes.
  private static let pipeLength = 65_536
  /// The pause after a read from a pipe before the next one.
  ///
  /// btmon writes twice for each packet. Reading at every write would be 400 times a second at 200 adverts; with the
  /// pause it is 20 times at most, for half of the delay that adverts have anyway, which their ages include. A pipe
  /// holds some seconds.
  static let pause = TimeSpan.milliseconds(50)

  /// The pipe's descriptor, or -1 for a file.
  let descriptor: Int32
  private let pipe: FileDescriptor?
  private var file: FileChunks?
  private var buffer: [UInt8] = []

  /// Opens the input; `-` is standard input.
  ///
  /// - Throws: an error if the input cannot be opened.
  init(path: String) throws(FileError) {
    var status = stat()
    let known = path == "-" ? fstat(STDIN_FILENO, &status) == 0 : stat(path, &status) == 0
    let kind = status.st_mode & S_IFMT
    guard known, kind == S_IFIFO || kind == S_IFSOCK || kind == S_IFCHR else {
      file = try FileChunks(path: path)
      pipe = nil
      descriptor = -1
      return
    }
    let pipe = try FileDescriptor(reading: path)
    descriptor = pipe.number
    self.pipe = consume pipe
    file = nil
    buffer = [UInt8](repeating: 0, count: GatewayInput.pipeLength)
  }

  /// Indicates whether it is a file, which can be read at any time.
  var isFile: Bool { descriptor < 0 }

  /// The next bytes, none if a pipe has none yet; nil at the end.
  mutating func read() throws(FileError) -> ArraySlice<UInt8>? {
    guard !isFile else { return try file?.next()?[...] }
    let outcome = buffer.withUnsafeMutableBytes { pipe?.read(into: $0) } ?? .success(0)
    switch outcome {
    case .success(let count): return count > 0 ? buffer[..<count] : nil
    case .failure(let error):
      guard case .system(_, EAGAIN) = error.problem else { throw error }
      return []
    }
  }
}
