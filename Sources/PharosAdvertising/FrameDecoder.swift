/// Finds the beacon frames in the payload of an advert, wherever in it they stand.
///
/// Nothing is allocated and nothing fails: what is no frame is passed over, and what stands before a damaged
/// length counts. Who sent the payload, and in which PDU, does not matter: beacons use every kind of PDU.
public struct FrameDecoder: Sendable {
  /// Further companies whose manufacturer data may be iBeacons; almost always none.
  private let furtherCompanies: [UInt16]

  /// Creates a decoder.
  ///
  /// Some makers send the iBeacon layout under their own company identifier, as Nordic's `5900` does in its
  /// examples. A phone does not take those for iBeacons, and neither does Pharos unless the companies are given here.
  ///
  /// - Parameter iBeaconCompanies: companies whose manufacturer data are taken for iBeacons beside Apple's.
  public init(iBeaconCompanies: [UInt16] = []) { furtherCompanies = iBeaconCompanies }

  /// Calls a closure with each frame of a payload, in order; a frame that stands there twice comes twice.
  @inlinable
  public func forEachFrame(in payload: RawSpan, _ body: (Frame) -> Void) {
    var structures = ADStructures()
    while let structure = structures.next(in: payload) {
      guard structure.type == .manufacturerData || structure.type == .serviceData16 else { continue }
      guard let frame = frame(of: structure, in: payload) else { continue }
      body(frame)
    }
  }

  /// The frames of a payload, in order; for tools, since the array is allocated.
  public func frames(in payload: RawSpan) -> [Frame] {
    var frames: [Frame] = []
    forEachFrame(in: payload) { frames.append($0) }
    return frames
  }

  /// The frame that one AD structure of a payload holds, or nil if it holds none.
  ///
  /// The structure is one that a walk over the same payload gave; of another payload's it may trip.
  public func frame(of structure: ADStructure, in payload: RawSpan) -> Frame? {
    switch structure.type {
    case .manufacturerData: frame(manufacturerData: payload.extracting(structure.payload))
    case .serviceData16: FrameDecoder.frame(serviceData: payload.extracting(structure.payload))
    default: nil
    }
  }

  private func frame(manufacturerData data: RawSpan) -> Frame? {
    guard data.byteCount >= 4 else { return nil }
    let company = data.littleEndian(UInt16.self, at: 0)
    switch data.bigEndian(UInt16.self, at: 2) {
    case IBeacon.code where data.byteCount >= IBeacon.length && accepts(company):
      return .iBeacon(IBeacon(manufacturerData: data, company: company))
    case AltBeacon.code where data.byteCount >= AltBeacon.length:
      return .altBeacon(AltBeacon(manufacturerData: data, company: company))
    default:
      return nil
    }
  }

  private func accepts(_ company: UInt16) -> Bool {
    company == IBeacon.appleCompany || furtherCompanies.contains(company)
  }

  /// Returns the Eddystone frame in service data, identified by the service UUID alone.
  ///
  /// It does not matter whether a list of services names that UUID as well. The first byte must match in full: under
  /// the same UUID, `21` is a sensor of KKM's and `40` and `41` are tags of the Find Hub network.
  private static func frame(serviceData data: RawSpan) -> Frame? {
    guard data.byteCount > 2, data.littleEndian(UInt16.self, at: 0) == Eddystone.service else { return nil }
    let frame = data.extracting(2..<data.byteCount)
    switch frame.byte(at: 0) {
    case EddystoneUID.code where frame.byteCount >= EddystoneUID.length:
      return .eddystoneUID(EddystoneUID(frame: frame))
    case EddystoneURL.code:
      return EddystoneURL(frame: frame).map(Frame.eddystoneURL)
    case EddystoneTLM.code where frame.byteCount >= EddystoneTLM.length:
      return telemetry(in: frame)
    case EddystoneEID.code where frame.byteCount >= EddystoneEID.length:
      return .eddystoneEID(EddystoneEID(frame: frame))
    default:
      return nil
    }
  }

  private static func telemetry(in frame: RawSpan) -> Frame? {
    switch frame.byte(at: 1) {
    case EddystoneTLM.version:
      return .eddystoneTLM(EddystoneTLM(frame: frame))
    case EddystoneEncryptedTLM.version where frame.byteCount >= EddystoneEncryptedTLM.length:
      return .eddystoneEncryptedTLM(EddystoneEncryptedTLM(frame: frame))
    default:
      return nil
    }
  }
}
