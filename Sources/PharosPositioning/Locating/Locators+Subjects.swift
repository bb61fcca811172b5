import PharosEvents
import PharosReports

extension Locators {
  /// The place of a subject, made if it is missing and if need be by forgetting others.
  mutating func place(
    of id: SubjectID,
    _ reach: GroundReach,
    at instant: Timestamp,
    into events: inout [Event]
  ) -> Int {
    // A subject that has been silent for too long is forgotten as of its own deadline, whether time has run on or not.
    if let place = places[id], subjects[place].touched + Locators.memory < instant {
      run(place, through: subjects[place].touched + Locators.memory, into: &events)
      forget(place)
    }
    if let place = places[id] {
      if reach.isTelling, subjects[place].note(reach) {
        run(place, through: instant - .oneNanosecond, into: &events)
        counted.add(subjects[place].counters())
        subjects[place].move(to: reach.best, locator: locator(of: id, on: reach.best))
      }
      return place
    }
    if places.count >= limit {
      // Those who go have had their fixes up to here.
      advance(to: instant - .oneNanosecond, into: &events)
      evict()
    }
    generation &+= 1
    let subject = LocatedSubject(
      id,
      generation: generation,
      on: reach.best,
      isAtHome: reach.mostKnown > 0,
      locator: locator(of: id, on: reach.best),
      at: instant
    )
    let place = free.popLast() ?? subjects.count
    if place == subjects.count { subjects.append(subject) } else { subjects[place] = subject }
    places[id] = place
    return place
  }

  private func locator(of id: SubjectID, on ground: Int) -> Locator {
    var rules = grounds[ground].rules
    rules.interval = settings.interval
    rules.lag = settings.lag
    if case .beacon = id { rules.lag = max(rules.lag, Locators.leastTagLag) }
    if let particles = settings.particles { rules.particles = particles }
    return Locator(ground: grounds[ground], rules: rules, seed: seed(of: id))
  }

  /// A number that the stream and the subject alone decide: FNV-1a over both names, a zero between them.
  private func seed(of id: SubjectID) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in stream.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    hash = hash &* 0x100_0000_01B3
    for byte in id.description.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash
  }

  /// Forgets a sixteenth of the subjects, those that were silent longest, if there are too many.
  private mutating func evict() {
    guard places.count >= limit else { return }
    let stalest = subjects.indices
      .filter { subjects[$0].isLive }
      .map { (place: $0, touched: subjects[$0].touched, id: subjects[$0].id) }
      .sorted { ($0.touched, $0.id) < ($1.touched, $1.id) }
      .prefix(max(1, limit / 16))
    for entry in stalest {
      counted.evictions &+= 1
      forget(entry.place)
    }
  }

  /// Frees the place of a subject.
  mutating func forget(_ place: Int) {
    counted.add(subjects[place].counters())
    places[subjects[place].id] = nil
    subjects[place].leave()
    free.append(place)
  }
}
