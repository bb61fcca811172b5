public import PharosReports

/// reelyActive's radio decoding (raddec), binary, one to a datagram: the open convention on UDP 50001.
///
/// A raddec is one sighting of one transmitter by up to 15 receivers, with up to 15 of its packets. Each
/// receiver and packet gives one advert, receivers in their order; without packets each receiver gives one
/// advert without payload.
///
/// * The address is that of the packet. Where there is none it is the transmitter's identifier, if that is an
///   EUI-48 (public) or RND-48 (random); for EUI-64, UUID and the rest the address stays nil, and so does
///   that of an extended packet that leaves it out, unless the transmitter's identifier tells it.
/// * Packets of RFID and EnOcean transmitters are not Bluetooth's: they give adverts without payload.
/// * The sender's time, if given, becomes `ReportTiming.sent`. Its events and positions are checked and
///   left out.
/// * Checksum, total length and all inner lengths must be right.
///
/// - Source: reelyactive/raddec, `lib/raddec.js`, `lib/rssi.js`, `lib/position.js`.
public enum RaddecFormat: DatagramFormat {
  /// Which format it is.
  public static let format = WireFormat.raddec

  /// Whether the datagram begins with the flag of a raddec.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    !datagram.isEmpty && datagram.byte(at: 0) == RaddecLayout.flag
  }

  /// Appends one advert for each receiver and packet.
  public static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    // Everything that can be wrong is found here, before the batch is touched.
    let layout = try RaddecLayout(datagram)
    guard layout.receiverCount > 0 else { return }
    let timing =
      layout.timestamp.map { ReportTiming.sent(Timestamp(nanoseconds: $0 * 1_000_000)) } ?? .received
    let payloads = UInt32(batch.payloads.count)
    var cursor = ByteCursor(layout.receivers)
    for number in 0..<layout.receiverCount {
      let receiver = try RaddecReceiver(datagram, &cursor)
      let identity = try receiver.type.observer(datagram, at: receiver.identifier.lowerBound)
      let sighting = Report(
        observer: batch.index(of: identity),
        received: received,
        timing: timing,
        body: .advert(
          Advert(
            address: layout.transmitterType.address(datagram, at: layout.transmitter.lowerBound),
            rssi: WireLimits.level(receiver.dBm),
            payload: payloads..<payloads
          )
        )
      )
      append(sighting, datagram, layout, isFirst: number == 0, into: &batch)
    }
  }

  /// Appends a receiver's sighting, once for each packet.
  ///
  /// The first receiver brings the AD structures with it; the adverts of the others point to the same bytes.
  private static func append(
    _ sighting: Report,
    _ datagram: RawSpan,
    _ layout: RaddecLayout,
    isFirst: Bool,
    into batch: inout ReportBatch
  ) {
    guard case .advert(let heard) = sighting.body else { return }
    var report = sighting
    var place = heard.payload.lowerBound
    var found = false
    var cursor = ByteCursor(layout.packets)
    while let packet = nextPacket(datagram, &cursor) {
      guard let pdu = advertising(datagram, packet, layout) else { continue }
      if isFirst { _ = batch.append(payload: datagram.extracting(pdu.data)) }
      let end = place + UInt32(pdu.data.count)
      report.body = .advert(
        Advert(
          address: pdu.address ?? heard.address,
          rssi: heard.rssi,
          pdu: pdu.pdu,
          advertisingSet: pdu.advertisingSet,
          payload: place..<end
        )
      )
      batch.append(report)
      place = end
      found = true
    }
    if !found { batch.append(sighting) }
  }

  private static func nextPacket(_ datagram: RawSpan, _ cursor: inout ByteCursor) -> Range<Int>? {
    guard let length = try? cursor.u8(datagram) else { return nil }
    return try? cursor.take(Int(length))
  }

  private static func advertising(
    _ datagram: RawSpan,
    _ packet: Range<Int>,
    _ layout: RaddecLayout
  ) -> AdvertisingPDU? {
    guard layout.transmitterType.packets != .foreign else { return nil }
    return try? AdvertisingPDU(datagram, in: packet)
  }
}
