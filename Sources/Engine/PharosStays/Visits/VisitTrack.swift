import PharosDocuments
import PharosFixes
import PharosModel
import PharosSpace

/// A short piece of a subject's track: the mean of the fixes of some seconds.
struct VisitSample: Hashable, Sendable {
  /// The mean time, in seconds since the track's epoch.
  var time: Double
  /// The mean place.
  var point: Point
  /// The number of independent fixes that it is worth, divided by the variance of each in square metres.
  var weight: Double
  /// The mean accuracy of the fixes, in metres.
  var accuracy: Double
  /// The number of fixes.
  var fixes: Int
  /// The time of the last fix, in seconds since the track's epoch.
  var end: Double
  /// Indicates whether its speed is known.
  var isMeasured: Bool
  /// The cost of its speed in a stay.
  var stillCost: Double
  /// The cost of its speed in a movement.
  var movingCost: Double
  /// The speeds that its fixes show, where none was measured.
  var derived = DerivedSpeeds()
}

/// The speeds that successive places of a subject show.
///
/// The error of a fix depends on where the subject is, so that it hardly changes while the subject rests: the fixes of a
/// resting tag move far less than their accuracy allows. What they move within ten seconds tells rest from pacing.
struct DerivedSpeeds: Hashable, Sendable {
  private var count = 0
  /// The sum of the squares, in m²/s².
  private var squares = 0.0

  mutating func add(_ speed: Double) {
    count += 1
    squares += speed * speed
  }

  mutating func add(_ other: DerivedSpeeds) {
    count += other.count
    squares += other.squares
  }

  /// Indicates whether there are none.
  var isEmpty: Bool { count == 0 }

  /// The root mean square of the speeds in m/s, or zero if there are none.
  var rootMeanSquare: Double { count > 0 ? (squares / Double(count)).squareRoot() : 0 }
}

extension VisitSample {
  /// The cost of beginning a movement with it.
  var moveCost: Double { isMeasured ? VisitScale.moveCost.measured : VisitScale.moveCost.unmeasured }
}

/// The sums over the samples of a stay, from which its centre follows.
struct StaySums: Hashable, Sendable {
  var weight = 0.0
  var x = 0.0
  var y = 0.0
  /// The weighted sum of the squares of the distances from the centre.
  var square = 0.0
  /// The costs of the speeds.
  var stillCost = 0.0
  var fixes = 0
  /// The sum of the accuracies of the fixes.
  var accuracies = 0.0

  var center: Point { weight > 0 ? Point(x: x / weight, y: y / weight) : .origin }
  var cost: Double { square + stillCost }

  mutating func add(_ sample: VisitSample) {
    if weight > 0 {
      let off = sample.point - center
      square += off.dot(off) * weight * sample.weight / (weight + sample.weight)
    }
    weight += sample.weight
    x += sample.weight * sample.point.x
    y += sample.weight * sample.point.y
    stillCost += sample.stillCost
    fixes += sample.fixes
    accuracies += Double(sample.fixes) * sample.accuracy
  }

  mutating func add(_ samples: some Sequence<VisitSample>) { for sample in samples { add(sample) } }

  /// The radius around the centre meant to hold 68 % of truths, in metres.
  ///
  /// Of the error of a fix, the mean of many takes away what they scatter by. What they have in common stays: the errors
  /// of a map, and at rest the same reflections in every fix.
  var accuracy: Double {
    guard weight > 0, fixes > 0 else { return 0 }
    let single = accuracies / Double(fixes)
    // The spread holds both coordinates, a deviation one of them.
    let scatter = VisitScale.radiusOfDeviation * spread / 2.0.squareRoot()
    let own = scatter < single ? scatter * scatter / (single * single) : 1
    return ((1 - own) * single * single + own * scatterOfCenter * scatterOfCenter).squareRoot()
  }

  /// The 68 % radius that the centre would have if the errors of its samples were independent, in metres.
  var scatterOfCenter: Double { weight > 0 ? VisitScale.radiusOfDeviation / weight.squareRoot() : 0 }

  /// The root mean square distance from the centre, in metres.
  var spread: Double { weight > 0 ? (square / weight).squareRoot() : 0 }
}

/// The sums over consecutive samples of a track, relative to the newest one, for the costs of both kinds of segment.
private struct SegmentSums {
  private let pivot: VisitSample
  private var weight = 0.0
  private var time = 0.0
  private var x = 0.0
  private var y = 0.0
  private var timeSquare = 0.0
  private var timeX = 0.0
  private var timeY = 0.0
  private var square = 0.0
  private var still = 0.0
  private var moving = 0.0

  init(pivot: VisitSample) { self.pivot = pivot }

  mutating func add(_ sample: VisitSample) {
    let t = sample.time - pivot.time
    let (dx, dy) = (sample.point.x - pivot.point.x, sample.point.y - pivot.point.y)
    let w = sample.weight
    weight += w
    time += w * t
    x += w * dx
    y += w * dy
    timeSquare += w * t * t
    timeX += w * t * dx
    timeY += w * t * dy
    square += w * (dx * dx + dy * dy)
    still += sample.stillCost
    moving += sample.movingCost
  }

  private var scatter: Double { max(0, square - (x * x + y * y) / weight) }

  /// The cost of a stay.
  var stayCost: Double { scatter + still }

  /// The cost of a stay together with what came before.
  func stayCost(after base: StaySums) -> Double {
    guard base.weight > 0 else { return stayCost }
    let center = Point(x: pivot.point.x + x / weight, y: pivot.point.y + y / weight)
    let off = center - base.center
    return base.cost + stayCost + off.dot(off) * weight * base.weight / (weight + base.weight)
  }

  /// The sum of the squares of the times, and the speed of the best straight movement.
  var movement: (times: Double, speed: Double) {
    let times = timeSquare - time * time / weight
    guard times > 0 else { return (0, 0) }
    let vx = (timeX - time * x / weight) / times
    let vy = (timeY - time * y / weight) / times
    return (times, (vx * vx + vy * vy).squareRoot())
  }

  /// The cost of a straight movement at a walker's speed.
  var moveCost: Double {
    let (times, speed) = movement
    guard times > 0 else { return scatter + moving }
    let missed = max(VisitScale.speeds.lowerBound - speed, speed - VisitScale.speeds.upperBound, 0)
    return max(0, scatter - times * speed * speed) + times * missed * missed + moving
  }
}

/// The best division of a track into stays and movements, which grows sample by sample.
///
/// An optimal partition: for each end of a sample the least cost of all divisions that end there in a stay, and of those
/// that end in a movement. A stay has a centre, a movement a course and a speed; the cost of a segment is that of the
/// distances of its samples, and every new segment costs something.
///
/// - Source: Jackson et al., An Algorithm for Optimal Partitioning of Data on an Interval, IEEE Signal Processing Letters
///   12 (2005), DOI 10.1109/LSP.2001.838216.
struct VisitTrack: Sendable {
  /// A segment of the best division.
  struct Segment: Hashable, Sendable {
    var isStay: Bool
    /// The places of its samples.
    var samples: Range<Int>
  }

  /// The least costs at the end of a sample.
  private struct Node: Sendable {
    var stay = Double.infinity
    var move = Double.infinity
    /// The first sample of the last stay.
    var stayFrom = 0
    /// The first sample of the last movement.
    var moveFrom = 0
    /// Indicates whether a stay precedes the last movement.
    var isMoveAfterStay = false
    /// Indicates whether the last stay is the one that the track began in.
    var isBase = false
  }

  private(set) var samples: [VisitSample] = []
  private var nodes = [Node(move: 0)]
  /// The stay that the track began in, without the samples that are still compared; nil if it began in a movement.
  private(set) var base: StaySums?

  /// Starts a track in a movement.
  init() {}

  /// Starts a track in a stay.
  init(in base: StaySums, _ samples: [VisitSample] = []) {
    self.base = base
    nodes = [Node(stay: base.cost, isBase: true)]
    for sample in samples { append(sample) }
  }

  /// The lead of staying at the base over all else; negative if the subject has probably left.
  private(set) var baseLead = 0.0

  /// Adds a sample.
  ///
  /// - Complexity: linear in the number of samples that are compared.
  mutating func append(_ sample: VisitSample) {
    if samples.count == VisitScale.window { shorten() }
    samples.append(sample)
    var node = Node()
    var sums = SegmentSums(pivot: sample)
    var elsewhere = Double.infinity
    for place in stride(from: samples.count - 1, through: 0, by: -1) {
      sums.add(samples[place])
      let before = nodes[place]
      let stay = before.move + VisitScale.stayCost + sums.stayCost
      elsewhere = min(elsewhere, stay)
      if stay < node.stay {
        node.stay = stay
        node.stayFrom = place
      }
      guard place < samples.count - 1 || samples.count == 1 else { continue }
      let isAfterStay = before.stay < before.move
      let move = min(before.stay, before.move) + samples[place].moveCost + sums.moveCost
      if move < node.move {
        node.move = move
        node.moveFrom = place
        node.isMoveAfterStay = isAfterStay
      }
    }
    if let base {
      let stay = sums.stayCost(after: base)
      baseLead = min(elsewhere, node.move) - stay
      if stay <= node.stay {
        node.stay = stay
        node.stayFrom = 0
        node.isBase = true
      }
    }
    nodes.append(node)
  }

  /// The lead of ending in a stay over ending in a movement.
  var stayLead: Double { nodes[nodes.count - 1].move - nodes[nodes.count - 1].stay }

  /// Indicates whether the speed of the newest sample is known.
  var isMeasured: Bool { samples.last?.isMeasured ?? false }

  /// The segments of the best division, the oldest first.
  var segments: [Segment] {
    var found: [Segment] = []
    var place = samples.count
    var isStay = nodes[place].stay <= nodes[place].move
    while place > 0 {
      let node = nodes[place]
      let from = isStay ? node.stayFrom : node.moveFrom
      found.append(Segment(isStay: isStay, samples: from..<place))
      if isStay, node.isBase { break }
      isStay = isStay ? false : node.isMoveAfterStay
      place = from
    }
    return found.reversed()
  }

  /// Returns the additional cost of the best division if a stay within it is taken for a movement.
  func advantage(of stay: Segment) -> Double {
    let samples = samples[stay.samples]
    guard let last = samples.last else { return 0 }
    var sums = SegmentSums(pivot: last)
    for sample in samples { sums.add(sample) }
    return sums.moveCost + last.moveCost - sums.stayCost - VisitScale.stayCost
  }

  /// Returns how much a straight movement would fit the samples of a stay better, and how far it leads, in metres.
  func drift(of stay: Segment) -> (improvement: Double, distance: Double) {
    let samples = samples[stay.samples]
    guard let first = samples.first, let last = samples.last else { return (0, 0) }
    var sums = SegmentSums(pivot: last)
    for sample in samples { sums.add(sample) }
    let (times, speed) = sums.movement
    return (times * speed * speed, speed * (last.time - first.time))
  }

  /// Returns the track from a sample on, beginning in a movement.
  func suffix(from place: Int) -> VisitTrack {
    var track = VisitTrack()
    for sample in samples[place...] { track.append(sample) }
    return track
  }

  /// Removes the oldest samples; those of a stay that the track began in are kept as sums.
  private mutating func shorten() {
    base?.add(samples[..<VisitScale.step])
    samples.removeFirst(VisitScale.step)
    nodes.removeFirst(VisitScale.step)
    if let base { nodes[0] = Node(stay: base.cost, isBase: true) }
    let minimum = min(nodes[0].stay, nodes[0].move)
    for place in nodes.indices {
      nodes[place].stayFrom = max(0, nodes[place].stayFrom - VisitScale.step)
      nodes[place].moveFrom = max(0, nodes[place].moveFrom - VisitScale.step)
      if base == nil {
        nodes[place].stay -= minimum
        nodes[place].move -= minimum
      }
    }
  }
}

extension VisitTrack {
  /// Hands the whole track to a coder, for a machine that continues exactly.
  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(list: &samples, into: VisitSample.blank) { (sample, coder) throws(C.Failure) in
      try sample.visitFields(&coder)
    }
    try coder.code(list: &nodes, into: Node()) { (node, coder) throws(C.Failure) in
      try coder.code(&node.stay)
      try coder.code(&node.move)
      try coder.code(place: &node.stayFrom)
      try coder.code(place: &node.moveFrom)
      try coder.code(&node.isMoveAfterStay)
      try coder.code(&node.isBase)
    }
    try coder.code(optional: &base, StaySums()) { (sums, coder) throws(C.Failure) in
      try coder.code(parts: &sums)
    }
    try coder.code(&baseLead)
    let count = samples.count
    try coder.check(nodes.count == count + 1, "a track")
    try coder.check(nodes.allSatisfy { $0.stayFrom <= count && $0.moveFrom <= count }, "a track")
  }
}

extension VisitSample {
  /// A sample whose fields are still to be read.
  fileprivate static let blank = VisitSample(
    time: 0,
    point: .origin,
    weight: 0,
    accuracy: 0,
    fixes: 0,
    end: 0,
    isMeasured: false,
    stillCost: 0,
    movingCost: 0
  )

  fileprivate mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&time)
    try coder.code(&point.x)
    try coder.code(&point.y)
    try coder.code(&weight)
    try coder.code(&accuracy)
    try coder.code(place: &fixes)
    try coder.code(&end)
    try coder.code(&isMeasured)
    try coder.code(&stillCost)
    try coder.code(&movingCost)
    try derived.visitFields(&coder)
  }
}

extension DerivedSpeeds {
  fileprivate mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(place: &count)
    try coder.code(&squares)
  }
}
