import PharosModel
import PharosSecurity
import PharosTestSupport
import Testing

@Suite("The resolver")
struct ResolverTests {
  /// A site of so many tags with keys, and the keys.
  static func site(tags: Int, seed: UInt64) -> (site: Site, keys: [IdentityKey]) {
    var random = SeededGenerator(seed: seed)
    var site = Site()
    var keys: [IdentityKey] = []
    for tag in 0..<tags {
      guard
        let key = IdentityKey(octets: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
      else { continue }
      keys.append(key)
      let address = DeviceAddress(bits: 0xAC23_3F00_0000 | UInt64(tag), kind: .unknown)
      site.beacons.append(BeaconEntry(constraint: .address(address), identityKey: key))
    }
    return (site, keys)
  }

  @Test("without a key at hand there is no resolver")
  func none() throws {
    #expect(Resolver(site: Site()) == nil)
    let address = BeaconConstraint.address(DeviceAddress(bits: 1, kind: .unknown))
    #expect(Resolver(site: Site(beacons: [BeaconEntry(constraint: address)])) == nil)
    let withheld = BeaconEntry(constraint: address, identityKey: IdentityKey(withheld: 7))
    #expect(Resolver(site: Site(beacons: [withheld])) == nil)
  }

  @Test("each tag is known by every address it makes, whether the sort is stated or not")
  func tags() throws {
    let (site, keys) = Self.site(tags: 40, seed: 1)
    var resolver = try #require(Resolver(site: site))
    var random = SeededGenerator(seed: 2)
    for _ in 0..<2_000 {
      let tag = Int.random(in: 0..<keys.count, using: &random)
      let made = try #require(keys[tag].resolvableAddress(prand: .random(in: 0...0xFF_FFFF, using: &random)))
      let kind: DeviceAddress.Kind = Bool.random(using: &random) ? .random : .unknown
      let found = resolver.resolve(DeviceAddress(bits: made.bits, kind: kind))
      #expect(found == DeviceAddress(bits: 0xAC23_3F00_0000 | UInt64(tag), kind: .unknown))
      #expect(resolver.resolve(DeviceAddress(bits: made.bits, kind: .public)) == nil)
    }
  }

  @Test("a resolver with a long past says the same as one without any: what it remembers decides nothing")
  func memory() throws {
    let (site, keys) = Self.site(tags: 3, seed: 3)
    let fresh = try #require(Resolver(site: site))
    var used = fresh
    var random = SeededGenerator(seed: 4)
    // Twice as many addresses as there are places, a few of them again and again.
    var pool: [DeviceAddress] = []
    for index in 0..<40_000 {
      let address: DeviceAddress
      switch index % 8 {
      case 0:
        address = try #require(
          keys[index % keys.count].resolvableAddress(prand: .random(in: 0...0xFF_FFFF, using: &random))
        )
      case 1 where !pool.isEmpty: address = pool[Int.random(in: 0..<pool.count, using: &random)]
      default: address = DeviceAddress(bits: .random(in: .min ... .max, using: &random), kind: .random)
      }
      pool.append(address)
      let said = used.resolve(address)
      if index % 16 == 0 {
        var other = fresh
        #expect(other.resolve(address) == said)
      }
    }
  }

  @Test("an address is resolved once, and one that cannot be resolved is never tried")
  func work() throws {
    let (site, _) = Self.site(tags: 5, seed: 5)
    var resolver = try #require(Resolver(site: site))
    let outsider = DeviceAddress(bits: 0x4123_4567_89AB, kind: .random)
    for _ in 0..<100 { _ = resolver.resolve(outsider) }
    #expect(resolver.trials == 1)
    for bits: UInt64 in 0..<100 {
      _ = resolver.resolve(DeviceAddress(bits: 0xC000_0000_0000 | bits, kind: .random))
    }
    #expect(resolver.trials == 1)
    #expect(resolver.keys == 5)
  }

  @Test("of two tags with one key the first of the site has the address")
  func twice() throws {
    var (site, keys) = Self.site(tags: 1, seed: 6)
    site.beacons.append(
      BeaconEntry(constraint: .address(DeviceAddress(bits: 9, kind: .unknown)), identityKey: keys[0])
    )
    var resolver = try #require(Resolver(site: site))
    let made = try #require(keys[0].resolvableAddress(prand: 77))
    #expect(resolver.resolve(made)?.bits == 0xAC23_3F00_0000)
  }

  @Test("in a batch only the adverts of resolved addresses change, and those in their address alone")
  func batches() throws {
    let (site, keys) = Self.site(tags: 2, seed: 7)
    var resolver = try #require(Resolver(site: site))
    var batch = ReportBatch()
    let observer = batch.index(of: .name("gate"))
    let made = try #require(keys[1].resolvableAddress(prand: 5))
    let outsiders = [
      DeviceAddress(bits: 0xC000_0000_0001, kind: .random),
      DeviceAddress(bits: 0x4000_0000_0001, kind: .random),
    ]
    for (place, address) in [outsiders[0], made, nil, outsiders[1]].enumerated() {
      let advert = Advert(
        address: address,
        rssi: RSSI(dBm: Int8(-40 - place)),
        pdu: .extended,
        channel: 38,
        advertisingSet: 3,
        payload: batch.append(payload: [UInt8(place)])
      )
      batch.append(
        Report(observer: observer, received: Timestamp(seconds: 1), timing: .received, body: .advert(advert))
      )
    }
    batch.append(
      Report(observer: observer, received: Timestamp(seconds: 1), timing: .received, body: .displayOn)
    )
    var resolved = batch
    resolver.resolve(&resolved)
    var expected = Array(batch.reports)
    guard case .advert(var advert) = expected[1].body else { return }
    advert.address = DeviceAddress(bits: 0xAC23_3F00_0001, kind: .unknown)
    expected[1].body = .advert(advert)
    #expect(Array(resolved.reports) == expected)
    #expect(resolved.payloads == batch.payloads)
    var later = batch
    resolver.resolve(&later, from: 2)
    #expect(later == batch)
  }
}
