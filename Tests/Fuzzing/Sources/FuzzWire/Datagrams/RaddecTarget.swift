import FuzzSupport
import PharosEncoders
import PharosModel
import PharosWire

/// A raddec, its checksum put right: chance alone would have one in 256 pass.
final class RaddecTarget: FuzzTarget {
  static let name = "raddec"
  static let maximumLength = 1_024

  private var check = DatagramCheck()
  private var again = DatagramCheck()
  private var bytes: [UInt8] = []

  func run(_ input: RawSpan) {
    bytes.removeAll(keepingCapacity: true)
    input.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if input.byteCount >= 4, input[3] & 0x80 == 0 {
      bytes[bytes.count - 1] = bytes.dropLast().reduce(0, &+)
    }
    if check.decode(bytes.span.bytes, as: RaddecFormat.self) { roundTrip() }
    check.forget()
  }

  /// Each report alone, written as a raddec, is the same advert again.
  private func roundTrip() {
    for report in check.batch.reports.dropFirst().prefix(8) {
      guard case .advert(let advert) = report.body, let sighting = RaddecSighting(report, from: check.batch),
        let datagram = RaddecEncoder.encode(sighting)
      else { continue }
      demand(again.decode(datagram.span.bytes, as: RaddecFormat.self), "what the encoder writes is decoded")
      guard let first = again.batch.reports.dropFirst().first, case .advert(let second) = first.body else {
        return demand(false, "an advert comes back as an advert")
      }
      demand(second.address?.bits == advert.address?.bits, "the transmitter comes back")
      demand(second.rssi == advert.rssi, "the level comes back")
      let payload = check.batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
      let copy = again.batch.payloads[Int(second.payload.lowerBound)..<Int(second.payload.upperBound)]
      demand(payload == copy, "the payload comes back")
      again.forget()
    }
  }

  static func seeds() throws -> [[UInt8]] {
    var seeds = Samples.raddec
    let payloads = try AdvertsTarget.sampleFrames().map(\.legacyPayload)
    for (number, payload) in payloads.enumerated() {
      let receivers = (0...number % 3).map { index in
        RaddecSighting.Receiver(
          observer: index == 1
            ? .uuid(UUID128(high: 5, low: 6)) : .eui64(0x001B_C509_4081_0000 + UInt64(index)),
          rssi: RSSI(dBm: -60)
        )
      }
      let sighting = RaddecSighting(
        transmitter: DeviceAddress(bits: 0xC4BE_84E7_EC3E, kind: number % 2 == 0 ? .random : .public),
        receivers: receivers,
        time: number % 2 == 0 ? Timestamp(seconds: 1_700_000_000) : nil,
        packets: [.init(pdu: .nonConnectable, data: payload)]
      )
      if let datagram = RaddecEncoder.encode(sighting) { seeds.append(datagram) }
    }
    // An extended advert, which the encoder does not write.
    seeds.append(
      [0x10, 0, 0, 0x02, 1, 2, 3, 4, 5, 6, 1, 60, 1, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0xF1, 1, 17]
        + [0x47, 15, 9, 0x09, 6, 5, 4, 3, 2, 1, 0x11, 0x70, 0x02, 0x01, 0x06, 0x01, 0xFF, 0]
    )
    return seeds
  }
}
