extension Event {
  /// Returns the event as far as an accuracy allows; nil if what it says is finer.
  ///
  /// This is the one function that reduces. What reports a location keeps the names of the places that the accuracy
  /// allows. Regions and ranged beacons are finer than any of them, as in Core Location, and what follows from them or
  /// leads along a way is too.
  package func reduced(to accuracy: AccuracyAuthorisation) -> Event? {
    guard accuracy.isReduced else { return self }
    guard accuracy >= kind.coarsestAccuracy else { return nil }
    switch detail {
    case .fix(let fix): return with(.fix(fix.reduced(to: accuracy)))
    case .visit(let visit): return reduced(visit, to: accuracy)
    case .zone(let transition): return with(.zone(transition.reduced))
    case .region, .regionLimit, .regionReset, .ranging, .observer, .battery, .clockStep, .authorisation,
      .notification, .positioning, .scanRequest, .guidance, .occupancy:
      return self
    }
  }

  /// The event of a visit has other ids: its own are hashes of the place, which could be guessed.
  private func reduced(_ visit: VisitDetail, to accuracy: AccuracyAuthorisation) -> Event {
    let visit = visit.reduced(to: accuracy, of: subject)
    return Event(
      id: kind == .visitArrive ? visit.visit : EventID.ofReduced(visit, of: subject, kind),
      kind: kind,
      time: time,
      decidedAt: decidedAt,
      stage: stage,
      subject: subject,
      application: application,
      region: visit.place?.identifier ?? "",
      ordinal: ordinal,
      detail: .visit(visit)
    )
  }
}

extension EventKind {
  /// The coarsest accuracy at which an application receives events of the kind.
  package var coarsestAccuracy: AccuracyAuthorisation {
    switch self {
    case .regionState, .regionsOutside, .regionEnter, .regionExit, .regionUnmonitored, .regionHoldExceeded,
      .ranging,
      .beaconBattery, .notification, .positioningState, .scanRequested, .guidance:
      .full
    case .zoneExit, .zoneEnter, .zoneUnmonitored, .zoneMonitored, .zoneHoldExceeded, .zoneOccupancy: .zone
    case .regionLimitExceeded, .regionReset, .observerOnline, .observerOffline, .observerRestarted,
      .observerQuarantined, .clockStepped, .fix, .visitArrive, .visitDepart, .authorisationChanged:
      .venue
    }
  }
}

extension FixDetail {
  /// Returns the fix as far as an accuracy allows: the names of places, without coordinates, movement and route.
  ///
  /// What made it is kept, as `CLLocation` keeps its `sourceInformation`; visual positioning is not said, since the places
  /// that have it are finer than a venue.
  package func reduced(to accuracy: AccuracyAuthorisation) -> FixDetail {
    guard accuracy.isReduced else { return self }
    var reduced = FixDetail(venue: venue, horizontalAccuracy: -1, sources: sources, age: age)
    reduced.accuracy = accuracy
    reduced.sourceInformation = sourceInformation.subtracting(.visualPositioning)
    if accuracy >= .building { reduced.building = building }
    if accuracy >= .floor { (reduced.level, reduced.floorName) = (level, floorName) }
    if accuracy >= .zone { reduced.room = room }
    return reduced
  }
}

extension VisitDetail {
  /// Returns the visit as far as an accuracy allows.
  ///
  /// - Parameters:
  ///   - accuracy: the accuracy.
  ///   - subject: the subject, which identifies the visit together with its arrival.
  /// - Returns: the reduced visit.
  package func reduced(to accuracy: AccuracyAuthorisation, of subject: SubjectID) -> VisitDetail {
    guard accuracy.isReduced else { return self }
    var reduced = VisitDetail(visit: visit, arrival: arrival, departure: departure, venue: venue)
    reduced.accuracy = accuracy
    if accuracy >= .building {
      reduced.floor = floor.map { floor in
        let isShown = accuracy >= .floor
        return Floor(
          building: floor.building,
          level: isShown ? floor.level : 0,
          name: isShown ? floor.name : nil,
          x: 0,
          y: 0
        )
      }
    }
    if accuracy >= .zone, let place, place.kind != .pointOfInterest { reduced.place = place }
    switch evidence.end {
    case .lasting, .silence, .dropped: reduced.evidence.end = evidence.end
    // What ended it may tell of a change of floor or zone.
    case .moved, .changedFloor, .leftZone: reduced.evidence.end = .moved
    }
    reduced.visit = EventID.ofReduced(reduced, of: subject, .visitArrive)
    return reduced
  }
}

extension EventID {
  /// The id of an event of a reduced visit: of what the reader knows, the subject and the arrival.
  fileprivate static func ofReduced(_ visit: VisitDetail, of subject: SubjectID, _ kind: EventKind) -> EventID
  {
    EventID(
      stream: "",
      application: "",
      region: "",
      subject: subject,
      kind: kind.rawValue,
      counter: UInt64(bitPattern: visit.arrival.nanoseconds)
    )
  }
}

extension ZoneTransition {
  /// The transition without the levels and observers, which are finer than a zone.
  fileprivate var reduced: ZoneTransition {
    ZoneTransition(from: from, to: to, margin: nil, dwell: dwell, reason: reason)
  }
}
