public import PharosReports

/// One sighting of one transmitter, as a raddec tells it: who heard it how loudly, when, and what it sent.
public struct RaddecSighting: Equatable, Sendable {
  /// An observer that heard the transmitter.
  public struct Receiver: Equatable, Sendable {
    /// Who: an EUI-48, an EUI-64 or a UUID; raddec knows no names.
    public var observer: ObserverID
    /// The level, or nil if the radio had none.
    public var rssi: RSSI?
    /// Of how many packets the level is the mean.
    public var decodings: UInt8

    /// Makes a receiver.
    public init(observer: ObserverID, rssi: RSSI?, decodings: UInt8 = 1) {
      self.observer = observer
      self.rssi = rssi
      self.decodings = decodings
    }
  }

  /// One of the transmitter's packets: the AD structures of an advert.
  public struct Packet: Equatable, Sendable {
    /// The PDU that carried it; a raddec's packets are legacy PDUs, others are written as non-connectable
    /// ones.
    public var pdu: Advert.PDU
    /// The AD structures, up to 247 bytes.
    public var data: [UInt8]

    /// Makes a packet.
    public init(pdu: Advert.PDU, data: [UInt8]) {
      self.pdu = pdu
      self.data = data
    }
  }

  /// The transmitter's address; one of unknown kind is written as a public one.
  public var transmitter: DeviceAddress
  /// Who heard it: at most 15.
  public var receivers: [Receiver]
  /// When, by the sender's clock, to the millisecond; nil leaves the time out.
  public var time: Timestamp?
  /// What it sent: at most 15.
  public var packets: [Packet]

  /// Makes a sighting.
  public init(transmitter: DeviceAddress, receivers: [Receiver], time: Timestamp?, packets: [Packet]) {
    self.transmitter = transmitter
    self.receivers = receivers
    self.time = time
    self.packets = packets
  }

  /// The sighting that an advert in a batch is, or nil if the report is no advert or its address is not
  /// known.
  ///
  /// Its time is the report's event time.
  public init?(_ report: Report, from batch: borrowing ReportBatch) {
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

extension Report {
  /// When it happened, as far as the report itself tells: the receive time less the age, or the sender's
  /// time.
  var sendersTime: Timestamp {
    switch timing {
    case .received: received
    case .age(let age): received - age
    case .sent(let time): time
    }
  }
}
