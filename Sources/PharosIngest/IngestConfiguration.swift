public import PharosReports

/// How ingest listens and how it spreads its work.
public struct IngestConfiguration: Sendable {
  /// Where to listen.
  public var listeners: [ListenAddress]
  /// How many loops read and decide, each on a thread of its own: 1 to 16.
  public var loops: Int
  /// The receive buffer that is asked for each socket.
  ///
  /// 4 MiB lost nothing at the rates where Linux's default of 208 KiB lost up to 5 %.
  ///
  /// - Units: bytes.
  public var receiveBuffer: Int
  /// The longest datagram that is taken; a longer one is counted as truncated and refused.
  ///
  /// - Units: bytes, 64 to 65,536.
  public var largestDatagram: Int
  /// How often a loop looks after its sockets while there is much traffic.
  public var busyTick: TimeSpan
  /// How often a loop looks after its deadlines while there is none: what an exit may be late by.
  public var idleTick: TimeSpan
  /// Takes the bytes of a recording of all inputs, in order, on a thread of its own; nil to record nothing.
  ///
  /// If it throws, the recording ends there, which is logged once, and ingest goes on.
  public var record: (@Sendable ([UInt8]) throws -> Void)?
  /// How often a checkpoint is taken; nil for only when somebody asks, and at the end.
  ///
  /// 30 s is what a restart costs at most of what was learned; states are never lost by it, as events tell them.
  package var checkpointInterval: TimeSpan?
  /// The number of events that were published after the checkpoint that a server resumes from: R begins a microsecond
  /// later for each.
  ///
  /// If the wall clock was set back, two starts from one checkpoint would otherwise begin at the same R. Event ids
  /// count from there, so the second start would assign the ids of the first one again.
  package var toldSinceCheckpoint: Int64 = 0
  /// Takes checkpoints, on the thread that delivers events and in one order with them; nil to take none.
  ///
  /// It should release each checkpoint soon, as the loops copy what they change while it is held. The last checkpoint
  /// comes after the last event of an orderly shutdown.
  package var checkpoint: (@Sendable (PendingCheckpoint) -> Void)?
  /// Indicates whether the tables of heard devices show the addresses and names of unregistered devices.
  ///
  /// This is for an installer at a screen, in a process that stores nothing. A long-running server hides them.
  package var showsStrangers: Bool
  /// The keys that datagrams are signed with, and where replay windows are kept; without any, listeners that ask for signatures
  /// take nothing.
  package var signing: SignedIngest
  /// The clocks.
  package var clock: IngestClock

  /// The settings' ranges.
  enum Limits {
    static let loops = 1...16
    static let largestDatagram = 64...65_536
    static let receiveBuffer = 4_096...1 << 30
  }

  /// The number of loops unless somebody says otherwise: one for each core, up to four.
  ///
  /// A core takes some four million adverts a second at 16 a datagram; more than four loops are for who has measured that
  /// they help.
  package static func defaultLoops(cores: Int) -> Int { min(max(cores, 1), 4) }

  /// Creates a configuration; everything else has a default and can be set afterwards.
  ///
  /// - Parameters:
  ///   - listeners: the addresses to listen on.
  ///   - loops: the number of loops that read and decide.
  public init(listeners: [ListenAddress], loops: Int = 1) {
    self.init(listeners: listeners, loops: loops, receiveBuffer: 4 << 20)
  }

  /// Makes a configuration.
  ///
  /// - Parameters:
  ///   - listeners: where to listen.
  ///   - loops: how many loops read and decide.
  ///   - receiveBuffer: the receive buffer to ask for, in bytes.
  ///   - largestDatagram: the longest datagram that is taken, in bytes.
  ///   - busyTick: how often a loop checks its sockets while there is much traffic. 250 µs keeps a decision's delay
  ///     well below a millisecond; a tick takes some 3 µs, and waiting for each of 50 thousand datagrams a second would
  ///     cost several times as much as the ticks.
  ///   - idleTick: how often a loop checks its deadlines while there is none. 5 ms is a tenth of an event's permitted
  ///     delay.
  ///   - record: takes the bytes of a recording.
  ///   - checkpointInterval: how often a checkpoint is taken.
  ///   - checkpoint: takes checkpoints.
  ///   - showsStrangers: whether the tables of heard devices show the addresses and names of unregistered devices.
  ///   - signing: the keys that datagrams are signed with, and where replay windows are kept.
  ///   - clock: the clocks.
  package init(
    listeners: [ListenAddress],
    loops: Int = 1,
    receiveBuffer: Int = 4 << 20,
    largestDatagram: Int = 65_536,
    busyTick: TimeSpan = .microseconds(250),
    idleTick: TimeSpan = .milliseconds(5),
    record: (@Sendable ([UInt8]) throws -> Void)? = nil,
    checkpointInterval: TimeSpan? = nil,
    checkpoint: (@Sendable (PendingCheckpoint) -> Void)? = nil,
    showsStrangers: Bool = false,
    signing: SignedIngest = SignedIngest(),
    clock: IngestClock = .system
  ) {
    self.listeners = listeners
    self.loops = loops
    self.receiveBuffer = receiveBuffer
    self.largestDatagram = largestDatagram
    self.busyTick = busyTick
    self.idleTick = idleTick
    self.record = record
    self.checkpointInterval = checkpointInterval
    self.checkpoint = checkpoint
    self.showsStrangers = showsStrangers
    self.signing = signing
    self.clock = clock
  }

  /// Throws what is wrong with the settings, if anything is.
  func check() throws(IngestError) {
    guard !listeners.isEmpty else { throw .nothingToListenAt }
    try IngestConfiguration.check("loops", loops, Limits.loops)
    try IngestConfiguration.check("largestDatagram", largestDatagram, Limits.largestDatagram)
    try IngestConfiguration.check("receiveBuffer", receiveBuffer, Limits.receiveBuffer)
    for listener in listeners {
      guard case .bind(_, let port) = listener.socket else { continue }
      try IngestConfiguration.check("the port of \(listener)", port, 0...65_535)
    }
  }

  private static func check(
    _ setting: String,
    _ value: Int,
    _ range: ClosedRange<Int>
  ) throws(IngestError) {
    guard range.contains(value) else { throw .outOfRange(setting: setting, value: value, range: range) }
  }
}
