public import PharosModel

/// A reason for which an application gets nothing, or less than it might, as `CLServiceSession.Diagnostic` has them since
/// iOS 18, with what to do about it.
public struct ServiceDiagnostic: Hashable, Sendable {
  /// The kinds of reasons, in the order in which they are listed; those that Core Location has are named as there.
  public enum Reason: String, CaseIterable, Hashable, Sendable {
    /// No condition of the application is about the subject, or it has none at all.
    case conditionMissing
    /// The application holds as many regions as it may: one more is refused.
    case conditionLimitExceeded
    /// The server has nothing by which to decide the condition: an area without a map, such as a floor.
    case conditionUnsupported
    /// Nothing has been decided about the application's access to the subject yet.
    case authorizationRequestInProgress
    /// A policy keeps the subject's data from the application.
    case authorizationRestricted
    /// The subject has denied the application its data.
    case authorizationDenied
    /// The application may learn about the subject in live streams alone: webhooks and history have nothing.
    case alwaysAuthorizationDenied
    /// The application has reduced accuracy: it learns the venue, the building, the floor or the zone alone.
    case fullAccuracyDenied
    /// The handset has stopped scanning, for all applications.
    case authorizationDeniedGlobally
    /// A gateway or handset that should report is down.
    case observerDown
    /// No observer is there to hear the subject, or none hears it.
    case noCoverage
    /// The subject has no fix, by which areas are decided.
    case locationUnavailable
    /// The subject's fix is less accurate than the area is large.
    case accuracyLimited
  }

  /// The kind of reason.
  public let reason: Reason
  /// The region that it concerns; nil where it concerns the whole application.
  public let region: String?
  /// The subject that it concerns; `none` where it concerns all subjects.
  public let subject: SubjectID
  /// The observers that it concerns, sorted; at most ``maximumObservers`` of them.
  public let observers: [ObserverID]
  /// The situation, as a sentence.
  public let message: String
  /// The situation in which the application would get its events.
  public let expected: String
  /// The step that leads there.
  public let remedy: String

  /// The largest number of observers that a diagnostic names.
  public static let maximumObservers = 20
}

/// The facts by which it is judged why an application gets nothing, as they are at one instant.
///
/// They hold only what the reader may learn: the caller leaves out observers and hearings that the authorisations hide.
package struct ServiceFacts: Sendable {
  /// An observer that has reported since the server started.
  package struct Observer: Hashable, Sendable {
    /// Indicates whether it counts as up.
    package var isUp: Bool
    /// Indicates whether the site lists it, as it lists gateways.
    package var isListed: Bool
    /// The scanning state of its radio.
    package var scanState: ScanState
    /// The time of its last report.
    package var lastHeard: Timestamp

    package init(isUp: Bool, isListed: Bool, scanState: ScanState, lastHeard: Timestamp) {
      self.isUp = isUp
      self.isListed = isListed
      self.scanState = scanState
      self.lastHeard = lastHeard
    }
  }

  /// The last fix of a subject.
  package enum Location: Hashable, Sendable {
    /// The caller does not follow fixes.
    case unknown
    /// There is no fix, or none of late.
    case unavailable
    /// There is one: the radius, in metres, meant to hold 68 % of truths.
    case within(Double)
  }

  /// The subject that the application asks about.
  package struct Subject: Sendable {
    /// The subject.
    package var id: SubjectID
    /// What the application may learn about it.
    package var authorisation = AuthorisationState.always
    /// Indicates whether the reader may learn about it now; otherwise nothing but the authorisation is stated.
    package var isShown = true
    /// The observers that hear it now; of a beacon.
    package var hearers: [ObserverID] = []
    /// The time at which it was last heard, of a beacon that no observer hears now.
    package var lastHeard: Timestamp?
    /// Its last fix.
    package var location = Location.unknown
    /// The areas that it is in by the decisions about its fixes, which count as long as these say.
    package var inside: Set<String> = []

    package init(_ id: SubjectID) { self.id = id }
  }

  /// The application.
  package var application: String
  /// The regions that it monitors, those of its rotation too.
  package var regions: [Region] = []
  /// The number of regions that count towards its limit.
  package var heldRegions = 0
  /// The largest number of regions that it may hold.
  package var regionLimit = Application.defaultRegionLimit
  /// The beacons that it ranges.
  package var ranging: [BeaconConstraint] = []
  /// The regions that nothing can decide.
  package var unsupported: Set<String> = []
  /// The observers that have reported.
  package var observers: [ObserverID: Observer] = [:]
  /// The positions of the observers on the venues' plans, by which tags are located.
  package var placements: [Geofence.Position] = []
  /// How finely the application may learn of the subjects that it may learn of.
  package var accuracy = AccuracyAuthorisation.full
  /// The numbers of subjects about which the application may not always learn.
  package var withheld: [AuthorisationState: Int] = [:]
  /// The subject that is asked about, or nil for all.
  package var subject: Subject?

  package init(application: String) { self.application = application }

  /// The distance from an area within which a placed observer hears tags in it.
  ///
  /// - Units: metres. 50 m: a beacon is seldom heard farther off within a building.
  private static let hearingRange = 50.0
}

extension ServiceFacts {
  /// Judges the facts: the one function that decides why an application gets nothing.
  ///
  /// - Returns: the reasons, in the order of their kinds; none if all is well.
  package func diagnostics() -> [ServiceDiagnostic] {
    var found = conditions()
    if let subject {
      found += authorisation(of: subject)
      // What hears a subject is where it is: more than reduced accuracy allows.
      if subject.isShown, !accuracy.isReduced { found += about(subject) }
    } else {
      found += withheldSubjects()
      if !regions.isEmpty || !ranging.isEmpty { found += gateways(of: regions, isRanging: !ranging.isEmpty) }
    }
    if accuracy.isReduced { found.append(reducedAccuracy) }
    let order = ServiceDiagnostic.Reason.allCases
    return order.flatMap { reason in found.filter { $0.reason == reason } }
  }

  /// What a diagnostic concerns.
  private struct Concern {
    var region: String?
    var subject = SubjectID.none
    var observers: [ObserverID] = []
  }

  private func diagnostic(
    _ reason: ServiceDiagnostic.Reason,
    concerning concern: Concern = Concern(),
    _ message: String,
    expected: String,
    remedy: String
  ) -> ServiceDiagnostic {
    ServiceDiagnostic(
      reason: reason,
      region: concern.region,
      subject: concern.subject,
      observers: Array(concern.observers.sorted().prefix(ServiceDiagnostic.maximumObservers)),
      message: message,
      expected: expected,
      remedy: remedy
    )
  }
}

/// The conditions and the authorisations.
extension ServiceFacts {
  private func conditions() -> [ServiceDiagnostic] {
    var found: [ServiceDiagnostic] = []
    if regions.isEmpty, ranging.isEmpty {
      found.append(
        diagnostic(
          .conditionMissing,
          "Application \"\(application)\" monitors no region and ranges no beacon.",
          expected: "a region or a ranging request",
          remedy: "Register one with PUT /v1/applications/{app}/regions/{id}, or with RegionMonitor.add."
        )
      )
    }
    if Application.room(limit: regionLimit, holding: heldRegions) <= 0 {
      found.append(
        diagnostic(
          .conditionLimitExceeded,
          "The application holds \(heldRegions) regions, as many as it may; one more is refused.",
          expected: "fewer than \(regionLimit) regions",
          remedy: "Remove a region, raise regionLimit, or use a rotation."
        )
      )
    }
    return found
      + regions.compactMap { region in
        guard unsupported.contains(region.identifier), let need = region.needOfVenue else { return nil }
        return diagnostic(
          .conditionUnsupported,
          concerning: Concern(region: region.identifier),
          "Region \"\(region.identifier)\" \(need.reason)",
          expected: need.expected,
          remedy: need.remedy
        )
      }
  }

  private func authorisation(of subject: Subject) -> [ServiceDiagnostic] {
    guard let withheld = withholding(subject.authorisation) else { return [] }
    return [
      diagnostic(
        withheld.reason,
        concerning: Concern(subject: subject.id),
        "The authorisation about \(subject.id) is \(subject.authorisation.name).",
        expected: "the authorisation always",
        remedy: withheld.remedy
      )
    ]
  }

  private var reducedAccuracy: ServiceDiagnostic {
    diagnostic(
      .fullAccuracyDenied,
      "The application has reduced accuracy: it learns the \(accuracy.rawValue) and nothing finer.",
      expected: "full accuracy",
      remedy: "Ask for temporary full accuracy for a declared purpose, or have the operator grant it."
    )
  }

  private func withheldSubjects() -> [ServiceDiagnostic] {
    AuthorisationState.allCases.compactMap { state in
      guard let count = withheld[state], count > 0, let withheld = withholding(state) else { return nil }
      return diagnostic(
        withheld.reason,
        "The authorisation is \(state.name) about \(count) \(count == 1 ? "subject" : "subjects").",
        expected: "the authorisation always about each",
        remedy: withheld.remedy
      )
    }
  }

  /// Returns the reason that an authorisation is, and the step that changes it; nil for one that allows everything.
  private func withholding(
    _ state: AuthorisationState
  ) -> (reason: ServiceDiagnostic.Reason, remedy: String)? {
    switch state {
    case .notDetermined:
      (
        .authorizationRequestInProgress,
        "State the application's purpose, ask the person, and have the operator record the answer."
      )
    case .restricted:
      (.authorizationRestricted, "Only the operator can lift a restriction.")
    case .denied:
      (.authorizationDenied, "Respect it, or ask the person again and have the operator record the answer.")
    case .whenInUse:
      (
        .alwaysAuthorizationDenied,
        "Keep a live stream open (GET /v1/events), or ask the person for the authorisation always."
      )
    case .always: nil
    }
  }
}

/// The observers, for all subjects.
extension ServiceFacts {
  /// Returns what is wrong with the observers that regions and ranging requests need.
  private func gateways(
    of regions: [Region],
    isRanging: Bool,
    about subject: SubjectID = .none
  ) -> [ServiceDiagnostic] {
    guard !observers.isEmpty else {
      return [
        diagnostic(
          .noCoverage,
          concerning: Concern(subject: subject),
          "No observer has reported since the server started.",
          expected: "a gateway or handset that sends adverts",
          remedy: "Point a gateway at the server, and look for refused datagrams in GET /v1/status."
        )
      ]
    }
    let down = observers.filter { !$0.value.isUp }
    guard down.count < observers.count else {
      let message = down.count == 1 ? "The only observer is down." : "All \(down.count) observers are down."
      return [outage(message, of: Array(down.keys), about: subject)]
    }
    var found = regions.flatMap { region in
      listedObservers(of: region).map { outages($0, of: region, about: subject) } ?? []
    }
    let listed = observers.filter(\.value.isListed)
    let lost = listed.filter { !$0.value.isUp }
    if !lost.isEmpty, isRanging || regions.contains(where: { listedObservers(of: $0) == nil }) {
      let verb = lost.count == 1 ? "is" : "are"
      let message = "\(lost.count) of \(listed.count) listed observers \(verb) down."
      found.append(outage(message, of: Array(lost.keys), about: subject))
    }
    return found + regions.compactMap { uncoveredArea(of: $0) }
  }

  /// The observers that a region counts alone; nil if it counts all.
  private func listedObservers(of region: Region) -> [ObserverID]? {
    guard case .beacon(let observers) = region.subject, region.geofence == nil else { return nil }
    return observers
  }

  private func outages(
    _ listed: [ObserverID],
    of region: Region,
    about subject: SubjectID
  ) -> [ServiceDiagnostic] {
    let down = listed.filter { observers[$0]?.isUp == false }
    let missing = listed.filter { observers[$0] == nil }
    var found: [ServiceDiagnostic] = []
    if !down.isEmpty {
      let message =
        "Of the \(listed.count) observers of region \"\(region.identifier)\", \(down.count) "
        + "\(down.count == 1 ? "is" : "are") down."
      found.append(outage(message, of: down, in: region.identifier, about: subject))
    }
    if missing.count == listed.count {
      found.append(
        diagnostic(
          .noCoverage,
          concerning: Concern(region: region.identifier, subject: subject),
          "None of the observers of region \"\(region.identifier)\" has reported since the server started.",
          expected: "reports of one of its observers",
          remedy: "Correct the region's list of observers, or connect them."
        )
      )
    }
    return found
  }

  private func outage(
    _ message: String,
    of down: [ObserverID],
    in region: String? = nil,
    about subject: SubjectID
  ) -> ServiceDiagnostic {
    let last = down.compactMap { observers[$0]?.lastHeard }.max()
    return diagnostic(
      .observerDown,
      concerning: Concern(region: region, subject: subject, observers: down),
      message + (last.map { " The last report was at \($0.rfc3339)." } ?? ""),
      expected: "reports or heartbeats of each",
      remedy: "Check the power and the network of each; states stay unmonitored until it reports again."
    )
  }

  /// Returns that no observer is placed near the area of a region about tags.
  private func uncoveredArea(of region: Region) -> ServiceDiagnostic? {
    guard let geofence = region.geofence, region.subject != .observer,
      !unsupported.contains(region.identifier),
      !placements.contains(where: { geofence.shape.reaches($0, within: ServiceFacts.hearingRange) })
    else { return nil }
    return diagnostic(
      .noCoverage,
      concerning: Concern(region: region.identifier),
      "No observer is placed within \(Int(ServiceFacts.hearingRange)) m of region \"\(region.identifier)\".",
      expected: "observers on the plan of the venue, near the area",
      remedy: "Place the observers of the area in the venue, or correct the area's coordinates."
    )
  }
}

/// One subject.
extension ServiceFacts {
  private func about(_ subject: Subject) -> [ServiceDiagnostic] {
    guard !regions.isEmpty || !ranging.isEmpty else { return [] }
    let relevant = regions.filter { $0.concerns(subject.id) }
    guard !relevant.isEmpty || isRanged(subject.id) else { return [missingCondition(about: subject.id)] }
    let heard: [ServiceDiagnostic] =
      switch subject.id {
      case .observer(let observer): reports(of: observer, relevant)
      case .beacon: hearings(of: subject, relevant)
      case .none: []
      }
    return heard
      + relevant.filter { !unsupported.contains($0.identifier) }.compactMap { located(subject, in: $0) }
  }

  private func isRanged(_ subject: SubjectID) -> Bool {
    switch subject {
    case .observer: !ranging.isEmpty
    case .beacon(let beacon): ranging.contains { $0.matches(beacon) }
    case .none: false
    }
  }

  private func missingCondition(about subject: SubjectID) -> ServiceDiagnostic {
    let kind = if case .observer = subject { "observer" } else { "beacon" }
    return diagnostic(
      .conditionMissing,
      concerning: Concern(subject: subject),
      "No region and no ranging request of the application is about \(subject).",
      expected: "a region whose subject is \(kind) and whose identity matches",
      remedy: "Compare its identity with the application's regions, and their kind of subject with \(kind)."
    )
  }

  private func reports(of observer: ObserverID, _ relevant: [Region]) -> [ServiceDiagnostic] {
    let subject = SubjectID.observer(observer)
    guard let known = observers[observer] else {
      return [
        diagnostic(
          .noCoverage,
          concerning: Concern(subject: subject),
          "\(observer) has not reported since the server started.",
          expected: "reports of the handset or gateway",
          remedy: "Compare the name that it sends with this one, and check that it can reach the server."
        )
      ]
    }
    var found: [ServiceDiagnostic] = []
    if !known.isUp { found.append(outage("\(observer) is down.", of: [observer], about: subject)) }
    if known.scanState == .off {
      found.append(
        diagnostic(
          .authorizationDeniedGlobally,
          concerning: Concern(subject: subject),
          "\(observer) reports that it has stopped scanning.",
          expected: "a radio that scans",
          remedy: "Switch Bluetooth on, and allow the handset's program to scan."
        )
      )
    }
    return found
  }

  private func hearings(of subject: Subject, _ relevant: [Region]) -> [ServiceDiagnostic] {
    guard subject.hearers.isEmpty else {
      return relevant.compactMap { region in
        guard let listed = listedObservers(of: region), Set(listed).isDisjoint(with: subject.hearers) else {
          return nil
        }
        return diagnostic(
          .noCoverage,
          concerning: Concern(region: region.identifier, subject: subject.id, observers: subject.hearers),
          "Observers hear \(subject.id), but none of those that region \"\(region.identifier)\" lists.",
          expected: "a hearing by one of the region's observers",
          remedy: "Add the observers that hear it to the region, or leave the list out to count all."
        )
      }
    }
    let found = gateways(of: relevant, isRanging: isRanged(subject.id), about: subject.id)
    guard !found.contains(where: { $0.reason == .noCoverage && $0.region == nil }) else { return found }
    let last = subject.lastHeard.map { " It was last heard at \($0.rfc3339)." } ?? ""
    return found + [
      diagnostic(
        .noCoverage,
        concerning: Concern(subject: subject.id),
        "No observer hears \(subject.id).\(last)",
        expected: "an observer within the range of the beacon",
        remedy: "Check the beacon's battery and that it advertises this identity, or place a gateway near it."
      )
    ]
  }

  private func located(_ subject: Subject, in region: Region) -> ServiceDiagnostic? {
    guard let geofence = region.geofence, !subject.inside.contains(region.identifier) else { return nil }
    switch subject.location {
    case .unknown: return nil
    case .unavailable:
      return diagnostic(
        .locationUnavailable,
        concerning: Concern(region: region.identifier, subject: subject.id),
        "\(subject.id) has no fix, by which region \"\(region.identifier)\" is decided.",
        expected: "a fix of the last seconds",
        remedy: "Have the handset send locations or scans, or place the observers that hear it on the plan."
      )
    case .within(let accuracy):
      guard accuracy > geofence.shape.reach else { return nil }
      return diagnostic(
        .accuracyLimited,
        concerning: Concern(region: region.identifier, subject: subject.id),
        "The last fix of \(subject.id) is accurate to \(Int(accuracy.rounded(.up))) m.",
        expected: "an accuracy of \(Int(geofence.shape.reach)) m or better, as the area is small",
        remedy: "Enlarge the area, or place more beacons or observers near it."
      )
    }
  }
}

extension Region {
  /// Returns whether a subject is one of those that the region is about.
  fileprivate func concerns(_ id: SubjectID) -> Bool {
    switch (id, subject) {
    case (.observer, .observer): true
    case (.beacon(let beacon), .beacon): constraint.map { $0.matches(beacon) } ?? true
    case (.observer, .beacon), (.beacon, .observer), (.none, _): false
    }
  }
}

extension Geofence.Shape {
  /// The metres of a degree of latitude.
  private static let degree = 111_000.0

  /// The radius of a circle, or half of the shorter extent of a polygon, in metres.
  var reach: Double {
    switch self {
    case .circle(_, let radius): radius.value
    case .polygon:
      extent.map { extent in
        min(extent.north - extent.south, (extent.east - extent.west) * extent.shrinking) * Self.degree / 2
      } ?? 0
    }
  }

  /// Returns whether a position lies within a distance of the rectangle about the area.
  ///
  /// - Parameters:
  ///   - position: the position.
  ///   - metres: the distance.
  /// - Returns: true if it does.
  fileprivate func reaches(_ position: Geofence.Position, within metres: Double) -> Bool {
    guard let extent else { return false }
    let margin = metres / Self.degree
    return (extent.south - margin...extent.north + margin).contains(position.latitude)
      && (extent.west - margin / extent.shrinking...extent.east + margin / extent.shrinking)
        .contains(position.longitude)
  }

  /// The smallest rectangle about the area, in degrees, and the length of a degree of longitude in degrees of latitude there.
  private var extent: (south: Double, north: Double, west: Double, east: Double, shrinking: Double)? {
    func shrinking(_ latitude: Double) -> Double {
      max(0.01, Trigonometry.sineAndCosine(Trigonometry.radians(latitude)).cosine)
    }
    switch self {
    case .circle(let center, let radius):
      let shrinking = shrinking(center.latitude)
      let half = radius.value / Self.degree
      return (
        center.latitude - half, center.latitude + half, center.longitude - half / shrinking,
        center.longitude + half / shrinking, shrinking
      )
    case .polygon(let rings):
      let corners = rings.joined()
      let latitudes = corners.map(\.latitude)
      let longitudes = corners.map(\.longitude)
      guard let south = latitudes.min(), let north = latitudes.max(), let west = longitudes.min(),
        let east = longitudes.max()
      else { return nil }
      return (south, north, west, east, shrinking((south + north) / 2))
    }
  }
}
