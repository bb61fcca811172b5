package import PharosDocuments
package import PharosModel

/// An observer's lag L: the age that 99.9 % of its reports stay within, between 0.5 s and 10 s; up to 64 s for a gateway that
/// uploads once a minute, so that an eighth of its reports are older than 10 s.
///
/// A histogram with eight steps to each doubling, halved every 4,096 reports. It is read at once when a report is older than
/// L (so L grows at once) and otherwise every 1,024 reports (so it shrinks slowly). Until a thousand reports have come, the
/// quantile is the oldest age seen.
package struct LagEstimator: Sendable {
  /// The least lag: what a gateway's own batching usually takes.
  package static let minimumLag = TimeSpan.milliseconds(500)
  /// The greatest lag: what waits longer is a backlog, not a lag, unless the observer always sends that late.
  static let maximumLag = TimeSpan.seconds(10)
  /// The greatest lag of an observer that always sends late.
  static let maximumUploadLag = UploadRhythm.maximumReach + margin
  /// The uploads with older reports than the greatest lag, ten seconds apart, after which it may be one that always does.
  private static let lateUploads: UInt8 = 2
  /// The share of such reports that makes it one.
  private static let lateShare: Float = 1.0 / 8

  /// The margin that a learned lag adds to the ages.
  ///
  /// A gateway that sends once a second sends its oldest advert with an age of a second, and its next datagram comes
  /// at the very moment at which that advert's deadline would fire. 30 ms, some times a network's jitter, let it in
  /// first, so that the jitter does not decide.
  static let margin = TimeSpan.milliseconds(30)

  /// The number of reports between two readings of the histogram.
  static let pause: UInt16 = 1_024
  /// Bin 0 for the least lag, and eight for each doubling.
  static let binCount = 1 + 8 * octaves
  private static let octaves = 7

  /// The lag.
  package var lag: TimeSpan
  let isGiven: Bool
  /// Reports since the histogram was looked at last.
  package var sinceRead: UInt16 = 0
  /// The number of them that were older than the least lag; those are in their bins already.
  var agedSinceRead: UInt16 = 0
  /// The oldest report since the histogram was looked at last, and the one before.
  private var oldest = TimeSpan.zero
  private var oldestBefore = TimeSpan.zero
  /// Reports within the least lag, nearly all: those before the latest look.
  var prompt: Float = 0
  /// All of them before the latest look.
  package var total: Float = 0
  /// Those that were older than the least lag; none until there is the first.
  var bins: [Float] = []
  /// The uploads with older reports than the greatest lag, up to three, and the time of the latest of them.
  private var uploads: UInt8 = 0
  private var uploadedAt = Timestamp.distantPast

  /// Starts from a given lag, which then stays, or from the least.
  package init(given: TimeSpan?) {
    lag = max(.zero, given ?? LagEstimator.minimumLag)
    isGiven = given != nil
  }

  /// The age of the oldest of the last one to two thousand reports, with the `margin`, and at most the lag: what lies
  /// farther back has come in as far as the gateway's own delivery goes.
  ///
  /// A gateway that sends each advert at once is waited for some milliseconds, one that sends twice a second for half a
  /// second. A given lag is taken as it is.
  ///
  package var delivery: TimeSpan {
    isGiven ? lag : min(lag, max(oldest, oldestBefore) + LagEstimator.margin)
  }

  /// A report came that was older than the greatest lag.
  mutating func recordUpload(at received: Timestamp) {
    guard uploads < LagEstimator.lateUploads, received - uploadedAt >= LagEstimator.maximumLag else { return }
    uploads += 1
    uploadedAt = received
  }

  /// Takes the age of a report.
  ///
  /// - Returns: true if the lag or the delivery has become shorter.
  @inline(__always)
  @discardableResult
  package mutating func record(age: TimeSpan) -> Bool {
    guard !isGiven else { return false }
    sinceRead &+= 1
    if age > oldest { oldest = age }
    guard age <= LagEstimator.minimumLag, sinceRead < LagEstimator.pause else {
      let before = (lag: lag, delivery: delivery)
      record(age)
      return lag < before.lag || delivery < before.delivery
    }
    return false
  }

  /// Takes an age that is not usual, or a usual one after which the histogram is looked at.
  @inline(never)
  private mutating func record(_ age: TimeSpan) {
    if age > LagEstimator.minimumLag {
      if bins.isEmpty { bins = Array(repeating: 0, count: LagEstimator.binCount) }
      bins[LagEstimator.bin(of: age)] += 1
      agedSinceRead &+= 1
    }
    guard age > lag || sinceRead >= LagEstimator.pause else { return }
    prompt += Float(sinceRead - agedSinceRead)
    total += Float(sinceRead)
    if sinceRead >= LagEstimator.pause { (oldestBefore, oldest) = (oldest, .zero) }
    sinceRead = 0
    agedSinceRead = 0
    lag = quantile
    guard total >= 4_096 else { return }
    prompt /= 2
    total = prompt
    for index in bins.indices {
      bins[index] /= 2
      total += bins[index]
    }
  }

  private var quantile: TimeSpan {
    var above: Float = 0
    // Without any bin all were prompt.
    var bin = bins.isEmpty ? 0 : bins.count - 1
    while bin > 0 {
      above += bins[bin]
      if above > total * 0.001 { break }
      bin -= 1
    }
    return min(
      LagEstimator.upperEdge(of: bin),
      isLateAlways ? LagEstimator.maximumUploadLag : LagEstimator.maximumLag
    )
  }

  private var isLateAlways: Bool {
    guard uploads == LagEstimator.lateUploads else { return false }
    let late = bins[(LagEstimator.bin(of: LagEstimator.maximumLag) + 1)...].reduce(0, +)
    return late >= total * LagEstimator.lateShare
  }

  /// Bin 0 is up to 0.5 s; then eight bins for each doubling; the last one holds all that is older.
  private static func bin(of age: TimeSpan) -> Int {
    guard age > minimumLag else { return 0 }
    var edge = minimumLag.nanoseconds
    for octave in 0..<octaves {
      if age.nanoseconds <= edge * 2 {
        return 1 + octave * 8 + Int(min(7, (age.nanoseconds - edge - 1) * 8 / edge))
      }
      edge *= 2
    }
    return binCount - 1
  }

  private static func upperEdge(of bin: Int) -> TimeSpan {
    guard bin > 0 else { return minimumLag }
    let base = minimumLag.nanoseconds << Int64((bin - 1) / 8)
    return TimeSpan(nanoseconds: base + base * Int64((bin - 1) % 8 + 1) / 8) + margin
  }
}

/// The difference between an observer's clock and ours, for formats that carry the sender's own absolute times.
///
/// The least of (receive − sent) over the last 30 to 60 s in which reports came is the clock's difference plus the least delay;
/// what a report has above it is its age. Drift is followed as the window moves. A step of the sender's clock to a later time
/// lowers the minimum at once. One to an earlier time shifts whole uploads: it raises the minimum when the least differences of
/// two in a row agree, or when one begins, or lies as a whole, before what was sent already. A backlog that is being flushed
/// does neither: its differences fall, and it is later than what came before.
struct ClockOffset: Sendable {
  /// The length of one of the two halves of the window.
  static let half = TimeSpan.seconds(30)
  /// An age above which a step of the sender's clock is suspected: the greatest lag there is.
  static let suspicious = TimeSpan.seconds(10)

  /// The least time over which the shift of uploads must last.
  private static let minimumSpan = TimeSpan.seconds(3)
  /// The differences within which two uploads agree, unless those of the observer usually differ by more.
  private static let tolerance = TimeSpan.seconds(2)

  /// The reports of one receive time: those of an upload, or a single one.
  private struct Upload: Equatable {
    var received = Timestamp.distantPast
    var count = 0
    /// The least difference, that of the report which was sent last, and the greatest one.
    var minimumDifference = TimeSpan.forever
    var maximumDifference = TimeSpan.zero
    var newest = Timestamp.distantPast
  }

  var current = TimeSpan.forever
  var previous = TimeSpan.forever
  var turned = Timestamp.distantPast
  private var upload = Upload()
  /// The latest time at which a report was sent, by the sender's clock, before the present upload.
  private var newest = Timestamp.distantPast
  /// How far the least differences of uploads usually lie above the offset.
  private var spread = TimeSpan.zero
  /// The uploads in a row that are suspected of a step, and their least differences.
  private var suspects = 0
  private var suspectLow = TimeSpan.forever
  private var suspectHigh = TimeSpan.zero
  private var suspectSince = Timestamp.distantPast

  /// The offset in use, or nil before the first report.
  var offset: TimeSpan? {
    let minimum = min(current, previous)
    return minimum == .forever ? nil : minimum
  }

  /// The time between the first and the last report of the present upload by the sender's clock: it reaches back so far at least,
  /// also where there is no upload yet to compare the clocks by.
  var uploadSpan: TimeSpan { upload.maximumDifference - upload.minimumDifference }

  /// The age of a report that was received and sent at these times by the two clocks.
  mutating func age(received: Timestamp, sent: Timestamp) -> TimeSpan {
    let difference = received - sent
    if received != upload.received {
      judgeUpload()
      let gap = received - upload.received
      if upload.count > 0, gap > UploadRhythm.maximumUploadTime, sent + ClockOffset.suspicious < newest {
        // What an upload begins with was heard behind the one before, whatever the clock says.
        (suspects, previous, current) = (0, .forever, difference - gap)
      }
      upload = Upload(received: received)
    }
    upload.count += 1
    (upload.maximumDifference, upload.minimumDifference) =
      upload.count == 1
      ? (difference, difference)
      : (max(upload.maximumDifference, difference), min(upload.minimumDifference, difference))
    upload.newest = max(upload.newest, sent)
    if received - turned >= ClockOffset.half {
      // A silence tells nothing of the clock: the latest half with reports counts, however long ago it was.
      if current != .forever { previous = current }
      current = .forever
      turned = received
    }
    guard let offset, difference - offset > ClockOffset.suspicious else {
      current = min(current, difference)
      return max(.zero, difference - min(current, previous))
    }
    return difference - offset
  }

  /// An upload is over: if it is shifted as a whole, the sender's clock was set back.
  private mutating func judgeUpload() {
    guard upload.count > 0, let offset else { return }
    let minimum = upload.minimumDifference
    defer { newest = upload.newest }
    guard minimum - offset > ClockOffset.suspicious else {
      suspects = 0
      spread = max(minimum - offset, spread - spread * (1.0 / 16))
      return
    }
    let isBeforeAll = upload.count > 1 && upload.newest < newest
    let tolerance = max(ClockOffset.tolerance, spread)
    if suspects == 0 || max(suspectHigh, minimum) - min(suspectLow, minimum) > tolerance {
      (suspects, suspectLow, suspectHigh, suspectSince) = (0, minimum, minimum, upload.received)
    }
    suspects += 1
    suspectLow = min(suspectLow, minimum)
    suspectHigh = max(suspectHigh, minimum)
    let isLasting = suspects > 1 && upload.received - suspectSince >= ClockOffset.minimumSpan
    guard isBeforeAll || isLasting else { return }
    (suspects, previous, current) = (0, .forever, suspectLow)
  }
}

/// The check of one sender's boot ids and sequence numbers: it detects lost and repeated datagrams, and restarts.
package struct SequenceCheck: Sendable {
  /// The meaning of a datagram's header.
  package enum Finding: Hashable {
    /// The next one, or the first one.
    case next
    /// So many before it have not come.
    case gap(UInt64)
    /// One that had been counted as lost.
    case reordered
    /// One that had come already, or lies too far back to tell.
    case repeated
    /// Another one with the number of one that had come: a second sender has the same identity.
    case conflicting
    /// The first of a later boot.
    case restarted
    /// One of a boot that a later one has replaced.
    case staleBoot
  }

  var bootID: UInt32?
  var received: UInt64 = 0
  var lost: UInt64 = 0
  var highest: UInt32 = 0
  /// Bit n: the number n below the highest has come.
  var seen: UInt64 = 1
  /// The uptimes in the datagrams of the last 64 numbers, by number, in milliseconds: only a repeat has the same one.
  ///
  /// Not part of the state: after a restart zeros match any uptime, as those of senders that give none do.
  private var uptimes = InlineArray<64, UInt32>(repeating: 0)

  /// A flag that is set from a downtime of the server to the next new number: the numbers between are not losses.
  package var isInterrupted = false
  /// The number of datagrams in a row that had come before, including the latest; at most ``maximumRepeats`` plus one.
  package var repeats: UInt8 = 0

  package init() {}

  /// The maximum number of datagrams in a row that count as repeats.
  ///
  /// Sixteen: a network that duplicates datagrams delivers a burst of at most that many again. A sender whose numbers
  /// stay old for longer does not number its datagrams, or has restarted its numbers without a new boot id; the content
  /// of its datagrams is new all the same.
  package static let maximumRepeats: UInt8 = 16

  /// Indicates whether the latest datagram is a repeat, so that its content was handled before.
  package var isRepeat: Bool { repeats > 0 && repeats <= SequenceCheck.maximumRepeats }

  /// Handles a downtime of the server: datagrams sent during it do not count as lost.
  package mutating func interrupt() { isInterrupted = bootID != nil }

  /// A datagram came.
  package mutating func record(_ head: Transmission) -> Finding {
    let repeatsBefore = repeats
    repeats = 0
    guard let boot = bootID, boot == head.bootID else {
      if let boot = bootID, head.bootID < boot { return .staleBoot }
      let isFirst = bootID == nil
      bootID = head.bootID
      highest = head.sequence
      seen = 1
      received += 1
      uptimes = InlineArray(repeating: 0)
      keepUptime(head)
      return isFirst ? .next : .restarted
    }
    let ahead = Int32(bitPattern: head.sequence &- highest)
    if ahead > 0, isInterrupted {
      isInterrupted = false
      highest = head.sequence
      seen = 1
      received += 1
      keepUptime(head)
      return .next
    }
    guard ahead <= 0 else { return advance(by: UInt64(ahead), to: head) }
    let steps = UInt64(-Int64(ahead))
    guard steps < 64, seen >> steps & 1 == 1 else { return lookBack(steps, head) }
    let (known, given) = (uptimes[Int(head.sequence & 63)], SequenceCheck.milliseconds(head.uptime))
    if known != 0, given != 0, known != given { return .conflicting }
    repeats = min(repeatsBefore, SequenceCheck.maximumRepeats) + 1
    return .repeated
  }

  /// The usual case of ``record(_:)``: takes the datagram if it is the next one of the same boot, otherwise changes nothing.
  @inline(__always)
  mutating func acceptNext(_ head: Transmission) -> Bool {
    guard let boot = bootID, boot == head.bootID, head.sequence &- highest == 1, !isInterrupted else {
      return false
    }
    seen = seen &<< 1 | 1
    highest = head.sequence
    received += 1
    repeats = 0
    keepUptime(head)
    return true
  }

  @inline(__always)
  private mutating func keepUptime(_ head: Transmission) {
    uptimes[Int(head.sequence & 63)] = SequenceCheck.milliseconds(head.uptime)
  }

  @inline(__always)
  private static func milliseconds(_ uptime: TimeSpan) -> UInt32 {
    UInt32(truncatingIfNeeded: uptime.nanoseconds / 1_000_000)
  }

  private mutating func advance(by steps: UInt64, to head: Transmission) -> Finding {
    seen = (steps < 64 ? seen << steps : 0) | 1
    highest = head.sequence
    received += 1
    keepUptime(head)
    lost += steps - 1
    return steps == 1 ? .next : .gap(steps - 1)
  }

  /// Takes a datagram that is not known to have come before.
  private mutating func lookBack(_ steps: UInt64, _ head: Transmission) -> Finding {
    guard steps < 64 else { return .repeated }
    seen |= 1 << steps
    keepUptime(head)
    guard lost > 0 else { return .repeated }
    lost -= 1
    received += 1
    return .reordered
  }
}

extension LagEstimator: FieldParts {
  /// Hands what is known of the lag to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var wasGiven = isGiven
    try coder.code(&wasGiven)
    var lag = lag
    try coder.code(&lag)
    if Coder.isReader { self = LagEstimator(given: wasGiven ? lag : nil) }
    guard !isGiven else { return }
    self.lag = min(max(lag, LagEstimator.minimumLag), LagEstimator.maximumUploadLag)
    try coder.code(amount: &prompt, "prompt reports")
    try coder.code(amount: &total, "reports with ages")
    try coder.code(&sinceRead)
    try coder.code(&agedSinceRead)
    try coder.check(agedSinceRead <= sinceRead && sinceRead < LagEstimator.pause, "ages of late")
    var used = bins.indices.reduce(0 as UInt64) { $0 | (bins[$1] != 0 ? 1 << UInt64($1) : 0) }
    try coder.code(&used, in: 0...(1 << UInt64(LagEstimator.binCount) - 1), "ages")
    if used != 0, bins.isEmpty { bins = Array(repeating: 0, count: LagEstimator.binCount) }
    for bin in bins.indices where used >> UInt64(bin) & 1 == 1 { try coder.code(amount: &bins[bin], "ages") }
    try coder.code(small: &uploads, through: LagEstimator.lateUploads, "late uploads")
    try coder.code(&uploadedAt)
    try coder.code(&oldest)
    try coder.code(&oldestBefore)
  }
}

extension ClockOffset: FieldParts {
  /// Hands how far the clock differs to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&current)
    try coder.code(&previous)
    try coder.code(&turned)
    try coder.code(&upload.received)
    try coder.code(&upload.count, as: UInt16.self)
    try coder.code(&upload.minimumDifference)
    try coder.code(&upload.maximumDifference)
    try coder.code(&upload.newest)
    try coder.code(&newest)
    try coder.code(&spread)
    try coder.code(&suspects, as: UInt16.self)
    try coder.code(&suspectLow)
    try coder.code(&suspectHigh)
    try coder.code(&suspectSince)
  }
}

extension SequenceCheck: FieldParts {
  /// Hands what came and what was lost to a coder.
  package mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var bootID = bootID.map { UInt64($0) }
    try coder.code(&bootID)
    self.bootID = bootID.map { UInt32(truncatingIfNeeded: $0) }
    try coder.code(total: &received, "datagrams received")
    try coder.code(total: &lost, "datagrams lost")
    try coder.code(&highest)
    try coder.code(&seen)
    // Bit 0: interrupted; above it the repeats.
    var byte = repeats << 1 | (isInterrupted ? 1 : 0)
    try coder.code(&byte)
    (repeats, isInterrupted) = (byte >> 1, byte & 1 == 1)
    try coder.check(repeats <= SequenceCheck.maximumRepeats + 1, "datagrams that came twice")
  }
}
