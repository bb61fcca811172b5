import PharosReports
import PharosWire

/// The datagrams of many traces in the order of their R, with no more files open than walks overlap.
struct TraceMerge {
  /// One datagram.
  struct Datagram {
    /// R.
    var time: Timestamp
    /// Which trace, counted in the order of adding.
    var sender: Int
    /// The bytes.
    var bytes: [UInt8]
    /// How many reports it holds.
    var reports: Int
  }

  private struct Sender {
    let file: TraceFile
    let number: Int
    let start: Timestamp
  }

  /// What was wrong with traces that have ended.
  private(set) var complaints: [String] = []
  /// Whether a file was damaged.
  private(set) var hasDamage = false
  /// How many traces have ended.
  private(set) var finished = 0

  private var waiting: [Sender] = []
  private var open: [TraceSender] = []
  private var count = 0
  private var isSorted = true

  /// Adds a trace.
  ///
  /// - Throws: that it cannot be opened.
  mutating func add(_ file: TraceFile) throws(CommandFailure) {
    let stream = try TraceStream(file)
    defer { count += 1 }
    guard let first = stream.next()?.reports.first?.received else {
      finished += 1
      note(stream)
      return
    }
    waiting.append(Sender(file: file, number: count, start: first))
    isSorted = false
  }

  /// The next datagram of all; nil at the end.
  mutating func next() throws(CommandFailure) -> Datagram? {
    if !isSorted {
      // The last is the first to start.
      waiting.sort { ($0.start, $0.number) > ($1.start, $1.number) }
      isSorted = true
    }
    while let sender = waiting.last, open.allSatisfy({ sender.start <= $0.time }) {
      waiting.removeLast()
      open.append(TraceSender(try TraceStream(sender.file), number: sender.number))
    }
    let indices = open.indices
    guard
      let first = indices.min(by: {
        (open[$0].time, open[$0].number) < (open[$1].time, open[$1].number)
      })
    else { return nil }
    let datagram = open[first].take()
    if open[first].isAtEnd {
      note(open.remove(at: first).stream)
      finished += 1
    }
    return datagram
  }

  private mutating func note(_ stream: TraceStream) {
    if stream.damage != nil { hasDamage = true }
    if let complaint = stream.complaint { complaints.append(complaint) }
  }
}

/// A phone that sends its trace.
struct TraceSender {
  let stream: TraceStream
  let number: Int
  /// R of the datagram that is next.
  private(set) var time: Timestamp
  private var batch: ReportBatch?
  private var encoder: PharosDatagramEncoder
  private let start: Timestamp

  init(_ stream: TraceStream, number: Int) {
    self.stream = stream
    self.number = number
    batch = stream.next()
    let start = batch?.reports.first?.received ?? .distantFuture
    self.start = start
    time = start
    let observer = batch?.observers.first ?? .name(stream.file.identifier)
    // Seconds since the epoch: a later walk of the same name is a later start of the same phone.
    let boot = UInt32(truncatingIfNeeded: start.nanoseconds / 1_000_000_000)
    encoder = PharosDatagramEncoder(observer: observer, bootID: boot)
  }

  /// Whether nothing is left to send.
  var isAtEnd: Bool { batch == nil }

  /// The datagram that is due; the next one is made ready.
  mutating func take() -> TraceMerge.Datagram? {
    guard let batch else { return nil }
    for report in batch.reports {
      let fits = encoder.append(report, from: batch)
      precondition(fits, "a trace's feed gives no more than a datagram holds")
    }
    let bytes = encoder.finish(uptime: time - start)
    let datagram = TraceMerge.Datagram(
      time: time,
      sender: number,
      bytes: bytes,
      reports: batch.reports.count
    )
    self.batch = stream.next()
    if let next = self.batch?.reports.first { time = next.received }
    return datagram
  }
}
