import FuzzSupport
import PharosCaptures
import PharosModel
import PharosWire

/// An indoor trace: read whole, read in pieces, and sent as datagrams.
final class TracesTarget: FuzzTarget {
  static let name = "traces"
  static let maximumLength = 2_048

  /// The longest name: with it the head of a datagram is longest.
  private let observer = ObserverID.name(String(repeating: "n", count: ObserverID.maximumName))

  func run(_ input: RawSpan) {
    let trace = IndoorTrace(parsing: input)
    let truth = IndoorTrace(truthIn: input.array)
    demand(truth.waypoints == trace.waypoints, "the truth alone is the truth of the whole")
    if let walk = trace.walk { demand(trace.position(at: walk.lowerBound) != nil, "a walk has a beginning") }
    let whole = feed(input, pieces: false)
    demand(whole == feed(input, pieces: true), "how a trace is cut into pieces changes nothing")
    for batch in whole { send(batch) }
  }

  private func feed(_ input: RawSpan, pieces: Bool) -> [ReportBatch] {
    var feed = TraceFeed(observer: observer)
    var batches: [ReportBatch] = []
    var start = 0
    while start < input.byteCount {
      let end = pieces ? min(input.byteCount, start + 1 + start % 97) : input.byteCount
      feed.append(input.extracting(start..<end).array)
      while let batch = feed.next() { batches.append(batch) }
      start = end
    }
    feed.finish()
    while let batch = feed.next() { batches.append(batch) }
    return batches
  }

  /// A batch fits a datagram, and comes back from it.
  private func send(_ batch: ReportBatch) {
    guard let received = batch.reports.first?.received else { return demand(false, "a batch is not empty") }
    var encoder = PharosDatagramEncoder(observer: observer, bootID: 1)
    for report in batch.reports {
      demand(report.received == received, "all reports of a batch have one time of receipt")
      demand(encoder.append(report, from: batch), "a batch fits a datagram")
    }
    let datagram = encoder.finish(uptime: .zero)
    var again = ReportBatch()
    do {
      try PharosFormat.decode(datagram.span.bytes, received: received, into: &again)
    } catch {
      return demand(false, "a datagram made of a trace is refused: \(error)")
    }
    demand(again.reports.count == batch.reports.count + 1, "all reports come back, behind the head")
    demand(again.accessPoints.count == batch.accessPoints.count, "all access points come back")
    demand(again.motionSamples.count == batch.motionSamples.count, "all samples come back")
  }

  static var words: [[UInt8]] {
    [
      "TYPE_WAYPOINT", "TYPE_BEACON", "TYPE_WIFI", "TYPE_ACCELEROMETER", "TYPE_GYROSCOPE",
      "TYPE_MAGNETIC_FIELD",
      "TYPE_ROTATION_VECTOR", "\t1574561333481\t", "\n1574561333481\t", "#\tstartTime:", "FloorName:", "1e38",
      "-0.5",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    let lines = [
      "#\tstartTime:1574561333380", "#\tSiteID:5dd3\tSiteName:h\u{E4}ll\tFloorId:5dd4\tFloorName:B1",
      "1574561333388\tTYPE_WAYPOINT\t193.66296\t27.809504",
      "1574561333400\tTYPE_ACCELEROMETER\t0.1\t-9.81\t0.5\t3",
      "1574561333401\tTYPE_GYROSCOPE\t0.1\t0.2\t0.5\t3",
      "1574561333402\tTYPE_MAGNETIC_FIELD\t20.1\t-9.81\t0.5\t3",
      "1574561333403\tTYPE_ROTATION_VECTOR\t0.1\t0.2\t0.5\t3",
      "1574561333481\tTYPE_BEACON\t9195B3AD-A9D0-4500-85FF-9FB0F65A5201\t3\t65535\t-56\t-72\t6.35\t02:00:5E:10:00:01\t1574561333481",
      "1574561333500\tTYPE_WIFI\thall\t02:00:5e:00:00:01\t-59\t2422\t1574561333120",
      "1574561333500\tTYPE_WIFI\t\t02:00:5e:00:00:02\t-69\t5180\t1574561333020",
      "1574561333900\tTYPE_WAYPOINT\t195.5\t28.25", "#\tendTime:1574561388416",
    ]
    return [Array((lines.joined(separator: "\n") + "\n").utf8)] + lines.map { Array("\($0)\r\n".utf8) }
  }
}
