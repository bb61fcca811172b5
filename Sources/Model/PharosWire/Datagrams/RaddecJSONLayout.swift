import PharosDocuments
import PharosModel

/// raddec in JSON: the same sighting as in the binary format, with its parts spelt out.
enum RaddecJSONLayout: JSONLayout {
  /// Appends one advert for each receiver and packet.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.transmitter].kind == .string, object[.signature].kind == .array else { return false }
    let timing = try object.timing(bytes, within: context.timing)
    let packets = object[.packets]
    guard packets.kind == .array || !packets.isPresent else { throw .badField }
    let transmitter = try transmitter(object, bytes)
    for element in reader.tree.elements(of: object[.signature]) {
      reader.attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .object else { throw .badField }
        let receiver = reader.members(of: element, bytes)
        guard receiver.has(.observer) else { throw .noObserver }
        var inner = context
        inner.observer = try JSONMembers.observer(receiver[.observer], bytes)
        let level = try receiver.level(bytes)
        var adverts = 0
        for packet in reader.tree.elements(of: packets) {
          reader.attempt(&batch) { reader, batch throws(DatagramRefusal) in
            // One that cannot be read was a packet: the receiver has not heard the transmitter without any.
            adverts += 1
            guard packet.kind == .string else { throw .badField }
            guard var advert = try Self.advert(packet.range, bytes, transmitter, into: &batch) else {
              adverts -= 1
              return
            }
            advert.rssi = level
            try reader.append(.advert(advert), timing, inner, to: &batch)
          }
        }
        guard adverts == 0 else { return }
        let nothing = batch.append(payload: EmptyCollection<UInt8>())
        let advert = Advert(address: transmitter.address, rssi: level, payload: nothing)
        try reader.append(.advert(advert), timing, inner, to: &batch)
      }
    }
    return true
  }

  private struct Transmitter {
    let address: DeviceAddress?
    let packets: RaddecIdentifierType.Packets
  }

  private static func transmitter(
    _ object: JSONMembers,
    _ bytes: RawSpan
  ) throws(DatagramRefusal) -> Transmitter {
    guard let place = try object.text(.transmitter) else { throw .badIdentity }
    guard let code = try object.integer(.transmitterType, bytes, in: 0...UInt8.max) else {
      let address = WireText.address(bytes, place)
      return Transmitter(address: address, packets: address == nil ? .perhapsAdvertising : .advertising)
    }
    let type = try RaddecIdentifierType(code)
    let kind: DeviceAddress.Kind
    switch type {
    case .eui48: kind = .public
    case .rnd48: kind = .random
    case .unknown, .eui64, .tid96, .epc96, .uuid128, .eurid32:
      return Transmitter(address: nil, packets: type.packets)
    }
    guard let address = WireText.address(bytes, place, kind: kind) else { throw .badIdentity }
    return Transmitter(address: address, packets: type.packets)
  }

  /// The advert that a packet is, or nil if the transmitter's packets are not Bluetooth's.
  private static func advert(
    _ digits: Range<Int>,
    _ bytes: RawSpan,
    _ transmitter: Transmitter,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Advert? {
    guard transmitter.packets != .foreign else { return nil }
    let decoded = WireText.withHex(bytes, digits) { packet in
      LinkLayerPDU.advert(packet, heardFrom: transmitter.address, into: &batch)
    }
    guard let decoded else { throw .badText }
    switch decoded {
    case .success(let advert): return advert
    case .failure(let refusal):
      guard transmitter.packets == .advertising else { return nil }
      throw refusal
    }
  }
}

extension LinkLayerPDU {
  /// The advert that a PDU is, its data appended to the batch.
  fileprivate static func advert(
    _ packet: RawSpan,
    heardFrom transmitter: DeviceAddress?,
    into batch: inout ReportBatch
  ) -> Result<Advert, DatagramRefusal> {
    do throws(DatagramRefusal) {
      let pdu = try LinkLayerPDU(packet, in: packet.wholeRange)
      return .success(
        Advert(
          address: pdu.address ?? transmitter,
          rssi: nil,
          pdu: pdu.pdu,
          advertisingSet: pdu.advertisingSet,
          payload: batch.append(payload: packet.extracting(pdu.data))
        )
      )
    } catch {
      return .failure(error)
    }
  }
}
