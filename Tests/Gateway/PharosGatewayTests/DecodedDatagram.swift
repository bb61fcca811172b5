import PharosCaptures
import PharosModel
import PharosWire
import Testing

/// What a receiver finds in a datagram.
struct DecodedDatagram {
  /// One advert: what it is, and when it was heard by the sender's clock.
  struct Sighting: Hashable {
    var address: DeviceAddress?
    var rssi: RSSI?
    var pdu: Advert.PDU
    var data: [UInt8]
    /// The time at which it was heard, if the datagram was sent at the time passed to the decoder.
    var heard: Timestamp

    /// The number that the tests put into the address.
    var number: UInt64 { address?.bits ?? .max }
  }

  var head: PharosDatagramHead
  var sightings: [Sighting] = []
  var heartbeats: [Heartbeat] = []

  /// Decodes a datagram that was sent at a time.
  init(_ bytes: [UInt8], sent: Timestamp = Timestamp(nanoseconds: 0)) throws {
    head = try PharosDatagramHead.head(of: bytes.span.bytes)
    var batch = ReportBatch()
    try PharosFormat.decode(bytes.span.bytes, received: sent, into: &batch)
    for report in batch.reports {
      switch report.body {
      case .advert(let advert):
        guard case .age(let age) = report.timing else { throw Unexpected() }
        let range = Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)
        sightings.append(
          Sighting(
            address: advert.address,
            rssi: advert.rssi,
            pdu: advert.pdu,
            data: Array(batch.payloads[range]),
            heard: sent - age
          )
        )
      case .heartbeat(let heartbeat): heartbeats.append(heartbeat)
      case .transmission: break
      default: throw Unexpected()
      }
    }
  }

  struct Unexpected: Error {}
}
