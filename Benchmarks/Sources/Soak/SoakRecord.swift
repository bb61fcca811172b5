import Foundation
import ServedProcess

/// What was seen of a server at one moment, and of its decisions in the time before it.
struct SoakSample: Codable, Sendable {
  /// Since the start of the load.
  ///
  /// - Units: seconds.
  var time: Double
  /// Resident memory.
  ///
  /// - Units: bytes.
  var resident: Int
  /// Open descriptors.
  var descriptors: Int
  /// Threads.
  var threads: Int
  /// Markers that were timed since the sample before.
  var decisions: Int
  /// The middle, the ninety-ninth and the highest of their delays.
  ///
  /// - Units: milliseconds.
  var p50: Double
  var p99: Double
  var maximum: Double
  /// Live streams that were open.
  var streams: Int
  /// Pages that were asked for since the start, and those that did not come as they should.
  var pages: Int
  var failedPages: Int
  /// How many tasks wanted a core of the machine, averaged over a minute.
  var machineLoad: Double
}

/// All that a run has seen.
struct SoakRecord: Sendable {
  /// How long it was meant to last.
  ///
  /// - Units: seconds.
  var duration: Double
  /// Adverts a second.
  var rate: Int
  /// Every ten seconds.
  var samples: [SoakSample] = []
  /// What the process took before the first client came, and when the last had gone; nil where only samples are known.
  var before: ProcessUse?
  var after: ProcessUse?
  /// What the server itself counted in the end.
  var datagrams = 0.0
  var kernelDrops = 0.0
  var refused = 0.0
  var journalled = 0.0
  /// Datagrams that were sent.
  var sent = 0

  /// A record of the samples that another run has written, as far as they go.
  static func read(_ file: URL, rate: Int) throws -> SoakRecord {
    let lines = try Data(contentsOf: file).split(separator: 0x0A)
    let samples = try lines.map { try JSONDecoder().decode(SoakSample.self, from: $0) }
    return SoakRecord(duration: samples.last?.time ?? 0, rate: rate, samples: samples)
  }

  /// The time until caches, tables and clients have reached their size: ten minutes, or a quarter of a short run.
  ///
  /// The last to do so are the journal's page cache (16 MiB) and its index of the unfinished block, which is written down
  /// after 65,536 events: 128 a second take eight and a half minutes.
  var warmUp: Double { min(600, duration / 4) }
  /// What counts.
  var warm: [SoakSample] { samples.filter { $0.time > warmUp } }
  /// The first third of what counts, against which the last is judged.
  var firstThird: [SoakSample] { Array(warm.prefix(third)) }
  /// The last third of it.
  var lastThird: [SoakSample] { Array(warm.suffix(third)) }
  private var third: Int { max(1, warm.count / 3) }
}
