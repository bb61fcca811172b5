import PharosCaptures
import PharosIngest
import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("Conflicts that the input proves")
struct SiteConflictTests {
  private static let start = Timestamp(seconds: 1_700_000_000)

  private func heard(_ beacons: [(address: UInt64, first: Double, last: Double)]) throws -> Heard {
    let identity = try #require(BeaconID("FDA50693-A4E2-4FB1-AFCF-C6EB07647825/1/2"))
    var heard = Heard()
    heard.beacons = beacons.map { address, first, last in
      HeardBeacon(
        observer: .name("hall"),
        address: DeviceAddress(bits: 0xC300_000A_0B00 | address, kind: .random),
        identities: [identity],
        name: nil,
        rssi: nil,
        firstHeard: Self.start + .seconds(first),
        lastHeard: Self.start + .seconds(last),
        advertsPerSecond: nil
      )
    }
    return heard
  }

  @Test("two tags with one identity are named until one is silent or they are kept apart")
  func sharedIdentity() throws {
    let both = try heard([(1, 0, 900), (2, 300, 905)])
    let conflicts = both.conflicts(with: Site())
    #expect(conflicts.map(\.kind) == [.sharedIdentity] && conflicts[0].addresses.count == 2)
    #expect(!conflicts[0].message.contains("c3:00"))
    #expect(try heard([(1, 0, 300), (2, 300, 900)]).conflicts(with: Site()).isEmpty)
    #expect(try heard([(1, 0, 900), (2, 300, 3_000)]).conflicts(with: Site()).isEmpty)
    var keyed = Site()
    let constraint = BeaconEntry.constraint(of: both.beacons[0].identities[0])
    keyed.beacons = [BeaconEntry(constraint: constraint, keyedByAddress: true)]
    #expect(both.conflicts(with: keyed).isEmpty)
  }

  @Test("gateways in two spellings or with one name are named", arguments: Seeds.drawn(0..<20))
  func observers(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bits = UInt64.random(in: 1..<1 << 40, using: &random)
    let pairs: [(ObserverID, ObserverID)] = [
      (.eui48(bits), .eui48(bits.byteSwapped >> 16)), (.eui64(bits), .eui64(bits.byteSwapped)),
      (.name("Kitchen"), .name("kitchen")),
    ]
    for (one, other) in pairs where one != other {
      var site = Site()
      site.observers = [ObserverEntry(id: one)]
      var heard = Heard()
      heard.observers = [one, other].map {
        HeardObserver(
          id: $0,
          source: Endpoint(IPAddress(v4: 1), port: 1),
          format: .json,
          firstHeard: Self.start,
          lastHeard: Self.start,
          reportsPerSecond: nil
        )
      }
      #expect(heard.conflicts(with: site).map(\.kind) == [.spelling])
      heard.observers = []
      #expect(heard.conflicts(with: site).isEmpty)
      site.observers = [one, .name("other")].map { ObserverEntry(id: $0) }
      site.observers[0].name = "Hall"
      site.observers[1].name = "hall"
      #expect(heard.conflicts(with: site).map(\.kind) == [.sharedName])
    }
  }
}
