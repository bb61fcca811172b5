import FuzzSupport
import PharosModel
import PharosWire

/// A Pharos datagram, its magic, version and length put right three times in four.
final class PharosDatagramsTarget: FuzzTarget {
  static let name = "pharos"
  static let maximumLength = 1_500

  private var check = DatagramCheck()
  private var again = DatagramCheck()
  private var bytes: [UInt8] = []

  func run(_ input: RawSpan) {
    bytes.removeAll(keepingCapacity: true)
    input.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if bytes.count >= 8, bytes[7] & 3 != 0 {
      bytes.replaceSubrange(0..<5, with: [0x50, 0x48, 0x41, 0x52, 1])
      bytes[6] = UInt8(truncatingIfNeeded: bytes.count >> 8)
      bytes[7] = UInt8(truncatingIfNeeded: bytes.count)
    }
    let head = try? PharosDatagramHead.head(of: bytes.span.bytes)
    if let head {
      demand(head.records.upperBound <= bytes.count, "the records lie within the datagram")
      demand(
        head.tag.map { $0 == head.records.upperBound..<bytes.count } ?? true,
        "the tag ends the datagram"
      )
    }
    if check.decode(bytes.span.bytes, as: PharosFormat.self) {
      if let head { roundTrip(head) } else { demand(false, "what decodes has a head") }
    }
    check.forget()
  }

  /// All reports, encoded again, are the same reports.
  private func roundTrip(_ head: PharosDatagramHead) {
    var encoder = PharosDatagramEncoder(
      observer: head.observer,
      bootID: head.bootID,
      sequence: head.sequence,
      signingKeyID: head.tag == nil ? nil : head.keyID
    )
    for report in check.batch.reports.dropFirst() {
      guard encoder.append(report, from: check.batch) else { return }
    }
    let datagram = encoder.finish(uptime: head.uptime)
    demand(again.decode(datagram.span.bytes, as: PharosFormat.self), "what the encoder writes is decoded")
    let (reports, copies) = (check.batch.reports, again.batch.reports)
    demand(reports.count == copies.count, "as many reports come back")
    for (report, copy) in zip(reports, copies) {
      let observer = check.batch.observers[Int(report.observer)]
      demand(again.batch.observers[Int(copy.observer)] == observer, "the observer comes back")
      demand(copy.timing == report.timing, "the age comes back")
      demand(same(report.body, copy.body), "the report comes back: \(report.body) is \(copy.body)")
    }
    demand(check.batch.accessPoints == again.batch.accessPoints, "the access points come back")
    demand(check.batch.motionSamples == again.batch.motionSamples, "the samples come back")
    again.forget()
  }

  private func same(_ left: ReportBody, _ right: ReportBody) -> Bool {
    guard case .advert(let one) = left, case .advert(let other) = right else { return left == right }
    var moved = other
    moved.payload = one.payload
    return moved == one
      && check.batch.payloads[Int(one.payload.lowerBound)..<Int(one.payload.upperBound)]
        == again.batch.payloads[Int(other.payload.lowerBound)..<Int(other.payload.upperBound)]
  }

  static var words: [[UInt8]] { [Array("PHAR".utf8), [0x50, 0x48, 0x41, 0x52, 0x01, 0x00]] }

  static func seeds() throws -> [[UInt8]] {
    var random = SeedRandom(7)
    let batch = try SampleReports.everyKind()
    var seeds: [[UInt8]] = []
    let observers: [ObserverID] = [
      .eui48(0xAC23_3FA0_0001), .eui64(5), .uuid(UUID128(high: 1, low: 2)), .name("h\u{E4}ll"),
    ]
    for (number, observer) in observers.enumerated() {
      for report in batch.reports {
        var encoder = PharosDatagramEncoder(
          observer: observer,
          bootID: 3,
          sequence: UInt32(truncatingIfNeeded: random.next()),
          signingKeyID: number % 2 == 0 ? nil : 7
        )
        guard encoder.append(report, from: batch) else { continue }
        seeds.append(encoder.finish(uptime: .milliseconds(93_000)))
      }
    }
    var encoder = PharosDatagramEncoder(observer: observers[0], bootID: 3)
    for report in batch.reports { _ = encoder.append(report, from: batch) }
    return seeds + [encoder.finish(uptime: .milliseconds(93_000))]
  }
}
