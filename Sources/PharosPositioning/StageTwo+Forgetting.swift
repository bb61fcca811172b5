import PharosEvents
import PharosReports

extension StageTwo {
  /// Forgets a subject: where it is, and that it ever said anything of others.
  ///
  /// A beacon that was inside becomes unmonitored, which is no exit. What a forgotten observer alone has said of beacons stays
  /// true as long as that of an observer that went down, but no longer names it.
  mutating func forget(_ traces: SubjectTraces, into events: inout [Event]) {
    locators?.forget(traces)
    for place in tags.slots where tags.isTaken(place) {
      if traces.contains(tags.store[place].beacon) {
        evict(place, into: &events)
      } else if let observer = traces.observer {
        forget(observer, by: place)
      }
    }
    if let observer = traces.observer { live[observer] = nil }
  }

  private mutating func forget(_ observer: ObserverID, by place: Int) {
    var isConcerned = false
    for index in tags.store[place].rows.indices where tags.store[place].rows[index].names(observer) {
      let now = now
      isConcerned = tags.update(place) { $0.rows[index].forget(observer, at: now) } ?? false || isConcerned
    }
    if isConcerned { touch(place) }
  }
}

extension RegionRow {
  /// The identifier that replaces that of a forgotten observer.
  private static let erasedObserver = ObserverID.name("erased")

  /// Whether an observer is remembered here.
  func names(_ observer: ObserverID) -> Bool {
    farewell?.observer == observer || hearings.contains { $0.observer == observer }
  }

  /// Forgets an observer; what it heard counts like that of one that went down.
  ///
  /// - Returns: whether there may be something to conclude from it.
  mutating func forget(_ observer: ObserverID, at now: Timestamp) -> Bool {
    if farewell?.observer == observer { farewell?.observer = nil }
    guard let index = hearings.firstIndex(where: { $0.observer == observer }) else { return false }
    let gone = hearings.remove(at: index)
    isDirty = true
    hearings.removeAll { $0.observer == RegionRow.erasedObserver }
    let place = hearings.firstIndex { RegionRow.erasedObserver < $0.observer } ?? hearings.count
    hearings.insert(
      Hearing(
        observer: RegionRow.erasedObserver,
        isDark: true,
        time: gone.isDark ? gone.time : now,
        lastHeard: gone.isDark ? gone.lastHeard : now,
        evidence: Evidence(rule: .observerOutage)
      ),
      at: place
    )
    return true
  }
}
