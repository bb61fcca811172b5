import PharosReports

/// Looking ahead where somebody asks about addresses: an advert then has up to three identities, and goes the short way if
/// one of them at most has a track.
///
/// As on the long way: its frame's identity with the address as a part of the key, that identity alone unless the first
/// one replaces it, and the address.
extension StageOne {
  /// Finds the one track of each advert that asks for no more; the others go the long way.
  static func findAmongAddresses(
    _ states: [ObserverState],
    _ plan: inout [Ahead],
    _ count: Int,
    _ catalog: borrowing RegionCatalog,
    _ hash: KeyedHash,
    _ epoch: UInt32,
    _ strangers: inout [UInt64]
  ) {
    let states = states.span
    for index in 0..<count where plan[index].way == .known || plan[index].way == .stranger {
      let number = Int(plan[index].observer)
      let identity = plan[index].way == .known ? plan[index].beacon : nil
      let isLasting = plan[index].sampleKey & (Hearing.privateMark | Hearing.namelessMark) == 0
      let address = isLasting ? DeviceAddress(bits: plan[index].sampleKey, kind: .unknown) : nil
      var search = TrackSearch(observer: number, epoch: epoch, isKeyable: isLasting)
      if catalog.hasKeys, let address, let identity {
        let keyed = identity.keyed(by: address)
        search.look(for: keyed, hash(keyed), in: states[unchecked: number].table, catalog, &strangers)
      }
      if let identity, !search.isReplacing(in: states[unchecked: number], catalog) {
        search.look(
          for: identity,
          plan[index].hash,
          in: states[unchecked: number].table,
          catalog,
          &strangers
        )
      }
      if catalog.hasAddresses, let address {
        let beacon = BeaconID.address(address)
        search.look(for: beacon, hash(beacon), in: states[unchecked: number].table, catalog, &strangers)
      }
      plan[index].track = search.track
      plan[index].way = search.isSole ? search.track < 0 ? .stranger : .known : .long
      if let beacon = search.beacon { plan[index].beacon = beacon }
    }
  }
}

/// The search for the one track that an advert has.
private struct TrackSearch {
  let observer: Int
  let epoch: UInt32
  let isKeyable: Bool
  /// Whether there is one track at most, and nobody asks about the other identities.
  var isSole = true
  /// The place of the track, or −1.
  var track: Int32 = -1
  /// Its identity.
  var beacon: BeaconID?

  init(observer: Int, epoch: UInt32, isKeyable: Bool) {
    self.observer = observer
    self.epoch = epoch
    self.isKeyable = isKeyable
  }

  mutating func look(
    for identity: BeaconID,
    _ hash: UInt64,
    in table: borrowing IdentityTable,
    _ catalog: borrowing RegionCatalog,
    _ strangers: inout [UInt64]
  ) {
    let place = table.candidate(hash)
    if place >= 0 {
      isSole = isSole && track < 0
      track = place
      beacon = identity
      return
    }
    let mark = Stranger(hash, observer: observer, epoch: epoch, isKeyable: isKeyable)
    guard !mark.stands(in: strangers) else { return }
    guard !catalog.mayAsk(about: identity) else {
      isSole = false
      return
    }
    strangers[mark.place] = mark.word
  }

  /// Whether the track that was found stands for the identity without its address as well.
  func isReplacing(in state: borrowing ObserverState, _ catalog: borrowing RegionCatalog) -> Bool {
    guard let beacon, state.tracks.indices.contains(Int(track)),
      state.tracks[Int(track)].isKnown(as: beacon, epoch: state.epoch)
    else { return false }
    return catalog.sets[Int(state.tracks[Int(track)].matchSet)].replacesPlain
  }
}
