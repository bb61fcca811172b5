/// The reason why a change of an application's regions is refused; nothing has changed then.
public enum RegionRefusal: Error, Hashable, Sendable {
  /// The application holds as many regions as it may.
  case regionLimitExceeded(limit: Int, application: String, identifier: String)
  /// A limit is asked for that is below the number of regions that the application holds.
  case regionLimitTooLow(limit: Int, application: String, held: Int)
  /// An application has no identifier.
  case emptyApplication
  /// A region has no identifier.
  case emptyIdentifier(application: String)
  /// Two regions of a declared set share an identifier, or a region and a node of the rotation do.
  case duplicateIdentifier(application: String, identifier: String)
  /// Two declared applications share an identifier.
  case duplicateApplication(String)
  /// The level to leave at is not below the level to enter at.
  case crossedLevels(application: String, identifier: String, enter: Double, exit: Double)
  /// The distance to leave at is not beyond the distance to enter at.
  case crossedDistances(application: String, identifier: String, enter: Meters, exit: Meters)
  /// The outline of a geofence encloses no area.
  case unusableGeofence(application: String, identifier: String, Geofence.Problem)
  /// The probability to leave at is not below the probability to enter at.
  case crossedProbabilities(application: String, identifier: String, enter: Double, exit: Double)
  /// The state of a region was asked for that the application does not have.
  case unknownRegion(application: String, identifier: String)
}

extension RegionRefusal: CustomStringConvertible {
  /// A description of what was refused, why, and what to do.
  public var description: String {
    switch self {
    case .regionLimitExceeded(let limit, let application, let identifier):
      "regionLimitExceeded: application \"\(application)\" may hold \(limit) regions and holds \(limit); region "
        + "\"\(identifier)\" was refused. Stop monitoring another one, use a wider constraint or a rotation, or "
        + "raise regionLimit."
    case .regionLimitTooLow(let limit, let application, let held):
      "application \"\(application)\" holds \(held) regions, more than the limit of \(limit) that is asked for; stop "
        + "monitoring some first"
    case .emptyApplication:
      "an application needs an identifier of at least one character"
    case .emptyIdentifier(let application):
      "a region of application \"\(application)\" has no identifier; give it one of at least one character"
    case .duplicateIdentifier(let application, let identifier):
      "application \"\(application)\" declares region \"\(identifier)\" twice; rename or remove one of them"
    case .duplicateApplication(let application):
      "application \"\(application)\" is declared twice; merge the two or rename one"
    case .crossedLevels(let application, let identifier, let enter, let exit):
      "region \"\(identifier)\" of application \"\(application)\": the exit level (\(exit) dBm) must be below the "
        + "enter level (\(enter) dBm)"
    case .crossedDistances(let application, let identifier, let enter, let exit):
      "region \"\(identifier)\" of application \"\(application)\": the exit distance (\(exit.value) m) must be beyond "
        + "the enter distance (\(enter.value) m)"
    case .unusableGeofence(let application, let identifier, let problem):
      "region \"\(identifier)\" of application \"\(application)\": \(problem)"
    case .crossedProbabilities(let application, let identifier, let enter, let exit):
      "region \"\(identifier)\" of application \"\(application)\": the exit probability (\(exit)) must be below the "
        + "enter probability (\(enter))"
    case .unknownRegion(let application, let identifier):
      "application \"\(application)\" has no region \"\(identifier)\"; start monitoring it before asking for its state"
    }
  }
}
