import PharosReports

/// Looking at many tracks at once.
extension StageOne {
  /// What is known about tracks, in the order of their keys, a page at a time.
  ///
  /// A pure look, which takes time in proportion to the tracks of the observers that it passes.
  public func tracks(_ query: TrackQuery) -> [TrackInsight] {
    var found: [TrackInsight] = []
    for index in observers(of: query) {
      var state = states[index]
      let after = query.after.flatMap { $0.observer == state.id ? $0.beacon : nil }
      for place in state.places(query.beacon, after: after, limit: query.limit - found.count, hash: hash) {
        found.append(insight(into: place, of: &state))
      }
      if found.count >= query.limit { break }
    }
    return found
  }

  /// The places of the observers that a query is about, in order.
  private func observers(of query: TrackQuery) -> [Int] {
    if let wanted = query.observer {
      guard query.after.map({ $0.observer <= wanted }) ?? true else { return [] }
      return observerTable.find(hash(wanted), where: { states[$0].id == wanted }).map { [$0] } ?? []
    }
    let first = query.after?.observer
    return states.indices.filter { place in
      states[place].isLive && (first.map { $0 <= states[place].id } ?? true)
    }
    .sorted { states[$0].id < states[$1].id }
  }
}

extension ObserverState {
  /// The places of the first so many tracks behind a beacon, in the order of their beacons.
  fileprivate mutating func places(
    _ wanted: BeaconID?,
    after: BeaconID?,
    limit: Int,
    hash: KeyedHash
  ) -> [Int] {
    if let wanted {
      guard after.map({ $0 < wanted }) ?? true else { return [] }
      return track(of: wanted, hash: hash(wanted)).map { [$0] } ?? []
    }
    var places: [(beacon: BeaconID, place: Int)] = []
    var greatest: BeaconID?
    for place in tracks.indices where tracks[place].isLive {
      let beacon = tracks[place].beacon
      guard after.map({ $0 < beacon }) ?? true, greatest.map({ beacon < $0 }) ?? true else { continue }
      places.append((beacon, place))
      guard places.count >= 2 * limit else { continue }
      places.sort { $0.beacon < $1.beacon }
      places.removeSubrange(limit...)
      greatest = places.last?.beacon
    }
    return places.sorted { $0.beacon < $1.beacon }.prefix(limit).map(\.place)
  }
}
