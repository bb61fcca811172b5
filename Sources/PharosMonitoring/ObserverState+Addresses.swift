import PharosReports

/// Whose address it is: a track's place, and what tells its beacon from another one that came there later.
struct AddressOwner: Hashable, Sendable {
  var place: Int32
  var mark: UInt32

  init(place: Int, beacon: BeaconID) {
    self.place = Int32(place)
    mark = UInt32(truncatingIfNeeded: KeyedHash.fold(beacon))
  }
}

/// Telemetry names nothing but an address: which beacon is meant is known from the identities that came from there.
extension ObserverState {
  /// Takes note of an Eddystone beacon's address.
  ///
  /// One identity may come from any number of addresses, of which no more are kept than tracks. Those of forgotten tracks
  /// are left where they are until the room is needed.
  mutating func note(_ address: DeviceAddress, of track: Int, atMost limit: Int) {
    let beacon = tracks[track].beacon
    guard beacon.kind == .eddystone else { return }
    if beaconOfAddress.count >= limit, beaconOfAddress[address.bits] == nil {
      beaconOfAddress = liveAddresses
      guard beaconOfAddress.count < limit else { return }
    }
    beaconOfAddress[address.bits] = AddressOwner(place: track, beacon: beacon)
  }

  /// The track of the Eddystone beacon with an address.
  mutating func track(ofAddress bits: UInt64) -> Int? {
    beaconOfAddress[bits].flatMap { isOwned($0) ? Int($0.place) : nil }
  }

  /// The addresses of tracks that are still there.
  var liveAddresses: [UInt64: AddressOwner] { beaconOfAddress.filter { isOwned($0.value) } }

  private func isOwned(_ owner: AddressOwner) -> Bool {
    let place = Int(owner.place)
    guard place < tracks.count, tracks[place].isLive else { return false }
    return owner == AddressOwner(place: place, beacon: tracks[place].beacon)
  }
}
