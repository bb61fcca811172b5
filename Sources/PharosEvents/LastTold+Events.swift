public import PharosReports

extension LastTold {
  /// Takes an event into account; one that changes no row (an answer, an enter, a battery) changes nothing.
  ///
  /// - Complexity: logarithmic in the number of words where there is a word already, linear otherwise.
  public mutating func note(_ event: Event) {
    switch (event.kind, event.detail) {
    case (.regionState, .region(let transition)) where !transition.isAnswer:
      let (index, isThere) = regionPlace(
        application: event.application,
        region: event.region,
        subject: event.subject
      )
      let word = RegionWord(event, transition, before: isThere ? regions[index] : nil)
      if isThere { regions[index] = word } else { regions.insert(word, at: index) }
    case (.zoneEnter, _), (.zoneExit, _):
      guard case .beacon(let beacon) = event.subject else { return }
      let (index, isThere) = zones.place {
        $0.beacon < beacon ? .before : $0.beacon == beacon ? .same : .after
      }
      // Who leaves a zone after it entered another one stays in the other.
      if event.kind == .zoneExit, isThere, let zone = zones[index].zone,
        !zone.utf8.elementsEqual(event.region.utf8)
      {
        return
      }
      let word = ZoneWord(
        beacon: beacon,
        zone: event.kind == .zoneEnter ? event.region : nil,
        time: event.time,
        decidedAt: event.decidedAt
      )
      if isThere { zones[index] = word } else { zones.insert(word, at: index) }
    case (.observerOnline, _), (.observerOffline, _):
      guard case .observer(let observer) = event.subject else { return }
      let (index, isThere) = observers.place {
        $0.observer < observer ? .before : $0.observer == observer ? .same : .after
      }
      let word = ObserverWord(
        observer: observer,
        isUp: event.kind == .observerOnline,
        time: event.time,
        decidedAt: event.decidedAt
      )
      if isThere { observers[index] = word } else { observers.insert(word, at: index) }
    default: break
    }
  }

  /// The word about a region and a subject, if there is one.
  public func region(application: String, region: String, subject: SubjectID) -> RegionWord? {
    let (index, isThere) = regionPlace(application: application, region: region, subject: subject)
    return isThere ? regions[index] : nil
  }

  /// Puts the words into the order in which ``note(_:)`` keeps them.
  public mutating func sort() {
    regions.sort { $0.isBefore($1.application, $1.region, $1.subject) == .before }
    zones.sort { $0.beacon < $1.beacon }
    observers.sort { $0.observer < $1.observer }
  }

  private func regionPlace(
    application: String,
    region: String,
    subject: SubjectID
  ) -> (index: Int, isThere: Bool) {
    regions.place { $0.isBefore(application, region, subject) }
  }
}

/// Where an element stands in relation to what is looked for.
private enum Order {
  case before, same, after
}

extension LastTold.RegionWord {
  /// What a change of state says, given what was said before.
  fileprivate init(_ event: Event, _ transition: RegionTransition, before: LastTold.RegionWord?) {
    let lastKnown =
      switch (transition.to, transition.from) {
      case (.unmonitored, .unmonitored): before?.lastKnown ?? .unknown
      case (.unmonitored, let from): from
      case (let to, _): to
      }
    let kept = before?.lastKnown == .inside ? before?.enteredAt : nil
    let beginning = transition.to == .inside ? event.time : nil
    self.init(
      application: event.application,
      region: event.region,
      subject: event.subject,
      state: transition.to,
      lastKnown: lastKnown,
      enteredAt: lastKnown == .inside ? transition.enteredAt ?? kept ?? beginning : nil,
      refinement: transition.refinement,
      observer: transition.observer,
      time: event.time,
      decidedAt: event.decidedAt
    )
  }

  fileprivate func isBefore(_ application: String, _ region: String, _ subject: SubjectID) -> Order {
    let names = [(self.application, application), (self.region, region)]
    for (mine, other) in names where !mine.utf8.elementsEqual(other.utf8) {
      return mine.utf8.lexicographicallyPrecedes(other.utf8) ? .before : .after
    }
    return self.subject == subject ? .same : self.subject < subject ? .before : .after
  }
}

extension Array {
  /// Where what is looked for is in a sorted array, or where it belongs.
  fileprivate func place(_ order: (Element) -> Order) -> (index: Int, isThere: Bool) {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      switch order(self[middle]) {
      case .same: return (middle, true)
      case .before: low = middle + 1
      case .after: high = middle
      }
    }
    return (low, false)
  }
}
