import PharosDocuments
package import PharosModel

/// The state of a subject's visual positioning, and the requests for scans.
///
/// A machine that is asked at every fix. It publishes a worse state only once it has lasted, a better one at once after
/// a scan. A request is repeated, less and less often, until a scan is used.
package struct PositioningMachine: Sendable {
  /// The facts at the time of a fix.
  package struct Look: Hashable, Sendable {
    /// The time.
    package var time: Timestamp
    /// The time of the last report of visual positioning of any kind.
    package var reportedAt: Timestamp
    /// The state that the handset reported, if it did lately.
    package var status: VisualStatus?
    /// Indicates whether the odometry tracks.
    package var isTracking: Bool
    /// The time of the last scan that was used, and of the last one that was not.
    package var scanned: Timestamp
    package var refused: Timestamp
    /// The way since the last scan that was used, in metres.
    package var distance: Float
    /// A number for the surroundings, which changes with the floor and at a door.
    package var surroundings: Int?
    /// What carries the subject.
    package var conveyance: PositioningTransition.Conveyance

    /// Makes a look.
    package init(
      time: Timestamp,
      reportedAt: Timestamp,
      status: VisualStatus? = nil,
      isTracking: Bool = true,
      scanned: Timestamp = .distantPast,
      refused: Timestamp = .distantPast,
      distance: Float = 0,
      surroundings: Int? = nil,
      conveyance: PositioningTransition.Conveyance = .none
    ) {
      self.time = time
      self.reportedAt = reportedAt
      self.status = status
      self.isTracking = isTracking
      self.scanned = scanned
      self.refused = refused
      self.distance = distance
      self.surroundings = surroundings
      self.conveyance = conveyance
    }
  }

  /// A state with all that an event tells of it.
  package struct Standing: Hashable, Sendable {
    /// The state.
    package var state = PositioningState.notPositioning
    /// The reasons for a degraded state.
    package var reasons: PositioningReasons = []
    /// The advice.
    package var advice = PositioningTransition.Advice.none
    /// What carries the subject.
    package var conveyance = PositioningTransition.Conveyance.none

    /// The standing of a subject without visual positioning.
    package init() {}
  }

  /// A change of the state.
  package struct Change: Hashable, Sendable {
    /// The new state.
    package var standing: Standing
    /// The state before.
    package var previous: PositioningState
    /// The time since which it holds.
    package var since: Timestamp
  }

  /// A request for a scan.
  package struct Request: Hashable, Sendable {
    /// The reason.
    package var reason: ScanRequest.Reason
    /// Counts the requests since the last scan, from 1.
    package var attempt: Int
  }

  /// The result of a look.
  package struct Action: Hashable, Sendable {
    /// The change of the state, if there is one.
    package var change: Change?
    /// The request, if there is one.
    package var request: Request?
  }

  /// The phases of requests.
  enum Asking: Hashable, Sendable {
    /// No scan is wanted.
    case idle
    /// A scan was asked for, so many times, last at a time, and for a reason.
    case asked(times: Int, last: Timestamp, reason: ScanRequest.Reason)
  }

  /// The published state.
  package private(set) var standing = Standing()
  /// The state that differs from it, and since when.
  private var candidate: (standing: Standing, since: Timestamp)?
  private var asking = Asking.idle
  private var lastScan = Timestamp.distantPast
  /// The surroundings in which the last scan was made, and those that differ from them, and since when.
  private var surroundings: Int?
  private var newSurroundings: (number: Int, since: Timestamp)?
  private var conveyance = PositioningTransition.Conveyance.none
  private var leftConveyance = false

  /// The time without a report after which the handset does not position itself by its camera.
  private static let silence = TimeSpan.seconds(10)
  /// The time for which a worse state must last.
  private static let patience = TimeSpan.seconds(2)
  /// The way and the time after which a scan is asked for.
  ///
  /// - Units: metres. Drift of 2 % amounts to 3 m.
  private static let scanDistance: Float = 150
  private static let scanTime = TimeSpan.minutes(10)
  /// The least way after which time counts: who stands still drifts little.
  private static let minimumWay: Float = 10
  /// The factor on way and time after which the state is degraded.
  private static let overdue: Float = 1.5
  /// The time between the first and the second request, which doubles with each, and its bound.
  private static let firstPause = TimeSpan.seconds(30)
  private static let maximumPause = TimeSpan.minutes(5)
  /// The least time between requests for different reasons.
  private static let minimumPause = TimeSpan.seconds(10)

  /// Makes the machine of a subject without visual positioning.
  package init() {}

  /// Takes the facts at the time of a fix.
  package mutating func look(_ look: Look) -> Action {
    let isNew = look.scanned != .distantPast && look.scanned > lastScan
    if isNew {
      lastScan = look.scanned
      asking = .idle
      (surroundings, newSurroundings) = (look.surroundings, nil)
      leftConveyance = false
    }
    record(look)
    var action = Action()
    action.change = change(to: target(look), isScanned: isNew, at: look.time)
    if let reason = reason(look) { action.request = request(reason, look) }
    return action
  }

  // MARK: States

  /// The state that the facts of a moment amount to.
  private func target(_ look: Look) -> Standing {
    var target = Standing()
    guard look.time - look.reportedAt <= PositioningMachine.silence else { return target }
    target.conveyance = look.conveyance
    guard look.scanned != .distantPast, look.status?.state != .notPositioning else { return target }
    if let status = look.status, status.state == .degradedPositioning { target.reasons = status.reasons }
    if !look.isTracking { target.reasons.insert(.trackingLost) }
    if look.refused > look.scanned { target.reasons.insert(.scanDisagrees) }
    let isOld = look.time - look.scanned > PositioningMachine.scanTime * Double(PositioningMachine.overdue)
    if look.distance > PositioningMachine.scanDistance * PositioningMachine.overdue
      || isOld && look.distance > PositioningMachine.minimumWay
    {
      target.reasons.insert(.scanOverdue)
    }
    let isDegraded = look.status?.state == .degradedPositioning || !target.reasons.isEmpty
    target.state = isDegraded ? .degradedPositioning : .accuratePositioning
    if isDegraded, look.status?.backgroundScan == .failed { target.advice = .holdPhoneUp }
    return target
  }

  private mutating func change(
    to target: Standing,
    isScanned: Bool,
    at time: Timestamp
  ) -> Change? {
    guard target != standing else {
      candidate = nil
      return nil
    }
    let since = candidate?.standing == target ? candidate?.since ?? time : time
    candidate = (target, since)
    let isImproved = isScanned && target.state == .accuratePositioning
    let isOfMoment = target.state == standing.state && target.reasons == standing.reasons
    guard isImproved || isOfMoment || time - since >= PositioningMachine.patience else { return nil }
    let previous = standing.state
    standing = target
    candidate = nil
    return Change(standing: target, previous: previous, since: isImproved ? time : since)
  }

  // MARK: Requests

  private mutating func record(_ look: Look) {
    if conveyance != .none, look.conveyance == .none { leftConveyance = true }
    conveyance = look.conveyance
    guard let here = look.surroundings else { return }
    guard let known = surroundings else {
      surroundings = here
      return
    }
    if here == known {
      newSurroundings = nil
    } else if newSurroundings?.number != here {
      newSurroundings = (here, look.time)
    }
  }

  /// The reason for a scan, if there is one.
  private func reason(_ look: Look) -> ScanRequest.Reason? {
    guard look.time - look.reportedAt <= PositioningMachine.silence else { return nil }
    if look.scanned == .distantPast { return .start }
    if leftConveyance { return .conveyor }
    if let newSurroundings, look.time - newSurroundings.since >= PositioningMachine.patience {
      return .environmentChanged
    }
    if look.refused > look.scanned { return .environmentChanged }
    if look.distance >= PositioningMachine.scanDistance { return .distance }
    let isOld = look.time - look.scanned >= PositioningMachine.scanTime
    return isOld && look.distance >= PositioningMachine.minimumWay ? .time : nil
  }

  private mutating func request(
    _ reason: ScanRequest.Reason,
    _ look: Look
  ) -> Request? {
    if let status = look.status, status.scan == .started || status.backgroundScan == .started { return nil }
    switch asking {
    case .idle:
      asking = .asked(times: 1, last: look.time, reason: reason)
      return Request(reason: reason, attempt: 1)
    case .asked(let times, let last, let former):
      let doubled = PositioningMachine.firstPause * Double(1 << min(times - 1, 4))
      let pause =
        former == reason ? min(PositioningMachine.maximumPause, doubled) : PositioningMachine.minimumPause
      guard look.time - last >= pause else { return nil }
      asking = .asked(times: times + 1, last: look.time, reason: reason)
      return Request(reason: reason, attempt: times + 1)
    }
  }
}

/// A finding of the machine about a subject, until it is published.
package struct PositioningNote: Hashable, Sendable {
  /// The content.
  package enum Body: Hashable, Sendable {
    /// The state changed.
    case state(PositioningTransition)
    /// A scan is wanted.
    case scan(ScanRequest)
  }

  /// The time since which it holds.
  package var time: Timestamp
  /// The time of the fix at which it was decided.
  package var decided: Timestamp
  /// The content.
  package var body: Body
}

extension PositioningMachine {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try standing.visitFields(&coder)
    try coder.code(optional: &candidate, (Standing(), .distantPast)) { (candidate, coder) throws(C.Failure) in
      try candidate.standing.visitFields(&coder)
      try coder.code(&candidate.since)
    }
    try coder.code(&asking)
    try coder.code(&lastScan)
    try coder.code(&surroundings)
    try coder.code(optional: &newSurroundings, (0, .distantPast)) { (place, coder) throws(C.Failure) in
      try coder.code(&place.number)
      try coder.code(&place.since)
    }
    try coder.code(&conveyance)
    try coder.code(&leftConveyance)
  }
}

extension PositioningMachine.Standing {
  /// Hands each field to a coder.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&state)
    try coder.code(options: &reasons)
    try coder.code(&advice)
    try coder.code(&conveyance)
  }
}

extension PositioningMachine.Asking: FieldUnion {
  /// The name of the field.
  static var fieldName: String { "a phase of requests" }

  /// Hands each case to a coder.
  static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, .idle)
    try coder.code(&union, 1, { Self.asked(times: $0, last: $1, reason: $2) }) {
      if case .asked(let times, let last, let reason) = $0 { (times, last, reason) } else { nil }
    }
  }
}
