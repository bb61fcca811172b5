import PharosAdvertising
public import PharosEvents
public import PharosReports

/// An edited site takes the place of the one before: what did not change goes on undisturbed.
extension StageOne {
  /// Takes over an edited site, after everything that was due before that instant.
  ///
  /// Regions, rotations and ranging requests change as ``apply(_:at:into:)`` changes them, in the order of
  /// `Site.regionChanges(to:)`; what applications added at run time stays. Of observers the offset, the lag and how their
  /// silence is judged take effect at once: levels that were smoothed are moved by what the offset changed, so that nobody
  /// enters or leaves by an edit. Where only listed observers count from now on, the others are let go: their regions
  /// become unmonitored. A site that is the same changes nothing at all. The name of the stream stays, since it is part of
  /// every id.
  public mutating func adopt(_ site: Site, at instant: Timestamp, into output: inout StageOutput) {
    _ = arrive(at: instant, into: &output)
    adopt(site, self.site.regionChanges(to: site), into: &output)
  }

  /// Takes over a site and the changes of regions that lead to it.
  mutating func adopt(_ next: Site, _ changes: [RegionChange], into output: inout StageOutput) {
    let old = site
    guard old != next || !changes.isEmpty else { return }
    catchUpAll(into: &output)
    let before = entries
    stand(on: next)
    if old.observers != next.observers { retune(from: before) }
    let hasOtherAskers =
      old.beacons != next.beacons || old.zones != next.zones || old.positioning.tags != next.positioning.tags
    if hasOtherAskers {
      catalog.declare(next)
      relearnFacts()
    }
    if hasOtherAskers || old.pathLossExponent != next.pathLossExponent { turnEpoch() }
    if old.admission != next.admission || old.observers != next.observers {
      dismissStrangers(into: &output)
    }
    let limits = catalog.regionLimits
    for application in next.applications {
      catalog.regionLimits[application.identifier] = application.regionLimit
    }
    for change in changes { perform(change, into: &output) }
    guard limits != catalog.regionLimits, catalog.hasRotations else { return }
    catchUpAll(into: &output)
    rotateAll(catalog.rotatedApplications, into: &output)
  }

  /// Goes by what a site declares of itself; regions and tracks are not touched.
  mutating func stand(on next: Site) {
    site = next
    entries = Dictionary(next.observers.map { ($0.id, $0) }) { first, _ in first }
    decoder = FrameDecoder(iBeaconCompanies: next.iBeaconCompanies)
    distance = models.distance ?? .logDistance(exponent: next.pathLossExponent)
  }

  /// What the site would have to declare for the regions, rotations and ranging requests that there are now.
  var declaration: Site {
    var declaration = site
    declaration.applications = catalog.applications(site.applications)
    return declaration
  }

  /// Goes by what is declared of observers now.
  private mutating func retune(from before: [ObserverID: ObserverEntry]) {
    for index in states.indices where states[index].isLive {
      let (old, new) = (before[states[index].id], entries[states[index].id])
      guard old != new else { continue }
      let offset = ObserverState.rssiOffset(of: new)
      if offset != states[index].rssiOffset {
        states[index].shiftLevels(by: offset - states[index].rssiOffset)
        states[index].rssiOffset = offset
      }
      if old?.lag != new?.lag {
        states[index].lag = LagEstimator(given: new?.lag)
        for track in states[index].tracks.indices where states[index].tracks[track].isLive {
          rearm(track: track, of: index)
        }
        for row in states[index].rows.indices where states[index].rows[row].isLive {
          arm(row: row, of: index)
        }
      }
      states[index].life.mode = new?.liveness ?? .auto
      watch(index)
    }
  }

  /// Looks up anew what the directory and the zones say of tracks and observers.
  private mutating func relearnFacts() {
    for index in states.indices where states[index].isLive {
      let stands = catalog.standsInZone(states[index].id)
      if stands, !states[index].standsInZone { states[index].lifeTold = .distantPast }
      states[index].standsInZone = stands
      for track in states[index].tracks.indices where states[index].tracks[track].isLive {
        let facts = catalog.facts(of: states[index].tracks[track].beacon)
        guard states[index].tracks[track].learn(facts) else { continue }
        allow(track: track, of: index)
        rearm(track: track, of: index)
      }
    }
  }
}

extension Track {
  /// Takes over what the directory says; true if that is something else than before.
  fileprivate mutating func learn(_ facts: (measuredPower: Double?, interval: TimeSpan?)) -> Bool {
    let interval = facts.interval.map { Float($0.seconds) }
    let power = facts.measuredPower.map { Float($0) }
    guard
      interval != declaredInterval || (power != nil) != isPowerDeclared || power != nil && power != self.power
    else { return false }
    declaredInterval = interval
    isPowerDeclared = power != nil
    // A power that is declared no more holds until the next frame tells its own.
    if let power { self.power = power }
    return true
  }
}

extension ObserverState {
  /// Moves what was smoothed, so that a change of the offset is no change of anybody's level.
  fileprivate mutating func shiftLevels(by difference: Double) {
    for track in tracks.indices where tracks[track].isLive {
      tracks[track].shiftLevels(by: Float(difference))
    }
  }
}

extension RegionCatalog {
  /// The applications as they would have to be declared, those that are declared first.
  func applications(_ declared: [Application]) -> [Application] {
    var names = declared.map(\.identifier)
    let known = Set(names)
    var others: Set<String> = []
    for name in slots.lazy.filter(\.isLive).map(\.application) where !known.contains(name) {
      if others.insert(name).inserted { names.append(name) }
    }
    for name in rangings.lazy.filter(\.isLive).map(\.application) where !known.contains(name) {
      if others.insert(name).inserted { names.append(name) }
    }
    return names.map { name in
      Application(
        identifier: name,
        regions: slots.filter { $0.isLive && !$0.isRotated && $0.application == name }.map(\.region),
        ranging: rangings.filter { $0.isLive && $0.application == name }.map(\.request),
        rotation: nodes(of: name, under: nil),
        regionLimit: regionLimits[name] ?? Application.defaultRegionLimit
      )
    }
  }

  private func nodes(of application: String, under parent: Int32?) -> [RegionNode] {
    slots.indices.compactMap { place in
      let slot = slots[place]
      guard slot.isLive, slot.isRotated, slot.parent == parent, slot.application == application else {
        return nil
      }
      return RegionNode(region: slot.region, children: nodes(of: application, under: Int32(place)))
    }
  }
}
