import FuzzSupport
import PharosModel
import PharosPipeline

/// A recording or a capture as `process` reads it: into inputs, and through a pipeline.
final class RecordingsTarget: FuzzTarget {
  static let name = "recordings"
  static let maximumLength = 4_096

  func run(_ input: RawSpan) {
    let one = run(input, shards: 1)
    demand(
      one == run(input, shards: 3),
      "neither the number of shards nor how a file is cut changes an event"
    )
  }

  private func run(_ input: RawSpan, shards: Int) -> Digest {
    var feed = CaptureFeed(observer: .name("sniffer"))
    var run = EngineRun(shards: shards)
    do {
      var start = 0
      while start < input.byteCount {
        let end = shards == 1 ? input.byteCount : min(input.byteCount, start + 511)
        feed.append(input.extracting(start..<end))
        start = end
        while let input = try feed.next() { run.receive(input) }
      }
      try feed.finish()
      while let input = try feed.next() { run.receive(input) }
    } catch {
      _ = "\(error)"
    }
    run.finish()
    return run.digest
  }

  static var words: [[UInt8]] {
    [
      [0x52, 0x48, 0x50, 0x80], [6, 0, 0, 0], Array("PHAR".utf8), Array("PHCP".utf8), Array("gallery".utf8),
      [3, 0, 0, 0],
    ]
  }

  static func seeds() throws -> [[UInt8]] {
    try [
      SampleTraffic.recording(steps: 1), SampleTraffic.recording(steps: 8),
      SampleTraffic.recording(steps: 1, restoring: true),
    ]
    .filter { $0.count <= maximumLength }
  }
}
