import PharosMonitoring
import PharosReports
import PharosTestSupport
import Testing

@Suite("The store of tracks and the hash of identities")
struct TrackStoreTests {
  private static func track(_ number: Int) -> Track {
    Track(
      beacon: .proximity(UUID128(high: 1, low: UInt64(number)), major: 0, minor: 0),
      at: Timestamp(seconds: Int64(number)),
      number: 0,
      set: MatchSet(),
      epoch: 1
    )
  }

  @Test("a track takes two cache lines")
  func size() { #expect(MemoryLayout<Track>.stride == 128) }

  @Test(
    "tracks stay where they were put, and begin at two cache lines' bounds",
    arguments: [1, 15, 16, 17, 700]
  )
  func places(count: Int) {
    var store = TrackStore()
    for number in 0..<count { store.append(TrackStoreTests.track(number)) }
    #expect(store.count == count)
    let first = store.borrowed()[0]
    #expect(Int(bitPattern: first) % 128 == 0)
    for number in 0..<count { #expect(store[number].lastHeard == Timestamp(seconds: Int64(number))) }
    #expect(store.borrowed()[Int32(count)] == nil)
    #expect(store.borrowed()[-1] == nil)
    #expect(first == store.borrowed()[0])
  }

  @Test("a copy shares nothing once one of the two is changed")
  func copies() {
    var store = TrackStore()
    for number in 0..<40 { store.append(TrackStoreTests.track(number)) }
    var copy = store
    copy[20].lastHeard = Timestamp(seconds: 1_000)
    copy.append(TrackStoreTests.track(40))
    store[21].lastHeard = Timestamp(seconds: 2_000)
    #expect(store[20].lastHeard == Timestamp(seconds: 20))
    #expect(copy[20].lastHeard == Timestamp(seconds: 1_000))
    #expect(copy[21].lastHeard == Timestamp(seconds: 21))
    #expect(store.count == 40)
    #expect(copy.count == 41)
    store.removeAll()
    #expect(store.isEmpty)
    #expect(copy[39].lastHeard == Timestamp(seconds: 39))
  }

  @Test("due times lie beside tracks, never on them, wherever the allocator puts a page")
  func dues() {
    var stores: [TrackStore] = []
    var neighbours: [(bytes: [UInt8], value: UInt8)] = []
    for number in 0..<60 {
      var store = TrackStore()
      for place in 0..<25 {
        store.append(TrackStoreTests.track(place))
        // Pages begin at other distances from a cache line each time.
        neighbours.append((Array(repeating: UInt8(number), count: 16 * (number + place)), UInt8(number)))
      }
      for place in store.indices { store.setDue(Timestamp(seconds: Int64(number * 100 + place)), of: place) }
      stores.append(store)
    }
    for (number, store) in stores.enumerated() {
      for place in store.indices {
        #expect(store.due(of: place) == Timestamp(seconds: Int64(number * 100 + place)))
        #expect(store[place].lastHeard == Timestamp(seconds: Int64(place)))
      }
      #expect(store.firstDue(inPage: 2)?.place == 16)
      #expect(store.firstDue(inPage: 3)?.due == Timestamp(seconds: Int64(number * 100 + 24)))
    }
    for neighbour in neighbours { #expect(neighbour.bytes.allSatisfy { $0 == neighbour.value }) }
  }

  @Test("identities that differ in every part together get hashes of their own")
  func hashes() {
    let hash = KeyedHash()
    var seen: Set<UInt64> = []
    var count = 0
    for tail in 0..<2_000 {
      // Chosen so that sums and differences of the parts are all the same.
      let high = 7 ^ UInt64(tail) << 20
      let low = 1_000_000 - UInt64(tail)
      let beacon = BeaconID(proximityHigh: high, low: low, majorAndMinor: UInt32(tail))
      seen.insert(hash(beacon) >> 32)
      seen.insert(hash(beacon.keyed(by: DeviceAddress(bits: UInt64(tail), kind: .public))) >> 32)
      count += 2
    }
    // Of 4,000 values of 32 bits hardly two are alike by chance.
    #expect(seen.count >= count - 2)
  }
}
