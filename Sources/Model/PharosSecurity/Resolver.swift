import PharosDocuments
public import PharosModel

/// Finds out whose address a changing one is: the one place where identity keys are used.
///
/// An advert from an address that a beacon's key resolves is taken as an advert of that beacon's own address, so that tracks,
/// regions and zones see one tag over all its changes. It stands between decoding and stage one, one for each shard, and what
/// it says follows from the address and the keys alone: the table of what was asked before saves work and decides nothing.
///
/// An address that no key can have made costs a comparison of two bits; one that was asked before costs a look into a table; a
/// new one costs a block of AES for each key. Where two keys resolve one address, which happens to one address in 16 million
/// by chance, the beacon that the site lists first has it.
public struct Resolver: Sendable {
  /// The largest number of keys.
  ///
  /// 4,096, a large hospital's staff. Each new address of an unknown device is tried with all of them, a key schedule
  /// and a block of AES each; of a hundred visitors' telephones one new address comes every nine seconds.
  public static let maximumKeys = 4_096

  /// The base-2 logarithm of the number of remembered addresses, whether they resolve or not.
  ///
  /// A newer address takes the place of another.
  ///
  /// 16,384 places are 128 KiB a shard. A telephone that passes by is heard for minutes and changes its address about every
  /// fifteen: ten thousand of them at a time leave most of their places to themselves.
  static let placesBits: UInt64 = 14

  private let functions: [AddressFunction]
  private let identities: [DeviceAddress]
  /// An address in the low 48 bits, above it the number of the key that resolves it, from 1, or 0 for none; 0 where nothing was
  /// asked, since no address of this sort is zero.
  private var asked: [UInt64]
  /// The number of addresses that were tried with the keys.
  public private(set) var trials: UInt64 = 0

  /// Takes the keys of a site.
  ///
  /// - Returns: nil if it has none, or none that is at hand: then there is nothing to do for any advert.
  public init?(site: Site) {
    var functions: [AddressFunction] = []
    var identities: [DeviceAddress] = []
    for beacon in site.beacons {
      guard let words = beacon.identityKey?.words, case .address(let address) = beacon.constraint else {
        continue
      }
      functions.append(AddressFunction(words))
      identities.append(DeviceAddress(bits: address.bits, kind: .unknown))
    }
    guard !functions.isEmpty else { return nil }
    self.functions = Array(functions.prefix(Resolver.maximumKeys))
    self.identities = Array(identities.prefix(Resolver.maximumKeys))
    asked = Array(repeating: 0, count: 1 << Resolver.placesBits)
  }

  /// The number of keys.
  public var keys: Int { functions.count }

  /// The lasting address of the beacon that made an address.
  ///
  /// - Returns: nil if no key resolves it.
  public mutating func resolve(_ address: DeviceAddress) -> DeviceAddress? {
    guard address.isPerhapsResolvable else { return nil }
    let place = Int(truncatingIfNeeded: (address.bits &* 0x9E37_79B9_7F4A_7C15) >> (64 - Resolver.placesBits))
    let known = asked[place]
    guard known & Resolver.addressMask != address.bits else { return identity(Int(known >> 48)) }
    let number = search(address.bits)
    asked[place] = address.bits | UInt64(number) << 48
    return identity(number)
  }

  /// Puts beacons' lasting addresses in the place of those that a key resolves.
  ///
  /// - Parameters:
  ///   - batch: the reports; one of which nothing resolves is left as it is, its storage too.
  ///   - first: the first report that is looked at.
  public mutating func resolve(_ batch: inout ReportBatch, from first: Int = 0) {
    for index in first..<batch.count {
      guard let address = batch.entries[index].deviceAddress else { continue }
      guard let identity = resolve(address) else { continue }
      batch.entries[index].deviceAddress = identity
    }
  }

  private static let addressMask: UInt64 = 1 << 48 - 1

  private func identity(_ number: Int) -> DeviceAddress? { number == 0 ? nil : identities[number - 1] }

  /// The number of the first key that resolves an address, or 0.
  private mutating func search(_ bits: UInt64) -> Int {
    trials &+= 1
    let prand = UInt32(truncatingIfNeeded: bits >> 24)
    let hash = UInt32(truncatingIfNeeded: bits & 0xFF_FFFF)
    for index in functions.indices where functions[index](prand) == hash { return index + 1 }
    return 0
  }
}

/// The random address hash function `ah`: ties a resolvable private address to the key that it was made with.
///
/// The 24 random bits in the upper half of a resolvable address, encrypted with the key, give the lower half. The key is
/// expanded once.
///
/// - Source: Bluetooth Core Specification 5.4, Vol 3, Part H, 2.2.2.
struct AddressFunction: Sendable {
  private let cipher: AES128

  init(_ words: IdentityKey.Words) { cipher = AES128(key: (words.high, words.low)) }

  /// Returns the 24-bit hash of 24 random bits.
  func callAsFunction(_ prand: UInt32) -> UInt32 {
    UInt32(truncatingIfNeeded: encrypt((0, UInt64(prand & 0xFF_FFFF))).low) & 0xFF_FFFF
  }

  /// The security function `e`: one block of AES-128.
  func encrypt(_ block: AES128.Block) -> AES128.Block { cipher.encrypt(block) }
}

extension IdentityKey {
  /// The block that the fingerprint of a key is made from: no address gives it, since the blocks of addresses begin
  /// with thirteen zeros.
  private static let fingerprintBlock: AES128.Block = words(Array("pharos irk print".utf8))

  /// Reads a key as sites write it: 32 hexadecimal digits, the most significant octet first, as the specification prints it.
  public init?(_ text: some StringProtocol) {
    guard let octets = Hex.bytes(text) else { return nil }
    self.init(octets: octets)
  }

  /// Makes a key of 16 octets, the most significant first; nil of any other number.
  public init?(octets: [UInt8]) {
    guard octets.count == 16 else { return nil }
    let (high, low) = IdentityKey.words(octets)
    let words = Words(high: high, low: low)
    let block = AddressFunction(words).encrypt(IdentityKey.fingerprintBlock)
    self.init(words: words, fingerprint: UInt32(truncatingIfNeeded: block.high >> 32))
  }

  /// Sixteen octets as two numbers.
  private static func words(_ octets: [UInt8]) -> AES128.Block {
    (
      high: octets[0..<8].reduce(0) { $0 << 8 | UInt64($1) },
      low: octets[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    )
  }

  /// The address that the key makes of 24 bits, of which the two highest are replaced by the mark of a resolvable address: what
  /// a device, or a simulated one, sends.
  ///
  /// - Returns: the address, or nil if the key is withheld.
  public func resolvableAddress(prand: UInt32) -> DeviceAddress? {
    guard let words else { return nil }
    let prand = prand & 0x3F_FFFF | 0x40_0000
    let hash = AddressFunction(words)(prand)
    return DeviceAddress(bits: UInt64(prand) << 24 | UInt64(hash), kind: .random)
  }
}

extension DeviceAddress {
  /// Indicates whether a key may resolve it: random, or not stated to be public, and with the highest bits 01.
  ///
  /// Many gateways do not state the type of an address. Of those that are public at most one in 16 million fits a
  /// key by chance.
  ///
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 1.3.2.2.
  @inlinable public var isPerhapsResolvable: Bool { bits >> 46 == 0b01 && kind != .public }
}
