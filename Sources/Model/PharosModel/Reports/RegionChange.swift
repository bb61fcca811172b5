public import PharosDocuments

/// A change of a site, or a question about it, that the engine applies while it runs.
///
/// Whatever changes what is monitored travels as this value: from the API or an edited site through the registry to every
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

extension RegionChange: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .startMonitoring(let application, let region, let assuming):
      writer.write(tag: 0, application, region, assuming)
    case .stopMonitoring(let application, let identifier): writer.write(tag: 1, application, identifier)
    case .setRotation(let application, let tree): writer.write(tag: 2, application, tree)
    case .startRanging(let application, let request): writer.write(tag: 3, application, request)
    case .stopRanging(let application, let constraint): writer.write(tag: 4, application, constraint)
    case .requestState(let application, let identifier, let subject):
      writer.write(tag: 5, application, identifier, subject)
    case .acceptObserver(let observer): writer.write(tag: 6, observer)
    case .forget(let traces): writer.write(tag: 7, traces)
    case .setRegionLimit(let application, let limit): writer.write(tag: 8, application, Int64(limit))
    case .dismissObserver(let observer): writer.write(tag: 9, observer)
    case .declare(let site): writer.write(tag: 10, site.settings)
    case .setItinerary(let subject, let itinerary): writer.write(tag: 11, subject, itinerary)
    case .setGuidance(let subject, let request): writer.write(tag: 12, subject, request)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0:
      self = .startMonitoring(application: try reader.text(), try reader.read(), assuming: try reader.read())
    case 1: self = .stopMonitoring(application: try reader.text(), identifier: try reader.text())
    case 2: self = .setRotation(application: try reader.text(), try reader.read())
    case 3: self = .startRanging(application: try reader.text(), try reader.read())
    case 4: self = .stopRanging(application: try reader.text(), try reader.read())
    case 5:
      self = .requestState(
        application: try reader.text(),
        identifier: try reader.text(),
        subject: try reader.read()
      )
    case 6: self = .acceptObserver(try reader.read())
    case 7: self = .forget(try reader.read())
    case 8:
      self = .setRegionLimit(application: try reader.text(), Int(try reader.number(Int64.self)))
    case 9: self = .dismissObserver(try reader.read())
    case 10:
      let site = try Site(from: &reader)
      guard site.applications.isEmpty else {
        throw reader.failure(.outOfRange(field: "the applications of a declaration"))
      }
      self = .declare(site)
    case 11: self = .setItinerary(subject: try reader.read(), try reader.read())
    case 12: self = .setGuidance(subject: try reader.read(), try reader.read())
    case let tag: throw reader.failure(.unknownTag(field: "a region change", tag: tag))
    }
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
