import PharosDocuments
import PharosModel

/// The uploads of an observer that collects what it hears and sends it now and then.
///
/// An upload is a witness for the whole time since the one before: what was heard in it could not come earlier, so it is
/// neither late nor is the silence before it a sign that the observer was down. Adverts that come within a second make one
/// upload; an observer that sends each advert at once makes one a second. Heartbeats, which may go another way, make none.
struct UploadRhythm: Equatable, Sendable {
  /// The time that an upload may reach back before its observer's period is known: a minute, and what the network takes.
  static let maximumReach = TimeSpan.seconds(64)
  /// The longest period that is learned; what is older comes from an outage.
  private static let maximumPeriod = TimeSpan.minutes(5)
  /// The period from which on an upload is read as a whole.
  private static let minimumPeriod = TimeSpan.seconds(2)
  /// The share of the period that the datagrams of an upload are waited for, at most ``maximumUploadTime``.
  private static let readingShare = 0.1
  /// The time within which the datagrams of one upload come.
  ///
  /// A computed value: each advert is compared with it, and a stored one is initialised by a call.
  @inline(__always)
  static var maximumUploadTime: TimeSpan { TimeSpan(nanoseconds: 1_000_000_000) }
  /// The share of the time since the upload before that the oldest report must reach back to cover it.
  private static let coveredShare = 0.5
  /// The shortest time between two uploads that differ from a stream.
  ///
  /// - Units: seconds.
  private static let shortest = 1.0
  /// The number of uploads that cover their time after which the observer is one that uploads.
  private static let minimumUploads: UInt8 = 2
  /// The number of uploads that are counted.
  private static let countedUploads: UInt8 = 3
  /// The number of uploads for which an observer that sends now and then may be silent.
  private static let patience = 1.5

  /// The receive time at which the present upload began; before the first one so long ago that any advert begins one.
  private var begun = Timestamp(nanoseconds: .min / 2)
  /// The receive time of the last advert before it.
  private var before = Timestamp.distantPast
  /// The receive time of the latest advert; before the first one, the time from which on there could be one.
  private(set) var latest: Timestamp
  /// The number of uploads, up to ``countedUploads``.
  private var count: UInt8 = 0
  /// The uploads in a row that covered the time since the one before, up to ``minimumUploads``, the present one included.
  private var covered: UInt8 = 0
  /// Indicates whether the present one does.
  private var isCovered = false
  /// The longest time that one of them covered, in seconds.
  private var period = 0.0
  /// The mean time from one upload to the next of late, in seconds, whether they cover it or not.
  private(set) var usualGap = 0.0
  /// Indicates whether its uploads state times.
  private var isTimed = false
  /// Indicates whether its uploads are read as a whole, each in the order of its times, whatever datagram an advert came in: the
  /// observer is known to upload at intervals of two seconds or more, with times.
  private(set) var isWhole = false
  /// Indicates whether what comes was collected since the upload before.
  private(set) var isCollected = false

  init(at time: Timestamp) { latest = time }

  /// An advert came: it belongs to the upload of the one before, or begins another one.
  @inline(__always)
  mutating func receive(at time: Timestamp, age: TimeSpan) {
    if time.nanoseconds &- begun.nanoseconds > UploadRhythm.maximumUploadTime.nanoseconds { begin(at: time) }
    latest = time
    if age.nanoseconds > UploadRhythm.maximumUploadTime.nanoseconds / 2, !isCovered || isFirst {
      cover(age, isTimed: true)
    }
  }

  /// Several adverts of one transmitter came at once, without times: they were collected since the upload before.
  mutating func recordBurst() {
    guard !isCovered else { return }
    guard isFirst else { return cover(begun - before, isTimed: false) }
    (isCovered, covered) = (true, 1)
    update()
  }

  /// Nothing could be received up to a time: what comes then was not collected by the observer.
  mutating func interrupt(until time: Timestamp) {
    guard count > 0 else { return self = UploadRhythm(at: time) }
    (begun, latest) = (max(begun, time), max(latest, time))
  }

  /// An upload begins.
  @inline(never)
  private mutating func begin(at time: Timestamp) {
    guard count > 0 else { return (begun, count) = (time, 1) }
    // One that covers the time before it goes on as long as its adverts come.
    if isCovered, (time - latest).seconds <= UploadRhythm.shortest, (time - begun).seconds <= period / 2 {
      return
    }
    let gap = min((time - latest).seconds, UploadRhythm.maximumReach.seconds)
    usualGap = usualGap == 0 ? gap : usualGap + (gap - usualGap) / 8
    if !isCovered { covered = 0 }
    (begun, before, isCovered) = (time, latest, false)
    if count < UploadRhythm.countedUploads { count += 1 }
    update()
  }

  /// Indicates whether it is known to upload at intervals of two seconds or more.
  var isSlow: Bool { knownPeriod >= UploadRhythm.minimumPeriod }

  /// The time that the next upload may take: a half more than the longest one took; zero for an observer that sends at once.
  ///
  /// Behind its first upload that is the longest time that there is, as the first may have come early.
  var wait: TimeSpan {
    isFirst && isCovered ? UploadRhythm.maximumPeriod : knownPeriod * UploadRhythm.patience
  }

  /// The time within which all that it hears has come and has been read; zero for an observer that sends at once.
  var delivery: TimeSpan { isWhole ? knownPeriod + readingTime + LagEstimator.margin : .zero }

  /// The time within which all that it hears will have come: behind its first upload, which may have come early, the longest period.
  var reach: TimeSpan { isWhole && isFirst ? UploadRhythm.maximumPeriod : delivery }

  /// Indicates whether there was one upload only.
  @inline(__always)
  var isFirst: Bool { count == 1 }

  /// The time after the beginning of an upload at which it is read.
  private var readingTime: TimeSpan {
    min(knownPeriod * UploadRhythm.readingShare, UploadRhythm.maximumUploadTime)
  }

  /// The receive time at which the present upload is read, if it is read as a whole.
  var readingAt: Timestamp { begun + readingTime }

  /// The time at which an advert without a time counts as heard: for one of an upload, the beginning of the upload, so that the
  /// spacing of datagrams is not taken for the interval of a tag.
  func hearing(at time: Timestamp) -> Timestamp { isCollected && !isTimed ? min(begun, time) : time }

  /// Returns true if something that was heard then could not come before the present upload.
  func covers(_ event: Timestamp) -> Bool {
    let start = count > 0 ? begun : latest
    return event >= before
      && start - event <= max(UploadRhythm.maximumReach, knownPeriod * UploadRhythm.patience)
  }

  /// Returns true if a beacon was heard in the latest scan, nothing was heard in a second, and the next scan is not overdue: the
  /// beacon's silence in that second says nothing.
  ///
  /// An observer that listens for half a second in five hears all of its beacons at once, and none of them in between.
  func isBetweenScans(inSecondEndingAt time: Timestamp, heardAt heard: Timestamp) -> Bool {
    // The next scan may have begun when a second is closed.
    let isPast = time <= begun
    let silence = (time - (isPast ? before : latest)).seconds
    return heard >= (isPast ? before - UploadRhythm.maximumUploadTime : begun) && silence >= 1
      && silence <= usualGap * UploadRhythm.patience
  }

  /// The end of the upload before the one to which a datagram of a time belongs; nil for an observer that is not known to
  /// upload at intervals of two seconds or more.
  func knownStart(at time: Timestamp) -> Timestamp? {
    guard isSlow else { return nil }
    return time - begun > UploadRhythm.maximumUploadTime ? latest : before
  }

  /// Takes the age of an advert of the present upload, which may cover the time since the one before.
  @inline(never)
  private mutating func cover(_ age: TimeSpan, isTimed: Bool) {
    // The first one covers as much as it reaches back.
    let gap = isFirst ? age.seconds : (begun - before).seconds
    guard !isCovered || isFirst, gap > UploadRhythm.shortest, age.seconds >= gap * UploadRhythm.coveredShare,
      age <= UploadRhythm.maximumPeriod
    else { return }
    if !isCovered { (isCovered, covered) = (true, min(covered + 1, UploadRhythm.minimumUploads)) }
    period = max(gap, isFirst ? period : period * 0.9)
    self.isTimed = isTimed
    update()
  }

  /// Derives what each advert asks for.
  private mutating func update() {
    isWhole = isTimed && isSlow
    isCollected = isSlow || isFirst && isCovered
  }

  /// Indicates whether the observer is known to be one that uploads: two uploads in a row covered the time before them.
  ///
  /// One alone may be the backlog of an observer that was cut off, unless it was the first that came.
  var isKnown: Bool {
    covered >= UploadRhythm.minimumUploads || covered == 1 && (isFirst || isSecond && !isCovered)
  }

  /// Indicates whether the present upload is the second one.
  private var isSecond: Bool { count == 2 }

  /// The time between two uploads, or zero if the observer is not known to be one that uploads.
  var knownPeriod: TimeSpan { isKnown ? .seconds(period) : .zero }
}

extension UploadRhythm: FieldParts {
  /// Hands what is known of the uploads to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&begun)
    try coder.code(&before)
    try coder.code(&latest)
    try coder.code(small: &count, through: UploadRhythm.countedUploads, "uploads")
    try coder.code(small: &covered, through: UploadRhythm.minimumUploads, "uploads that cover their time")
    try coder.code(&isCovered)
    try coder.code(finite: &period, "the time between uploads")
    try coder.code(finite: &usualGap, "the usual time between uploads")
    try coder.code(&isTimed)
    if Coder.isReader { update() }
  }
}

/// The adverts of an upload that is not read yet.
///
/// The datagrams of an upload come one after the other, by tag, by level or the newest first, and each advert states its time. Read one
/// by one they would be losses where there are none, and one tag's adverts would outrun another's. So they wait until the upload has
/// come, and are read in the order of their times.
struct HeldUpload: Sendable {
  /// The number of adverts from which on an upload is read before it is over.
  static let capacity = 1 << 16

  private(set) var adverts = ReportBatch()
  private(set) var times: [ReportTime] = []
  /// The time at which they are read.
  var due = Timestamp.distantFuture

  /// Takes an advert of another batch.
  mutating func append(_ advert: Report, at time: ReportTime, from batch: borrowing ReportBatch) {
    adverts.append(advert, from: batch)
    times.append(time)
  }

  /// The places of the adverts in the order of their times; those of one time in the order in which they came.
  var order: [Int] { times.indices.sorted { (times[$0].event, $0) < (times[$1].event, $1) } }
}

extension HeldUpload: FieldParts {
  /// Hands the adverts to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&due)
    var places = Array(times.indices)
    try coder.code(list: &places, ofAtLeast: 17, into: 0) { (place, coder) throws(Coder.Failure) in
      var time =
        Coder.isReader ? ReportTime(event: .distantPast, isLate: false, isTimed: false) : times[place]
      try coder.code(&time.event)
      try coder.code(&time.isLate)
      try coder.code(&time.isTimed)
      var advert = Advert(address: nil, rssi: nil, payload: 0..<0)
      if !Coder.isReader, case .advert(let held) = adverts.reports[place].body { advert = held }
      try coder.code(&advert.address)
      var level = advert.rssi?.dBm
      try coder.code(&level)
      try coder.code(&advert.channel)
      try coder.code(&advert.advertisingSet)
      var payload = Array(adverts.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)])
      try coder.code(bytes: &payload)
      guard Coder.isReader else { return }
      advert.rssi = level.map { RSSI(dBm: $0) }
      advert.payload = adverts.append(payload: payload)
      adverts.append(Report(observer: 0, received: time.event, timing: .received, body: .advert(advert)))
      times.append(time)
    }
  }
}
