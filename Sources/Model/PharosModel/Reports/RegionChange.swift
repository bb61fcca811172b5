public import PharosDocuments

/// A change of a site, or a question about it, that the engine applies while it runs.
///
/// Whatever changes what is monitored travels as this value: from the API or an edited site through the owner of the site to every
/// stage, and into recordings.
public enum RegionChange: Hashable, Sendable {
  /// Monitor a region, replacing one with the same identifier; `assuming` is the state to start from.
  case startMonitoring(application: String, Region, assuming: RegionState = .unknown)
  /// Stop monitoring a region.
  case stopMonitoring(application: String, identifier: String)
  /// Replace the application's rotation tree.
  case setRotation(application: String, [RegionNode])
  /// Range beacons.
  case startRanging(application: String, RangingRequest)
  /// Stop ranging beacons.
  case stopRanging(application: String, BeaconConstraint)
  /// Change the largest number of regions that an application may hold.
  case setRegionLimit(application: String, Int)
  /// Answer once, with a state event, where a subject stands.
  case requestState(application: String, identifier: String, subject: SubjectID)
  /// Let an observer in that the site does not list, where only those that are listed count.
  case acceptObserver(ObserverID)
  /// Withdraw the acceptance or the declaration of an observer.
  case dismissObserver(ObserverID)
  /// Forget whatever is known of a subject, as if it had never been heard; what it was inside becomes unmonitored.
  case forget(SubjectTraces)
  /// Assign an itinerary to a subject, or take it away.
  case setItinerary(subject: SubjectID, Itinerary?)
  /// Guide a subject to a destination, or end its guidance.
  case setGuidance(subject: SubjectID, GuidanceRequest?)
  /// Take over all that a site declares apart from its applications.
  case declare(Site)
}

extension RegionChange {
  /// Returns whether a shard needs the change: every shard does, except that a question about an observer is answered
  /// by the one shard that receives the observer's reports.
  public func reaches(shard: Int, of count: Int) -> Bool {
    guard case .requestState(_, _, subject: .observer(let observer)) = self else { return true }
    return observer.shard(of: count) == shard
  }

  /// Indicates whether the site is another one after the change.
  package var changesSite: Bool {
    switch self {
    case .requestState, .forget, .setItinerary, .setGuidance: false
    case .startMonitoring, .stopMonitoring, .setRotation, .startRanging, .stopRanging, .setRegionLimit,
      .acceptObserver, .dismissObserver, .declare:
      true
    }
  }
}

extension RegionChange: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "a region change" }

  /// Hands each case to a coder.
  public static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.startMonitoring) {
      if case .startMonitoring(let application, let region, let state) = $0 {
        (application, region, state)
      } else {
        nil
      }
    }
    try coder.code(&union, 1, Self.stopMonitoring) {
      if case .stopMonitoring(let application, let identifier) = $0 { (application, identifier) } else { nil }
    }
    try coder.code(&union, 2, Self.setRotation) {
      if case .setRotation(let application, let tree) = $0 { (application, tree) } else { nil }
    }
    try coder.code(&union, 3, Self.startRanging) {
      if case .startRanging(let application, let request) = $0 { (application, request) } else { nil }
    }
    try coder.code(&union, 4, Self.stopRanging) {
      if case .stopRanging(let application, let constraint) = $0 { (application, constraint) } else { nil }
    }
    try coder.code(&union, 5, Self.requestState) {
      if case .requestState(let application, let identifier, let subject) = $0 {
        (application, identifier, subject)
      } else {
        nil
      }
    }
    try coder.code(&union, 6, Self.acceptObserver) {
      if case .acceptObserver(let observer) = $0 { observer } else { nil }
    }
    try coder.code(&union, 7, Self.forget) { if case .forget(let traces) = $0 { traces } else { nil } }
    try coder.code(&union, 8, Self.setRegionLimit) {
      if case .setRegionLimit(let application, let limit) = $0 { (application, limit) } else { nil }
    }
    try coder.code(&union, 9, Self.dismissObserver) {
      if case .dismissObserver(let observer) = $0 { observer } else { nil }
    }
    try coder.code(&union, 10, { Self.declare($0.form) }) {
      if case .declare(let site) = $0 { Declaration(form: site.settings) } else { nil }
    }
    try coder.code(&union, 11, Self.setItinerary) {
      if case .setItinerary(let subject, let itinerary) = $0 { (subject, itinerary) } else { nil }
    }
    try coder.code(&union, 12, Self.setGuidance) {
      if case .setGuidance(let subject, let request) = $0 { (subject, request) } else { nil }
    }
  }
}

/// The settings of a site without the applications, which changes of their own declare.
private struct Declaration: FieldForm {
  static var misfit: FieldError.Problem { .outOfRange(field: "the applications of a declaration") }
  let form: Site

  init?(form: Site) {
    guard form.applications.isEmpty else { return nil }
    self.form = form
  }
}

extension Application {
  /// Returns the changes that lead from this application to another of the same name.
  ///
  /// - Parameter next: the application that takes this one's place.
  /// - Returns: the changes, in the order in which they must be carried out.
  package func changes(to next: Application) -> [RegionChange] {
    var changes: [RegionChange] = []
    for region in regions where !next.regions.contains(where: { $0.identifier == region.identifier }) {
      changes.append(.stopMonitoring(application: identifier, identifier: region.identifier))
    }
    for request in ranging where !next.ranging.contains(where: { $0.constraint == request.constraint }) {
      changes.append(.stopRanging(application: identifier, request.constraint))
    }
    if next.regionLimit != regionLimit {
      changes.append(.setRegionLimit(application: identifier, next.regionLimit))
    }
    if next.rotation != rotation {
      changes.append(.setRotation(application: identifier, next.rotation))
    }
    for region in next.regions where !regions.contains(region) {
      changes.append(.startMonitoring(application: identifier, region))
    }
    for request in next.ranging where !ranging.contains(request) {
      changes.append(.startRanging(application: identifier, request))
    }
    return changes
  }
}
