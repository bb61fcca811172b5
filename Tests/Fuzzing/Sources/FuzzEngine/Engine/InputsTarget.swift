import FuzzSupport
import PharosModel
import PharosPipeline
import PharosWire

/// Inputs of a pipeline without a file around them: datagrams and what a recording has beside them.
///
/// - Shape: for each input: 0 kind (even: a datagram; odd: the content of a recording's block), 1 length u16 big-endian,
///   3 how long after the one before as a power of two of milliseconds, 4 so many bytes or what is left.
final class InputsTarget: FuzzTarget {
  static let name = "inputs"
  static let maximumLength = 2_048

  func run(_ input: RawSpan) {
    let bytes = input.array
    let one = run(bytes, shards: 1)
    demand(one == run(bytes, shards: 3), "the number of shards changes no event")
  }

  private func run(_ bytes: [UInt8], shards: Int) -> Digest {
    var run = EngineRun(shards: shards)
    var decoder = DatagramDecoder()
    var now = SampleTraffic.start
    var start = 0
    while start + 4 <= bytes.count {
      let length = Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      let end = min(bytes.count, start + 4 + length)
      now = now + .milliseconds(1 << Int64(bytes[start + 3] % 32))
      if bytes[start] % 2 == 0 {
        var batch = ReportBatch()
        _ = decoder.decode(bytes.span.bytes.extracting(start + 4..<end), received: now, into: &batch)
        if !batch.isEmpty { run.receive(.reports(batch)) }
      } else if let recorded = try? RecordedInput(decoding: bytes[start + 4..<end]) {
        receive(recorded, into: &run)
      }
      start = end
    }
    run.finish()
    return run.digest
  }

  private func receive(_ recorded: RecordedInput, into run: inout EngineRun) {
    switch recorded {
    case .site(let site): run.receive(.site(site))
    case .tick(let instant): run.receive(.tick(through: instant))
    case .change(let change, let instant): run.receive(.change(change, at: instant))
    case .clockStep(let step, let instant): run.receive(.clockStep(step, at: instant))
    case .pause(through: let end, at: let instant): run.receive(.pause(through: end, at: instant))
    case .announced(let event, let instant): run.receive(.announced(event, at: instant))
    // Checkpoints have a target of their own.
    case .restored, .datagram: break
    }
  }

  static var words: [[UInt8]] {
    RecordingsTarget.words + [[3, 1, 0, 0], [3, 2, 0, 0], [3, 3, 0, 0], [3, 6, 0, 0]]
  }

  static func seeds() throws -> [[UInt8]] {
    func seed(_ kind: UInt8, _ pause: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      [kind, UInt8(bytes.count >> 8), UInt8(truncatingIfNeeded: bytes.count), pause] + bytes
    }
    let datagrams = try (0..<6).map { seed(0, 8, try SampleTraffic.datagram($0)) }
    let others = SampleTraffic.otherInputs(at: SampleTraffic.start + .seconds(1)).map {
      seed(1, 8, $0.encoded)
    }
    let site = seed(1, 0, RecordedInput.site(SampleTraffic.site).encoded)
    return [Array(datagrams.joined())] + others.map { site + datagrams[0] + $0 + datagrams[1] }
  }
}
