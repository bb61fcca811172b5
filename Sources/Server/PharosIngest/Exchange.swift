import Atomics
import PharosCaptures
package import PharosModel
import PharosPresence

/// The data shared between threads: the rings, and the watermark up to which each thread has done its work.
///
/// Inputs have a total order (R, loop, sequence). Loop i publishes its input watermark: all its inputs with R up to
/// it are in the rings. The shards and the recorder take inputs, merged by R and loop, only up to the smallest
/// input watermark; so neither the loops' speed nor the kernel's choice of socket affects their results.
package final class Exchange: Sendable {
  /// The number of loops, which equals the number of shards.
  let loops: Int
  /// From each loop (first index) to each shard (second index).
  package let toShards: [[RecyclingQueue<ShardParcel, ReportBatch>]]
  /// From each shard to the merger.
  package let toMerger: [RecyclingQueue<ShardResult, StageOutput>]
  /// The modes of tags that a shard (first index) has found, to each other shard (second index).
  let modes: [[SingleProducerRing<[FoundModes]>]]
  /// Inputs other than reports, from loop 0 to the merger.
  package let serverInputs: SingleProducerRing<ServerInput>
  /// From each loop to the recorder.
  let toRecorder: [RecyclingQueue<RecorderParcel, DatagramLog>]

  /// Released by its loop behind the pushes of the inputs that it covers, acquired by the consumers: a thread that sees
  /// the watermark also sees the inputs.
  private let inputWatermarks: [ManagedAtomic<Int64>]
  /// Released by its shard behind the push of the decisions that it covers, acquired by the merger.
  private let shardWatermarks: [ManagedAtomic<Int64>]
  /// The R of the last input that any loop took.
  ///
  /// Relaxed: it only determines how often loops check their sockets, never what they decide.
  private let lastTraffic = ManagedAtomic<Int64>(.min)
  /// Wakes each loop.
  let readers: [Wake]
  /// Indicates whether the recorder takes parcels.
  ///
  /// Relaxed: a loop that sees the end late pushes a few parcels more, which the recorder discards; that each loop has
  /// seen the beginning is waited for.
  private let isRecording: ManagedAtomic<Bool>
  /// Wakes the merger's loop.
  let merger: Wake

  /// The rings' sizes in containers.
  ///
  /// A loop makes at most one container for each shard and receive call of 64 datagrams: 256 of them are 16
  /// thousand datagrams, some 15 ms of a saturated loop. The recorder's are for 1,024, as discs pause longer.
  package enum Capacity {
    package static let shards = 256
    /// The number of containers that a loop fills in one turn of `ReadingLoop.fairShare` datagrams.
    package static let turn = 16
    package static let merger = 256
    static let serverInputs = 256
    static let recorder = 1_024
    static let modes = 64
  }

  /// Makes the rings.
  ///
  /// - Parameters:
  ///   - loops: the number of loops.
  ///   - isRecording: indicates whether inputs are recorded.
  ///   - merger: wakes the merger's loop.
  ///   - readers: wakes each loop; empty where nothing waits for one.
  package init(loops: Int, isRecording: Bool, merger: Wake, readers: [Wake] = []) {
    self.loops = loops
    self.merger = merger
    self.readers = readers
    toShards = (0..<loops).map { _ in (0..<loops).map { _ in RecyclingQueue(capacity: Capacity.shards) } }
    toMerger = (0..<loops).map { _ in RecyclingQueue(capacity: Capacity.merger) }
    modes = (0..<loops).map { _ in (0..<loops).map { _ in SingleProducerRing(capacity: Capacity.modes) } }
    serverInputs = SingleProducerRing(capacity: Capacity.serverInputs)
    toRecorder = (0..<loops).map { _ in RecyclingQueue(capacity: Capacity.recorder) }
    inputWatermarks = (0..<loops).map { _ in ManagedAtomic(.min) }
    shardWatermarks = (0..<loops).map { _ in ManagedAtomic(.min) }
    self.isRecording = ManagedAtomic(isRecording)
  }

  /// Returns whether a loop may take a further container of inputs: each ring that it may have to push to has room.
  ///
  /// A loop checks this before it drains a socket, so that there is always room for the datagrams that it takes.
  package func hasRoom(from loop: Int) -> Bool {
    guard toShards[loop].allSatisfy({ $0.full.hasRoom }) else { return false }
    return !records || toRecorder[loop].full.hasRoom
  }

  /// The maximum lag of a shard that still gets more inputs while more than one turn's containers wait for it.
  ///
  /// 50 ms: the permitted delay of an event. If adverts are expensive, as those of new beacons are when the table is
  /// full, full rings hold seconds of work, and everything behind it would wait.
  package static let maximumBehind = TimeSpan.milliseconds(50)

  /// Returns whether a shard has so much work pending that further inputs from a loop would only wait.
  ///
  /// They should wait in their socket instead: there, a flood fills only the buffer of its own socket.
  package func isCongested(from loop: Int, at now: Timestamp) -> Bool {
    toShards[loop].indices.contains { shard in
      toShards[loop][shard].full.holds(moreThan: Capacity.turn)
        && now - decisionsThrough(shard) > Exchange.maximumBehind
    }
  }

  /// Returns whether the recorder's ring has no room.
  package func waitsForRecorder(_ loop: Int) -> Bool { records && !toRecorder[loop].full.hasRoom }

  /// Indicates whether inputs are recorded.
  var records: Bool { isRecording.load(ordering: .relaxed) }

  /// Has the loops push their inputs to the recorder; false if they do already.
  func startRecording() -> Bool { !isRecording.exchange(true, ordering: .relaxed) }

  /// Ends the recording; ingest goes on.
  func stopRecording() { isRecording.store(false, ordering: .relaxed) }

  /// Publishes that all inputs of a loop with R up to a time are in the rings.
  package func publishInputs(of loop: Int, through time: Timestamp) {
    inputWatermarks[loop].store(time.nanoseconds, ordering: .releasing)
  }

  /// The time through which the inputs of all loops are in the rings.
  package var inputsThrough: Timestamp {
    Timestamp(nanoseconds: inputWatermarks.reduce(Int64.max) { min($0, $1.load(ordering: .acquiring)) })
  }

  /// Returns the loop whose next parcel comes first by R and loop, if the watermarks cover it.
  ///
  /// - Parameters:
  ///   - limit: the time through which the inputs of all loops are in the rings.
  ///   - received: returns the R of the next parcel of a loop.
  /// - Returns: the R and the loop.
  @inline(__always)
  func firstParcel(
    upTo limit: Timestamp,
    _ received: (_ loop: Int) -> Timestamp?
  ) -> (received: Timestamp, loop: Int)? {
    var first: (received: Timestamp, loop: Int)?
    for loop in 0..<loops {
      guard let received = received(loop), received <= limit else { continue }
      if let first, first.received <= received { continue }
      first = (received, loop)
    }
    return first
  }

  /// Publishes that all decisions of a shard up to a time are in its ring.
  package func publishDecisions(of shard: Int, through time: Timestamp) {
    // Sequentially consistent together with the merger's flag: either the shard sees that the merger waits, or the
    // merger sees this watermark.
    shardWatermarks[shard].store(time.nanoseconds, ordering: .sequentiallyConsistent)
    if merger.isWaiting.load(ordering: .sequentiallyConsistent) { merger.signal() }
  }

  /// Returns the time through which the decisions of a shard are in its ring.
  package func decisionsThrough(_ shard: Int) -> Timestamp {
    Timestamp(nanoseconds: shardWatermarks[shard].load(ordering: .sequentiallyConsistent))
  }

  /// The maximum age of some loop's last traffic for all loops to tick.
  ///
  /// The watermark of each loop holds back the others' decisions. Four ticks: less would flicker between two trains of
  /// datagrams.
  static let recently = TimeSpan.milliseconds(1)
  /// The time without inputs after which loops check their deadlines at long intervals only.
  package static let quiet = TimeSpan.seconds(1)

  /// Notes that a loop took an input; after a silence it wakes the others, whose watermarks hold back all decisions.
  package func recordTraffic(at time: Timestamp, on loop: Int) {
    let wasQuiet = time - latestTraffic >= Exchange.quiet
    lastTraffic.store(time.nanoseconds, ordering: .relaxed)
    guard wasQuiet else { return }
    for index in readers.indices where index != loop { readers[index].signal() }
  }

  /// The R of the last input that any loop took, or the distant past.
  package var latestTraffic: Timestamp { Timestamp(nanoseconds: lastTraffic.load(ordering: .relaxed)) }
}

/// Inputs of one loop on their way to one shard, all of one reading of its clock.
package struct ShardParcel: Sendable {
  /// The input.
  package enum Content: Sendable {
    /// Reports of observers that belong to the shard.
    case reports(ReportBatch)
    /// Changes of the site, accepted already; every shard gets them.
    case changes([RegionChange])
    /// The process stood still up to this time and received nothing; every shard gets it.
    case pause(through: Timestamp)
    /// The position of a checkpoint: behind everything up to the parcel's R; every shard gets it.
    case marker
  }

  /// The R from which the R of each of its inputs counts.
  var received: Timestamp
  /// The input.
  var content: Content

  package init(received: Timestamp, content: Content) {
    self.received = received
    self.content = content
  }
}

/// Decisions of one shard on their way to the merger.
package struct ShardResult: Sendable {
  /// The decisions.
  package var output: StageOutput
  /// All that the shard decided up to this time has been sent with it.
  var through: Timestamp
  /// The engine as it is at that time, if a checkpoint is taken there.
  var copy: EngineCopy?
}

/// An input that no observer sent.
package struct ServerInput: Sendable {
  /// The input.
  package enum Content: Sendable {
    /// Changes of the site, which were accepted unless there is a refusal.
    case changes([RegionChange], refusal: RegionRefusal?)
    /// The wall clock was set by so much.
    case clockStep(TimeSpan)
    /// The process stood still up to this time and received nothing.
    case pause(through: Timestamp)
    /// Events that the engines did not decide.
    case announcement([Event])
    /// A checkpoint is to be taken here.
    case marker(CheckpointMarker)
  }

  /// Its R, given out by loop 0.
  var received: Timestamp
  /// The input.
  var content: Content

  package init(received: Timestamp, content: Content) {
    self.received = received
    self.content = content
  }
}

/// Inputs of one loop on their way to the recorder, all of one reading of its clock.
struct RecorderParcel: Sendable {
  /// The inputs.
  enum Content: Sendable {
    /// The position at which a recording begins: behind everything up to the parcel's R.
    case begin(RecordingStart)
    /// Datagrams as they were received.
    case datagrams(DatagramLog)
    /// Something else.
    case server(ServerInput.Content)
  }

  /// The R from which the R of each of its inputs counts.
  var received: Timestamp
  /// The inputs.
  var content: Content
}

/// Datagrams as they were received: their bytes one behind the other.
package struct DatagramLog: Sendable {
  /// One datagram.
  package struct Entry: Sendable {
    /// Its R.
    var received: Timestamp
    /// The sender.
    var source: Endpoint
    /// The socket that received it.
    var destination: Endpoint
    /// The end of its bytes; they begin where those of the previous datagram end.
    package var end: Int
  }

  /// The datagrams in order.
  package private(set) var entries: [Entry] = []
  /// Their bytes.
  package private(set) var bytes: [UInt8] = []

  /// Indicates whether the log has no datagrams.
  var isEmpty: Bool { entries.isEmpty }

  /// Appends a datagram.
  mutating func append(
    _ datagram: UnsafeRawBufferPointer,
    received: Timestamp,
    from source: Endpoint,
    to destination: Endpoint
  ) {
    bytes.append(contentsOf: datagram)
    entries.append(
      Entry(received: received, source: source, destination: destination, end: bytes.count)
    )
  }

  /// Empties it and keeps its storage.
  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
  }
}
