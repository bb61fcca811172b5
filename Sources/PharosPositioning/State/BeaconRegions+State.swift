import PharosReports

extension BeaconRegions {
  /// Writes the regions with what they ask, in their places.
  func writeState(to writer: inout FieldWriter) {
    writer.write(UInt32(truncatingIfNeeded: entries.count))
    for entry in entries {
      writer.write(entry != nil)
      guard let entry else { continue }
      writer.write(entry.key.application)
      entry.region.write(to: &writer)
      writer.write(entry.assuming.rawValue)
      entry.since.write(to: &writer)
      writer.write(entry.isRotated)
    }
  }

  /// Restores the monitoring start and the assumed state of each region whose definition is the same as in the state.
  ///
  /// - Parameters:
  ///   - known: The regions of the state, by their places in it.
  ///   - instant: The monitoring start of all other regions.
  /// - Returns: The present place of each region of the state, or nil where no region has the same key and definition
  ///   now.
  mutating func restore(_ known: [Entry?], at instant: Timestamp) -> [Int?] {
    let places = known.map { old -> Int? in
      guard let old, let place = place(of: old.key), let entry = entries[place] else { return nil }
      guard entry.region.asksTheSame(as: old.region) else { return nil }
      entries[place]?.since = old.since
      entries[place]?.assuming = old.assuming
      return place
    }
    let kept = Set(places.compactMap { $0 })
    for place in entries.indices where !kept.contains(place) { entries[place]?.since = instant }
    return places
  }
}

/// The regions of a state, in their places there.
struct RestoredRegions {
  /// The regions by place; a place that was free is nil.
  let entries: [BeaconRegions.Entry?]

  /// Reads them.
  init(from reader: inout FieldReader) throws(FieldError) {
    var entries: [BeaconRegions.Entry?] = []
    var seen: Set<BeaconRegions.Key> = []
    for _ in 0..<(try reader.count()) {
      guard try reader.flag() else {
        entries.append(nil)
        continue
      }
      let application = try reader.text()
      let region = try Region(from: &reader)
      let key = BeaconRegions.Key(application: application, identifier: region.identifier)
      guard seen.insert(key).inserted else { throw reader.failure(.badIdentity) }
      entries.append(
        BeaconRegions.Entry(
          key: key,
          region: region,
          assuming: try reader.state(),
          since: try Timestamp(from: &reader),
          isRotated: try reader.flag()
        )
      )
    }
    self.entries = entries
  }
}
