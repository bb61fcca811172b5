import PharosModel
import PharosPresence
import Testing

@Suite("How tracks are laid out")
struct TrackLayoutTests {
  static let address = DeviceAddress(bits: 0xAC23_3FA0_0001, kind: .unknown)
  static let namespace = EddystoneNamespace(high: 5, low: 6)
  static let beacons: [BeaconID] = [
    Timeline.beacon(), Timeline.beacon(2, 9), .address(address), .eddystone(namespace, instance: 7),
    .eddystone(EddystoneNamespace(high: 5, low: 7), instance: 0xFFFF_FFFF_FFFF),
    .proximity(UUID128(high: 5, low: 6), major: 0xFFFF, minor: 0xFFFF),
  ]

  @Test(
    "identities come back from the number of their scope and their key, with an address in the key or not"
  )
  func identities() {
    var table = ScopeTable()
    for beacon in TrackLayoutTests.beacons { _ = table.insert(BeaconScope(beacon)) }
    for beacon in TrackLayoutTests.beacons {
      let number = table.number(of: BeaconScope(beacon))
      let key = ScopeTable.key(of: beacon)
      #expect(table.beacon(number, key: key, address: nil) == beacon)
      guard beacon.kind != .address else { continue }
      let keyed = beacon.keyed(by: TrackLayoutTests.address)
      #expect(table.beacon(number, key: key, address: TrackLayoutTests.address.bits) == keyed)
    }
  }

  @Test("a scope keeps its number while others come, and one that nothing asks about has none")
  func numbers() {
    var table = ScopeTable()
    var numbers: [UInt32] = []
    func scope(_ low: UInt64) -> BeaconScope {
      BeaconScope(.proximity(UUID128(high: 1, low: low), major: 0, minor: 0))
    }
    for low in 0..<UInt64(500) { numbers.append(table.insert(scope(low))) }
    #expect(Set(numbers).count == 500)
    for low in 0..<UInt64(500) { #expect(table.number(of: scope(low)) == numbers[Int(low)]) }
    #expect(table.number(of: scope(500)) == 0)
  }
}
