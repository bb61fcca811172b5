import PharosDocuments
import PharosModel

/// The uploads of an observer that collects what it hears and sends it now and then.
///
/// An upload is a witness for the whole time since the one before: what was heard in it could not come earlier, so it is
/// neither late nor is the silence before it a sign that the observer was down. Adverts that come within a second make one
/// upload; an observer that sends each advert at once makes one a second. Heartbeats, which may go another way, make none.
struct UploadRhythm: Equatable, Sendable {
  /// The time that an upload may reach back: a minute, and what the network takes.
  static let longestReach = TimeSpan.seconds(64)
  /// The time within which the datagrams of one upload come.
  static let longest = TimeSpan.seconds(1)
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

  /// The receive time at which the present upload began.
  var begun: Timestamp
  /// The receive time of the last advert before it.
  var before: Timestamp
  /// The receive time of the latest advert.
  var latest: Timestamp
  /// The number of uploads, up to ``newUploads``.
  var count: UInt8 = 1
  /// The uploads in a row that covered the time since the one before, up to ``minimumUploads``, the present one included.
  var covered: UInt8 = 0
  /// Indicates whether the present one does.
  var isCovered = false
  /// The longest time that one of them covered, in seconds.
  var period = 0.0
  /// The mean time from one upload to the next of late, in seconds, whether they cover it or not.
  var usualGap = 0.0

  init(at time: Timestamp) {
    (begun, latest) = (time, time)
    before = .distantPast
  }

  /// An upload begins.
  mutating func begin(at time: Timestamp) {
    let gap = min((time - latest).seconds, UploadRhythm.longestReach.seconds)
    usualGap = usualGap == 0 ? gap : usualGap + (gap - usualGap) / 8
    if !isCovered, (time - begun).seconds > UploadRhythm.shortest { covered = 0 }
    (begun, before, isCovered) = (time, latest, false)
    if count < UploadRhythm.newUploads { count += 1 }
  }

  /// Indicates whether there have been enough uploads for their rhythm to show.
  var isFamiliar: Bool { count >= UploadRhythm.newUploads }

  /// Returns true if something that was heard then could not come before the present upload.
  func covers(_ event: Timestamp) -> Bool {
    event >= before && begun - event <= UploadRhythm.longestReach
  }

  /// Takes the age of an advert of the present upload, which may cover the time since the one before.
  mutating func cover(_ age: TimeSpan) {
    // The first one covers as much as it reaches back.
    let gap = count == 1 ? age.seconds : (begun - before).seconds
    guard !isCovered, gap > UploadRhythm.shortest, age.seconds >= gap * UploadRhythm.coveredShare,
      age <= UploadRhythm.longestReach
    else { return }
    isCovered = true
    covered = min(covered + 1, UploadRhythm.minimumUploads)
    period = max(gap, period * 0.9)
  }

  /// The time between two uploads, or zero if the observer is not known to be one that uploads.
  var knownPeriod: TimeSpan {
    let isKnown = covered >= UploadRhythm.minimumUploads || count < UploadRhythm.newUploads && covered > 0
    return isKnown ? .seconds(period) : .zero
  }
}

extension UploadRhythm {
  /// Writes what is known of the uploads.
  func write(to writer: inout FieldWriter) {
    begun.write(to: &writer)
    before.write(to: &writer)
    latest.write(to: &writer)
    for byte in [count, covered, isCovered ? 1 : 0] { writer.write(byte) }
    writer.write(period)
    writer.write(usualGap)
  }

  /// Reads what is known of the uploads.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init(at: try Timestamp(from: &reader))
    before = try Timestamp(from: &reader)
    latest = try Timestamp(from: &reader)
    count = try reader.small("uploads", through: UploadRhythm.newUploads)
    covered = try reader.small("uploads that cover their time", through: UploadRhythm.minimumUploads)
    isCovered = try reader.flag()
    period = try reader.finite("the time between uploads")
    usualGap = try reader.finite("the usual time between uploads")
  }
}
