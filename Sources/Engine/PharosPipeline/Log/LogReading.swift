package import PharosDocuments
package import PharosModel
import PharosSecurity
package import PharosWire

/// A message as a log has stored it.
package struct LogEntry: Hashable, Sendable {
  /// Its position, which is one more than that of the message before.
  package let position: UInt64
  /// The time at which the log has stored it, by the log's clock.
  package let stored: Timestamp
  /// Its bytes: a batch, or anything else that has found its way there.
  package let bytes: [UInt8]

  /// Makes an entry.
  package init(position: UInt64, stored: Timestamp, bytes: [UInt8]) {
    (self.position, self.stored, self.bytes) = (position, stored, bytes)
  }
}

/// What follows from one entry of a log, with the instants at which it counts.
package struct PlacedBatch: Sendable {
  /// An input with its R.
  package struct Input: Sendable {
    /// The input.
    package let input: LoggedInput
    /// Its R.
    package let instant: Timestamp
  }

  /// The position of the entry.
  package let position: UInt64
  /// The identity of the batch; nil if the entry is no batch.
  package fileprivate(set) var id: BatchID?
  /// The time in which the log had nothing, if that was so long that it counts as a pause.
  package let pause: (through: Timestamp, at: Timestamp)?
  /// The step by which the clock of the log was set back, if it was.
  package let clockStep: (span: TimeSpan, at: Timestamp)?
  /// The inputs, in order; none of a tick, a repeat, or what is no batch.
  package fileprivate(set) var inputs: [Input] = []
  /// The instant behind all of them, and before all that follow; no input has it.
  package fileprivate(set) var through: Timestamp
}

/// Reads a log: gives each input its R, and each batch one place however often it was stored.
///
/// A pure value that depends on the entries alone, so that all who read a log decide alike. Its state belongs to a
/// checkpoint as the engines' does.
///
/// **Time.** R is the time that the log stored with a message, made strictly increasing. Where the log's clock is set back
/// by 50 ms or more (another server leads it), R goes on from where it was, and a step of the clock says by how much
/// published times go back. A silence of the log of a second or more is a pause, which is no evidence of absence: publishers
/// tick more often (``tickInterval``), so that the log was away, or its clock was set ahead.
///
/// **Repeats.** A publisher that was not answered publishes its batch again. A batch counts where it was stored first. As a
/// later one may have been stored before it, numbers are remembered as those of signed datagrams are, `ReplayWindow.width` of
/// them.
package struct LogReading: Sendable {
  /// The interval at which a node ticks while it has nothing to publish.
  package static let tickInterval = TimeSpan.milliseconds(250)
  /// The least step back of the log's clock that counts as one; a smaller one is waited for.
  static let smallestStep = TimeSpan.milliseconds(50)
  /// The time after which a publisher that has stored nothing is forgotten, and its retries with it.
  static let memory = TimeSpan.seconds(7 * 86_400)

  /// A publisher, and its batches that were taken.
  private struct Publisher: Equatable {
    var name = ""
    var window = ReplayWindow(bootID: 0, sequence: 0, uptime: .zero)
    /// The R of its last batch.
    var latest = Timestamp.distantPast
  }

  /// The position of the last entry that was read; 0 before the first one.
  package private(set) var position: UInt64 = 0
  /// The instant through which all entries count.
  package private(set) var through = Timestamp.distantPast
  /// The distance from the log's clock to R.
  private var offset = TimeSpan.zero
  /// The known publishers, by name.
  private var publishers: [Publisher] = []
  /// The number of entries that repeat a batch.
  package private(set) var repeats: UInt64 = 0
  /// The number of entries that are no batch, or a damaged one.
  package private(set) var unreadable: UInt64 = 0

  /// Starts before the first entry.
  package init() {}

  /// Starts behind an entry that is not read.
  package init(behind position: UInt64) { self.position = position }

  /// Has all further entries count behind an instant, as that at which engines resume.
  package mutating func goOn(behind instant: Timestamp) { through = max(through, instant) }

  /// Reads the next entry.
  ///
  /// - Returns: what follows from it; nil if it was read before.
  /// - Throws: that entries are missing, or that this version of the program cannot read it; nothing has changed then.
  package mutating func read(_ entry: LogEntry) throws(LogError) -> PlacedBatch? {
    guard entry.position > position else { return nil }
    guard entry.position == position + 1 else {
      throw .missing(position + 1, found: entry.position)
    }
    var batch: InputBatch?
    do throws(FieldError) {
      batch = try InputBatch(decoding: entry.bytes)
    } catch {
      if case .version = error.problem { throw .unreadable(position: entry.position, error) }
      unreadable += 1
    }
    position = entry.position
    var placed = place(entry)
    if let batch { addInputs(of: batch, to: &placed) }
    through = placed.through
    return placed
  }

  /// Finds the instants of an entry, and what its time says.
  private mutating func place(_ entry: LogEntry) -> PlacedBatch {
    let earliest = through == .distantPast ? .distantPast : through + .oneNanosecond
    var instant = entry.stored + offset
    var step: TimeSpan?
    var pause: (through: Timestamp, at: Timestamp)?
    if instant < earliest {
      let back = earliest - instant
      if back >= LogReading.smallestStep {
        offset = offset + back
        step = .zero - back
      }
      instant = earliest
    } else if earliest != .distantPast, instant - through >= PipelineInput.minimumPause {
      pause = (instant, earliest)
    }
    return PlacedBatch(
      position: entry.position,
      pause: pause,
      clockStep: step.map { ($0, instant) },
      through: instant + .oneNanosecond
    )
  }

  /// Places the inputs of a batch unless it was taken before.
  private mutating func addInputs(of batch: InputBatch, to placed: inout PlacedBatch) {
    placed.id = batch.id
    guard record(batch.id, at: placed.through) else {
      repeats += 1
      return
    }
    for input in batch.inputs {
      placed.inputs.append(PlacedBatch.Input(input: input, instant: placed.through))
      placed.through = placed.through + .oneNanosecond
    }
  }

  /// Notes a batch; false if it was taken before.
  private mutating func record(_ id: BatchID, at instant: Timestamp) -> Bool {
    if let index = publishers.firstIndex(where: { $0.name == id.publisher }) {
      let refusal = publishers[index].window.refusal(bootID: id.start, sequence: id.number, uptime: .zero)
      guard refusal == nil else { return false }
      publishers[index].window.record(bootID: id.start, sequence: id.number, uptime: .zero)
      publishers[index].latest = instant
      return true
    }
    publishers.removeAll { instant - $0.latest >= LogReading.memory }
    let window = ReplayWindow(bootID: id.start, sequence: id.number, uptime: .zero)
    publishers.append(Publisher(name: id.publisher, window: window, latest: instant))
    return true
  }
}

extension LogReading: FieldStruct {
  /// Hands each field to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(version: 1)
    try coder.code(&position)
    try coder.code(&through)
    try coder.code(&offset)
    try coder.code(list: &publishers, ofAtLeast: 156, into: Publisher()) {
      (publisher, coder) throws(Coder.Failure) in
      try coder.code(&publisher.name)
      try coder.code(&publisher.window)
      try coder.code(&publisher.latest)
    }
    try coder.code(counter: &repeats)
    try coder.code(counter: &unreadable)
  }
}

/// The reason why a log cannot be read on; the reader needs a checkpoint, or another version of the program.
package enum LogError: Error, Hashable, Sendable {
  /// The next position is not there: the log was trimmed further than this reader has come.
  case missing(UInt64, found: UInt64)
  /// Another version of the program has written an entry.
  case unreadable(position: UInt64, FieldError)
}

extension LogError: CustomStringConvertible {
  /// A description of what is wrong, where, and what to do.
  package var description: String {
    switch self {
    case .missing(let expected, let found):
      "position \(expected) of the log is missing, the next one is \(found). Start from a checkpoint that is at least as new."
    case .unreadable(let position, let error):
      "position \(position) of the log cannot be read, \(Wording.clause(error)). Run the version that writes it."
    }
  }
}

extension Pipeline {
  /// Takes what follows from an entry of a log, and gives what has become final: everything through it.
  ///
  /// - Parameters:
  ///   - placed: the batch.
  ///   - decoder: decodes its datagrams.
  /// - Returns: the events.
  package mutating func apply(_ placed: PlacedBatch, decodingWith decoder: inout DatagramDecoder) -> [Event] {
    var events: [Event] = []
    if let pause = placed.pause { events += self.pause(through: pause.through, at: pause.at) }
    if let step = placed.clockStep { events += stepClock(by: step.span, at: step.at) }
    var batch = ReportBatch()
    for placed in placed.inputs {
      if case .datagram(let bytes, from: _, to: _, at: _) = placed.input {
        _ = decoder.decode(bytes.span.bytes, received: placed.instant, into: &batch)
        continue
      }
      events += ingest(batch)
      batch.removeAll()
      switch placed.input {
      case .datagram: break
      case .changes(let changes, documents: _, at: _): events += apply(all: changes, at: placed.instant)
      case .announced(let announced, at: _):
        for event in announced { events += announce(event, at: placed.instant) }
      }
    }
    events += ingest(batch)
    return events + advance(to: placed.through)
  }
}
