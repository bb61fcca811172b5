public import PharosReports

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
  /// How many keys there may be.
  ///
  /// 4,096, a large hospital's staff. Each new address of a stranger is tried with all of them, a key schedule and a block of
  /// AES each; of a hundred visitors' telephones one new address comes every nine seconds.
  public static let mostKeys = 4_096

  /// How many addresses are remembered, whether they resolve or not; a newer one takes the place of another.
  ///
  /// 16,384 places are 128 KiB a shard. A telephone that passes by is heard for minutes and changes its address about every
  /// fifteen: ten thousand of them at a time leave most of their places to themselves.
  static let placesBits: UInt64 = 14

  private let functions: [AddressFunction]
  private let identities: [DeviceAddress]
  /// An address in the low 48 bits, above it the number of the key that resolves it, from 1, or 0 for none; 0 where nothing was
  /// asked, since no address of this sort is zero.
  private var asked: [UInt64]
  /// How many addresses were tried with the keys.
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
    self.functions = Array(functions.prefix(Resolver.mostKeys))
    self.identities = Array(identities.prefix(Resolver.mostKeys))
    asked = Array(repeating: 0, count: 1 << Resolver.placesBits)
  }

  /// How many keys there are.
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
