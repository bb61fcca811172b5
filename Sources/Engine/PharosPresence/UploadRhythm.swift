import PharosDocuments
import PharosModel

/// The uploads of an observer that collects what it hears and sends it now and then.
///
/// An upload is a witness for the whole time since the one before: what was heard in it could not come earlier, so it is
/// neither late nor is the silence before it a sign that the observer was down. Adverts that come within a second make one
/// upload; an observer that sends each advert at once makes one a second. Heartbeats, which may go another way, make none.
struct UploadRhythm: Equatable, Sendable {
  /// The time that an upload may reach back: a minute, and what the network takes.
  static let maximumReach = TimeSpan.seconds(64)
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
  /// The number of uploads up to which an observer is new, so that the first one that covers its time shows its period.
  private static let newUploads: UInt8 = 4
  /// The number of uploads for which an observer that sends now and then may be silent.
  private static let patience = 1.5

  /// The receive time at which the present upload began.
  private var begun: Timestamp
  /// The receive time of the last advert before it.
  private var before: Timestamp
  /// The receive time of the latest advert.
  private var latest: Timestamp
  /// The number of uploads, up to ``newUploads``.
  private var count: UInt8 = 1
  /// The uploads in a row that covered the time since the one before, up to ``minimumUploads``, the present one included.
  private var covered: UInt8 = 0
  /// Indicates whether the present one does.
  private var isCovered = false
  /// The longest time that one of them covered, in seconds.
  private var period = 0.0
  /// The mean time from one upload to the next of late, in seconds, whether they cover it or not.
  private(set) var usualGap = 0.0
  /// Indicates whether its first upload held several adverts of one transmitter without times.
  private(set) var isBurst = false

  init(at time: Timestamp) {
    (begun, latest) = (time, time)
    before = .distantPast
  }

  /// An advert came: it belongs to the upload of the one before, or begins another one.
  @inline(__always)
  mutating func receive(at time: Timestamp, age: TimeSpan) {
    if time.nanoseconds &- begun.nanoseconds > UploadRhythm.maximumUploadTime.nanoseconds { begin(at: time) }
    latest = time
    if age.nanoseconds > UploadRhythm.maximumUploadTime.nanoseconds / 2, !isCovered { cover(age) }
  }

  /// Several adverts of one transmitter came at once, without times: they were collected since the upload before.
  mutating func recordBurst() {
    if count == 1 { isBurst = true } else if !isCovered { cover(begun - before) }
  }

  /// An upload begins.
  @inline(never)
  private mutating func begin(at time: Timestamp) {
    let gap = min((time - latest).seconds, UploadRhythm.maximumReach.seconds)
    usualGap = usualGap == 0 ? gap : usualGap + (gap - usualGap) / 8
    if !isCovered, (time - begun).seconds > UploadRhythm.shortest { covered = 0 }
    (begun, before, isCovered) = (time, latest, false)
    if count < UploadRhythm.newUploads { count += 1 }
  }

  /// The time that the next upload may take: a half more than the longest one took; zero for an observer that sends at once.
  ///
  /// Behind its first upload that is the longest time that there is, as the first may have come early.
  var wait: TimeSpan {
    (count == 1 && (isBurst || isCovered) ? UploadRhythm.maximumReach : knownPeriod) * UploadRhythm.patience
  }

  /// Returns true if something that was heard then could not come before the present upload.
  func covers(_ event: Timestamp) -> Bool {
    event >= before && begun - event <= UploadRhythm.maximumReach
  }

  /// The end of the upload before the one to which a datagram of a time belongs; nil for an observer that is not known to
  /// upload at intervals of two seconds or more.
  func knownStart(at time: Timestamp) -> Timestamp? {
    guard knownPeriod >= .seconds(2) else { return nil }
    return time - begun > UploadRhythm.maximumUploadTime ? latest : before
  }

  /// Takes the age of an advert of the present upload, which may cover the time since the one before.
  @inline(never)
  private mutating func cover(_ age: TimeSpan) {
    // The first one covers as much as it reaches back.
    let gap = count == 1 ? age.seconds : (begun - before).seconds
    guard !isCovered, gap > UploadRhythm.shortest, age.seconds >= gap * UploadRhythm.coveredShare,
      age <= UploadRhythm.maximumReach
    else { return }
    isCovered = true
    covered = min(covered + 1, UploadRhythm.minimumUploads)
    period = max(gap, period * 0.9)
  }

  /// Indicates whether the observer is known to be one that uploads.
  var isKnown: Bool {
    covered >= UploadRhythm.minimumUploads || count < UploadRhythm.newUploads && covered > 0
  }

  /// The time between two uploads, or zero if the observer is not known to be one that uploads.
  var knownPeriod: TimeSpan { isKnown ? .seconds(period) : .zero }
}

extension UploadRhythm: FieldParts {
  /// Hands what is known of the uploads to a coder.
  mutating func visitFields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(&begun)
    try coder.code(&before)
    try coder.code(&latest)
    try coder.code(small: &count, through: UploadRhythm.newUploads, "uploads")
    try coder.code(small: &covered, through: UploadRhythm.minimumUploads, "uploads that cover their time")
    try coder.code(&isCovered)
    try coder.code(&isBurst)
    try coder.code(finite: &period, "the time between uploads")
    try coder.code(finite: &usualGap, "the usual time between uploads")
  }
}
