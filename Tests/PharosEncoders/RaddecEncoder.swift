import PharosDocuments
package import PharosModel
import PharosWire

/// Writes sightings as raddec datagrams.
package enum RaddecEncoder {
  /// The most AD bytes that a packet can hold: its length is one byte, and so is that of the PDU within.
  package static let maximumData = 247

  /// The datagram of a sighting, or nil if raddec cannot say it.
  ///
  /// It cannot if an observer has but a name, if there are more than 15 receivers or packets, if a packet's
  /// data is longer than ``maximumData``, or if the time lies before 1970.
  package static func encode(_ sighting: RaddecSighting) -> [UInt8]? {
    guard sighting.receivers.count <= 15, sighting.packets.count <= RaddecLayout.maximumPackets else {
      return nil
    }
    guard sighting.packets.allSatisfy({ $0.data.count <= maximumData }) else { return nil }
    var bytes: [UInt8] = [RaddecLayout.flag, 0, 0]
    let random = sighting.transmitter.kind == .random
    bytes.append((random ? RaddecIdentifierType.rnd48 : .eui48).rawValue)
    bytes.append(sighting.transmitter.bits, bytes: 6)
    bytes.append(UInt8(sighting.receivers.count))
    for receiver in sighting.receivers {
      guard append(receiver, to: &bytes) else { return nil }
    }
    if let time = sighting.time {
      guard time.nanoseconds >= 0 else { return nil }
      bytes.append(RaddecLayout.timestampFlag)
      bytes.append(UInt64(time.nanoseconds) / 1_000_000, bytes: 6)
    }
    if !sighting.packets.isEmpty {
      bytes.append(RaddecLayout.packetsFlag)
      bytes.append(UInt8(sighting.packets.count))
      for packet in sighting.packets { append(packet, of: sighting.transmitter, to: &bytes) }
    }
    bytes.put(UInt64(bytes.count + 1), bytes: 2, at: 1)
    bytes.append(bytes.reduce(0, &+))
    return bytes
  }

  private static func append(_ receiver: RaddecSighting.Receiver, to bytes: inout [UInt8]) -> Bool {
    // 127 stands for 0 dBm, which means that there was no level.
    bytes.append(UInt8(max(-127, Int(receiver.rssi?.dBm ?? 0)) + 127))
    bytes.append(receiver.decodings)
    switch receiver.observer {
    case .eui48(let bits):
      bytes.append(RaddecIdentifierType.eui48.rawValue)
      bytes.append(bits, bytes: 6)
    case .eui64(let bits):
      bytes.append(RaddecIdentifierType.eui64.rawValue)
      bytes.append(u64: bits)
    case .uuid(let uuid):
      bytes.append(RaddecIdentifierType.uuid128.rawValue)
      bytes.append(u64: uuid.high)
      bytes.append(u64: uuid.low)
    case .name:
      return false
    }
    return true
  }

  private static func append(
    _ packet: RaddecSighting.Packet,
    of transmitter: DeviceAddress,
    to bytes: inout [UInt8]
  ) {
    let type: UInt8 =
      switch packet.pdu {
      case .connectable: 0
      case .directed: 1
      case .nonConnectable, .extended, .unknown: 2
      case .scanResponse: 4
      case .scannable: 6
      }
    let length = UInt8(packet.data.count + 6)
    bytes.append(length + 2)
    bytes.append(type | (transmitter.kind == .random ? 0x40 : 0))
    bytes.append(length)
    bytes.append(transmitter.bits.byteSwapped >> 16, bytes: 6)
    bytes.append(contentsOf: packet.data)
  }
}

/// One sighting of one transmitter, as a raddec reports it: the observer, the level, the time, and what it sent.
package struct RaddecSighting: Equatable, Sendable {
  /// An observer that heard the transmitter.
  package struct Receiver: Equatable, Sendable {
    /// The observer: an EUI-48, an EUI-64 or a UUID; raddec has no names.
    package var observer: ObserverID
    /// The level, or nil if the radio had none.
    package var rssi: RSSI?
    /// The number of packets whose mean is the level.
    package var decodings: UInt8

    /// Makes a receiver.
    package init(observer: ObserverID, rssi: RSSI?, decodings: UInt8 = 1) {
      self.observer = observer
      self.rssi = rssi
      self.decodings = decodings
    }
  }

  /// One of the transmitter's packets: the AD structures of an advert.
  package struct Packet: Equatable, Sendable {
    /// The PDU that carried it; a raddec's packets are legacy PDUs, others are written as non-connectable
    /// ones.
    package var pdu: Advert.PDU
    /// The AD structures, up to 247 bytes.
    package var data: [UInt8]

    /// Makes a packet.
    package init(pdu: Advert.PDU, data: [UInt8]) {
      self.pdu = pdu
      self.data = data
    }
  }

  /// The transmitter's address; one of unknown kind is written as a package one.
  package var transmitter: DeviceAddress
  /// The receivers: at most 15.
  package var receivers: [Receiver]
  /// The time by the sender's clock, to the millisecond; nil leaves the time out.
  package var time: Timestamp?
  /// The packets: at most 15.
  package var packets: [Packet]

  /// Makes a sighting.
  package init(transmitter: DeviceAddress, receivers: [Receiver], time: Timestamp?, packets: [Packet]) {
    self.transmitter = transmitter
    self.receivers = receivers
    self.time = time
    self.packets = packets
  }

  /// The sighting that an advert in a batch is, or nil if the report is no advert or its address is not
  /// known.
  ///
  /// Its time is the report's event time.
  package init?(_ report: Report, from batch: borrowing ReportBatch) {
    guard case .advert(let advert) = report.body, let address = advert.address else { return nil }
    let payload = batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
    self.init(
      transmitter: address,
      receivers: [Receiver(observer: batch.observers[Int(report.observer)], rssi: advert.rssi)],
      time: report.sendersTime,
      packets: [Packet(pdu: advert.pdu, data: Array(payload))]
    )
  }
}
