import PharosPlaces

/// Joins the units of an IMDF archive that lie over each other into connectors.
///
/// A lift joins every floor on which there is a lift at its place; stairs, escalators and ramps join a floor with the next
/// one above it. Two shafts are one where the middle of either lies in the other.
struct ShaftJoining {
  /// The connectors, in the order of the shafts.
  let connectors: [Connector]

  init(_ shafts: [IMDFReading.Shaft]) {
    var group = Array(shafts.indices)
    func root(_ index: Int) -> Int {
      var index = index
      while group[index] != index { index = group[index] }
      return index
    }
    for upper in shafts.indices {
      for lower in 0..<upper where ShaftJoining.areOne(shafts[upper], shafts[lower]) {
        let (first, second) = (root(lower), root(upper))
        group[max(first, second)] = min(first, second)
      }
    }
    var members: [Int: [IMDFReading.Shaft]] = [:]
    for index in shafts.indices { members[root(index), default: []].append(shafts[index]) }
    connectors = members.keys.sorted().compactMap { key in
      guard let joined = members[key], let first = joined.first else { return nil }
      let stops = joined.map { Connector.Stop(floor: $0.floor, point: $0.point) }
      return Connector(identifier: first.id, kind: first.kind, stops: stops.sorted { $0.floor < $1.floor })
    }
  }

  private static func areOne(_ one: IMDFReading.Shaft, _ other: IMDFReading.Shaft) -> Bool {
    guard one.kind == other.kind, one.floor.building == other.floor.building else { return false }
    let rise = (one.floor.level - other.floor.level).magnitude
    guard rise > 0, one.kind == .lift || rise == 1 else { return false }
    return one.area.contains(other.point) || other.area.contains(one.point)
  }
}
