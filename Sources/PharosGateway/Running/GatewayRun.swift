import CPharos
import PharosCaptures
package import PharosFiles
import PharosReports
import PharosSigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs a ``Gateway``: one thread that waits for the input, the socket and the clock, and does what the gateway says.
///
/// One `poll(2)` instead of an event loop: there are two descriptors, and a refusal, which would close a channel, is what
/// a gateway meets whenever its server restarts.
package struct GatewayRun: ~Copyable {
  /// How many packets are taken from what was read before datagrams are sent again.
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
  /// Whether all packets were taken out of what the reader was given.
  var isDrained = true
  /// Whether the input has ended, or was left.
  var isInputOver = false
  /// When a pipe may be read again.
  var readableAt: Timestamp
  var damage: String?
  var socket: GatewaySocket?
  var addresses: ArraySlice<pharos_address> = []
  let lookup: HostLookup

  /// Opens the input.
  ///
  /// - Parameters:
  ///   - options: what to read and where to send.
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

  /// Reads and sends until the input ends or somebody asks to stop, blocking the thread.
  package consuming func run() -> GatewayReport {
    var ended = false
    while !ended {
      if stop.isRequested { endInput() }
      takePackets()
      ended = act()
      if !ended { wait() }
    }
    return GatewayReport(
      counters: gateway.counters,
      capture: gateway.captureCounters,
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
      for notice in gateway.takeNotices() { say(notice.text(destination: "\(options.destination)")) }
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
    case .taken: gateway.taken(at: GatewayRun.now)
    case .blocked, nil: gateway.blocked()
    case .failed(let trouble): fail(trouble)
    }
  }
}
