import PharosCaptures
import PharosDocuments
import PharosModel
package import PharosTerminal
import PharosWire

/// `pharos survey import`: turns traces into a capture of the datagrams that their phones would have sent.
package struct SurveyImportRunner: Sendable {
  private let traces: [String]

  /// The destination of the captured datagrams: the port of this machine at which `serve` listens by default.
  private static let destination = Endpoint(IPAddress(v4: 0x7F00_0001), port: 50_001)
  /// The port of the first phone; each has its own.
  private static let firstPort: UInt16 = 40_000
  /// The number of ports; when all are in use, further phones share them, starting with the first.
  private static let ports = 10_000
  /// The amount of data that is gathered before it is written to the file.
  ///
  /// - Units: bytes.
  private static let chunk = 65_536

  /// Makes a runner for files and folders of traces.
  package init(traces: [String]) { self.traces = traces }

  /// Writes the capture: each trace an observer, all in the order of R.
  ///
  /// - Returns: 0; 1 if a trace was damaged, everything before the damage having been written.
  package func run(capture: any OutputSink, console: Console) -> CommandStatus {
    console.run {
      let files = try TraceFile.find(traces)
      var merged = TraceMerge()
      for file in files { try merged.add(file) }
      var writer = CaptureWriter(
        comment: "\(Wording.count(files.count, "indoor trace")) as Pharos datagrams",
        application: "pharos survey import"
      )
      var (datagrams, reports) = (0, 0)
      var times: (first: Timestamp, last: Timestamp)?
      var bar = ProgressBar("traces", on: console)
      while let datagram = try merged.next() {
        let port = UInt16(datagram.sender % SurveyImportRunner.ports) + SurveyImportRunner.firstPort
        try writer.write(
          payload: datagram.bytes.span.bytes,
          from: Endpoint(IPAddress(v4: 0x7F00_0001), port: port),
          to: SurveyImportRunner.destination,
          at: datagram.time
        )
        times = (times?.first ?? datagram.time, datagram.time)
        datagrams += 1
        reports += datagram.reports
        if writer.pendingCount >= SurveyImportRunner.chunk { try capture.write(writer.drainBytes()) }
        bar.show(merged.finished, of: files.count)
      }
      bar.clear()
      try capture.write(writer.drainBytes())
      try capture.flush()
      for complaint in merged.complaints { console.say(complaint) }
      console.say(
        "\(Wording.count(datagrams, "datagram")) with \(Wording.count(reports, "report")) of "
          + "\(Wording.count(files.count, "trace")), each an observer"
          + "\(times.map { ", over \(($0.last - $0.first).written)" } ?? "")."
      )
      return merged.hasDamage ? .failure : .success
    }
  }

  /// Writes the capture into a file.
  ///
  /// - Returns: 0; 1 if the file cannot be written or a trace was damaged.
  package func run(output: String, console: Console) -> CommandStatus {
    console.run {
      // A mistyped trace must not leave an empty capture behind.
      _ = try TraceFile.find(traces)
      let file = try FileOutput(path: output)
      let status = run(capture: file, console: console)
      try file.close()
      return status
    }
  }
}

/// The datagrams of many traces in the order of their R, with at most as many files open as walks overlap.
struct TraceMerge {
  /// One datagram.
  struct Datagram {
    /// R.
    var time: Timestamp
    /// The number of the trace, counted in the order of adding.
    var sender: Int
    /// The bytes.
    var bytes: [UInt8]
    /// The number of reports in the datagram.
    var reports: Int
  }

  private struct Sender {
    let file: TraceFile
    let number: Int
    let start: Timestamp
  }

  /// The problems of traces that have ended.
  private(set) var complaints: [String] = []
  /// Indicates whether a file was damaged.
  private(set) var hasDamage = false
  /// The number of traces that have ended.
  private(set) var finished = 0

  private var waiting: [Sender] = []
  private var open: [TraceSender] = []
  private var count = 0
  private var isSorted = true

  /// Adds a trace.
  ///
  /// - Throws: `CommandFailure` if the trace cannot be opened.
  mutating func add(_ file: TraceFile) throws(CommandFailure) {
    let stream = try TraceStream(file)
    defer { count += 1 }
    guard let first = stream.next()?.reports.first?.received else {
      finished += 1
      record(stream)
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
    let datagram = open[first].next()
    if open[first].isAtEnd {
      record(open.remove(at: first).stream)
      finished += 1
    }
    return datagram
  }

  private mutating func record(_ stream: TraceStream) {
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

  /// Indicates whether nothing is left to send.
  var isAtEnd: Bool { batch == nil }

  /// The datagram that is due; the next one is made ready.
  mutating func next() -> TraceMerge.Datagram? {
    guard let batch else { return nil }
    for report in batch.reports {
      let fits = encoder.append(report, from: batch)
      precondition(fits, "a batch of a trace's feed exceeds a datagram")
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
