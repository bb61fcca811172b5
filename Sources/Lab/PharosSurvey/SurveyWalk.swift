package import PharosFixes
package import PharosModel
package import PharosSpace
import PharosWays

/// The recording of a handset on a walk through one floor, with the waypoints that the surveyor marked.
///
/// Lists may be in any order; the learner sorts them.
package struct SurveyWalk: Hashable, Sendable {
  /// A place that the surveyor marked on the plan when standing there.
  package struct Waypoint: Hashable, Sendable {
    /// The time at which the surveyor stood there.
    package var time: Timestamp
    /// The place on the floor's plane.
    package var point: Point

    /// Makes a waypoint.
    package init(time: Timestamp, point: Point) {
      self.time = time
      self.point = point
    }
  }

  /// An access point in a Wi-Fi scan.
  ///
  /// Scans repeat what earlier ones found: of entries with the same address and ``heard`` the first one counts.
  package struct AccessPointReading: Hashable, Sendable {
    /// The time at which the scan was delivered.
    package var time: Timestamp
    /// The time at which the access point was really heard.
    package var heard: Timestamp
    /// Its address.
    package var bssid: DeviceAddress
    /// Its level.
    package var rssi: RSSI
    /// The centre frequency in MHz, or 0 if unknown.
    package var frequency: UInt16

    /// Makes a reading.
    package init(time: Timestamp, heard: Timestamp, bssid: DeviceAddress, rssi: RSSI, frequency: UInt16) {
      self.time = time
      self.heard = heard
      self.bssid = bssid
      self.rssi = rssi
      self.frequency = frequency
    }
  }

  /// A beacon that was heard.
  package struct BeaconReading: Hashable, Sendable {
    /// The time at which it was heard.
    package var time: Timestamp
    /// The beacon.
    package var beacon: BeaconID
    /// Its address, if the platform reports it.
    package var address: DeviceAddress?
    /// Its level.
    package var rssi: RSSI

    /// Makes a reading.
    package init(time: Timestamp, beacon: BeaconID, address: DeviceAddress?, rssi: RSSI) {
      self.time = time
      self.beacon = beacon
      self.address = address
      self.rssi = rssi
    }
  }

  /// One sample of motion and when it was taken; the sample's own age does not count.
  package struct MotionReading: Hashable, Sendable {
    /// The time of the sample.
    package var time: Timestamp
    /// The sample.
    package var sample: MotionSample

    /// Makes a reading.
    package init(time: Timestamp, sample: MotionSample) {
      self.time = time
      self.sample = sample
    }
  }

  /// The name of the walk in messages.
  package var name: String
  /// The floor walked on.
  package var floor: FloorID
  /// The marked waypoints.
  package var waypoints: [Waypoint]
  /// The access points heard.
  package var accessPoints: [AccessPointReading]
  /// The beacons heard.
  package var beacons: [BeaconReading]
  /// The samples of the motion sensors; may be empty.
  package var motion: [MotionReading]

  /// Makes a walk.
  package init(
    name: String,
    floor: FloorID,
    waypoints: [Waypoint],
    accessPoints: [AccessPointReading] = [],
    beacons: [BeaconReading] = [],
    motion: [MotionReading] = []
  ) {
    self.name = name
    self.floor = floor
    self.waypoints = waypoints
    self.accessPoints = accessPoints
    self.beacons = beacons
    self.motion = motion
  }
}

extension SurveyWalk {
  /// The time after the last sample at which a step may still be detected.
  private static let tail = TimeSpan.seconds(5)

  /// The walker's steps, in order of time.
  package var steps: [Step] {
    let sorted = motion.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
    guard let last = sorted.last?.element.time else { return [] }
    var tracker = MotionTracker()
    var steps: [Step] = []
    func collect(through time: Timestamp) {
      while let movement = tracker.next(through: time) {
        if case .step(let step) = movement { steps.append(step) }
      }
    }
    for (_, reading) in sorted {
      // Up to just before: what other sensors read at the very same time is not late.
      collect(through: reading.time - .oneNanosecond)
      tracker.update(reading.sample, at: reading.time)
    }
    collect(through: last + SurveyWalk.tail)
    return steps.sorted { $0.time < $1.time }
  }
}

/// The path of a surveyor between the waypoints, with the pace of the steps, not an even pace.
///
/// A surveyor who waits for two seconds between two waypoints would be placed up to two metres off at an even pace.
/// Waypoints lie at turns, so the straight line between them is the path unless the steps lead around a corner. Then
/// the chain of steps is turned and stretched until its ends meet the waypoints.
package struct WalkedPath {
  /// A time and the place at that time.
  struct Knot {
    var time: Timestamp
    var point: Point
  }

  /// Places in order of time.
  private(set) var knots: [Knot] = []
  /// Stretches that follow the steps.
  package private(set) var pacedStretches = 0
  /// Stretches taken at an even pace.
  package private(set) var evenStretches = 0

  /// The minimum number of steps of a stretch for its pace to count.
  static let minimumSteps = 3
  /// The maximum turn of the chain of steps to fit the waypoints.
  ///
  /// - Units: radians. A compass indoors errs by 22° at the 95th percentile; a chain turned by more is not reliable.
  static let largestTurn: Float = 0.8
  /// The maximum factor by which the chain may be stretched, or shrunk by its inverse.
  static let largestStretch = 1.7
  /// The distance by which the chain must leave the straight line, as a share of that line, to count as a way around a
  /// corner.
  static let smallestBow = 0.2

  /// Makes the path of a walk.
  ///
  /// - Parameters:
  ///   - waypoints: the waypoints, in any order.
  ///   - steps: the steps, in order of time.
  package init(waypoints: [SurveyWalk.Waypoint], steps: [Step]) {
    let sorted = waypoints.enumerated()
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map(\.element)
    guard let first = sorted.first else { return }
    knots = [Knot(time: first.time, point: first.point)]
    var next = 0
    for (start, end) in zip(sorted, sorted.dropFirst()) {
      while next < steps.count, steps[next].time <= start.time { next += 1 }
      var last = next
      while last < steps.count, steps[last].time < end.time { last += 1 }
      append(start, end, steps[next..<last])
      next = last
    }
  }

  /// The time from the first to the last waypoint; nil with fewer than two.
  package var span: ClosedRange<Timestamp>? {
    guard let first = knots.first, let last = knots.last, knots.count > 1 else { return nil }
    return first.time...last.time
  }

  /// The length of the path from waypoint to waypoint in metres.
  package var length: Double {
    zip(knots, knots.dropFirst()).reduce(0) { $0 + $1.0.point.distance(to: $1.1.point) }
  }

  /// Returns the place of the surveyor at a time; nil before the first and after the last waypoint.
  ///
  /// - Complexity: O(log knots).
  package func position(at time: Timestamp) -> Point? {
    guard let span, span.contains(time) else { return nil }
    var low = 0
    var high = knots.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if knots[middle].time <= time { low = middle } else { high = middle }
    }
    let (before, after) = (knots[low], knots[high])
    let span0 = after.time - before.time
    let share = span0 == .zero ? 1 : (time - before.time) / span0
    return before.point.interpolated(to: after.point, share: share)
  }

  private mutating func append(
    _ start: SurveyWalk.Waypoint,
    _ end: SurveyWalk.Waypoint,
    _ steps: ArraySlice<Step>
  ) {
    defer { knots.append(Knot(time: end.time, point: end.point)) }
    let whole = steps.reduce(0) { $0 + Double($1.length) }
    guard steps.count >= WalkedPath.minimumSteps, whole > 0, end.time > start.time else {
      evenStretches += 1
      return
    }
    pacedStretches += 1
    let chain = WalkedPath.chain(steps, from: start.point, to: end.point)
    // The stretch ends amid a step as often as not: half a step at each end belongs to its neighbours.
    var walked = 0.0
    var time = max(start.time, steps[steps.startIndex].began)
    if time > start.time { knots.append(Knot(time: time, point: start.point)) }
    for (index, step) in zip(steps.indices, steps) {
      walked += Double(step.length)
      let share = walked / whole
      let place = chain?[index - steps.startIndex] ?? start.point.interpolated(to: end.point, share: share)
      time = max(time, step.time)
      knots.append(Knot(time: time, point: place))
    }
  }

  /// Returns the end of each step, after the chain of steps was turned and stretched to lead from one place to
  /// another; nil if the chain is straight or would have to be bent too far.
  private static func chain(_ steps: ArraySlice<Step>, from start: Point, to end: Point) -> [Point]? {
    var ends: [Point] = []
    var place = Point.origin
    var reference: Heading.Reference?
    for step in steps {
      guard let heading = step.heading, reference == nil || reference == heading.reference else { return nil }
      reference = heading.reference
      let (east, north) = Bearing.eastAndNorth(heading.radians)
      place = place + Point(x: Double(east), y: Double(north)) * Double(step.length)
      ends.append(place)
    }
    let way = end - start
    guard way.length > 2, place.length > 2 else { return nil }
    let bow = ends.reduce(0) { max($0, (place.cross($1) / place.length).magnitude) }
    guard bow > smallestBow * place.length else { return nil }
    let scale = way.length / place.length
    guard scale < largestStretch, scale > 1 / largestStretch else { return nil }
    // Turning and stretching is multiplying by a complex number: (way ÷ place).
    let square = place.dot(place)
    let cosine = place.dot(way) / square
    let sine = place.cross(way) / square
    if reference == .north {
      let turn = Bearing.wrapped(
        Bearing.of(east: Float(way.x), north: Float(way.y))
          - Bearing.of(east: Float(place.x), north: Float(place.y))
      )
      guard turn.magnitude <= largestTurn else { return nil }
    }
    return ends.map { start + Point(x: cosine * $0.x - sine * $0.y, y: sine * $0.x + cosine * $0.y) }
  }
}
