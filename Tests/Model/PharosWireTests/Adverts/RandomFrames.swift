import PharosModel
import PharosTestSupport
import PharosWire

extension SeededGenerator {
  /// Some random bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  /// A random number of any type.
  mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number {
    Number.random(in: Number.min...Number.max, using: &self)
  }

  /// A random UUID.
  mutating func uuid() -> UUID128 { UUID128(high: number(), low: number()) }

  /// A random frame of any kind; iBeacons are Apple's.
  mutating func frame() -> Frame {
    switch Int.random(in: 0..<7, using: &self) {
    case 0:
      return .iBeacon(IBeacon(uuid: uuid(), major: number(), minor: number(), measuredPower: number()))
    case 1:
      return .altBeacon(
        AltBeacon(
          uuid: uuid(),
          major: number(),
          minor: number(),
          measuredPower: number(),
          company: number(),
          manufacturerByte: number()
        )
      )
    case 2:
      let namespace = EddystoneNamespace(high: number(), low: number())
      return .eddystoneUID(EddystoneUID(namespace: namespace, instance: number(), transmitPower: number()))
    case 3:
      return .eddystoneEID(EddystoneEID(identifier: number(), transmitPower: number()))
    case 4:
      return .eddystoneEncryptedTLM(
        EddystoneEncryptedTLM(high: number(), low: number(), salt: number(), integrityCheck: number())
      )
    case 5:
      if let url = url() { return .eddystoneURL(url) }
      fallthrough
    default:
      return .eddystoneTLM(
        EddystoneTLM(
          batteryMillivolts: Bool.random(using: &self) ? nil : number(),
          temperature256ths: Bool.random(using: &self) ? nil : number(),
          advertCount: number(),
          uptimeTenths: number()
        )
      )
    }
  }

  private mutating func url() -> EddystoneURL? {
    let scheme = EddystoneURL.Scheme.allCases.randomElement(using: &self) ?? .https
    let rest = bytes(Int.random(in: 1...17, using: &self))
    return EddystoneURL(scheme: scheme, encoded: rest, transmitPower: number())
  }

  /// A chain of random structures, some of them frames, as an advert would hold.
  mutating func payload(maximum: Int) -> [UInt8] {
    var payload: [UInt8] = []
    while true {
      let next: [UInt8]
      switch Int.random(in: 0..<4, using: &self) {
      case 0: next = structure(number(), bytes(Int.random(in: 0...24, using: &self)))
      case 1: next = [0x02, 0x01, 0x06]
      default: next = frame().encoded
      }
      guard payload.count + next.count <= maximum else { return payload }
      payload += next
    }
  }

  /// The same bytes with one to four of them changed, cut out or put in.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &self) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &self)
      switch Int.random(in: 0..<4, using: &self) {
      case 0: bytes[index] = number()
      case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
      case 2: bytes.remove(at: index)
      default: bytes.insert(number(), at: index)
      }
    }
    return bytes
  }
}
