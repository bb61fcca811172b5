import PharosDocuments
package import PharosModel

/// The receive times of a capture's packets, which never go back, and a count of the packets whose own times do.
///
/// Packets that a capture program has written a moment out of order are held at the latest time. Where the time goes back
/// further, a clock was set back or captures stand one behind the other: a segment begins, whose packets follow those before
/// it at their own intervals, until their times are beyond all receive times again.
package struct CaptureTimeline: Sendable {
  /// The latest receive time; nil before the first packet.
  package private(set) var latest: Timestamp?
  /// The number of packets that are earlier than one before them in the capture.
  package private(set) var backwards = 0
  /// The greatest time by which a packet is earlier than one before it.
  package private(set) var farthest = TimeSpan.zero
  /// The time by which the capture begins before the end of the one before it; zero if it does not.
  package private(set) var overlap = TimeSpan.zero
  /// The latest of the packets' own times.
  private var newest: Timestamp?
  /// The time by which the packets of the segment are delayed.
  private var delay = TimeSpan.zero

  /// The maximum by which packets of one segment are out of order.
  ///
  /// - Units: time. Programs that capture from several interfaces write what each has gathered in up to a second.
  private static let tolerance = TimeSpan.seconds(2)
  /// The time from which on disorder is worth a word.
  private static let notable = TimeSpan.milliseconds(100)

  /// Starts with no packet.
  ///
  /// - Parameter end: the latest receive time of the capture before this one, of which this is a further part.
  package init(after end: Timestamp? = nil) { latest = end }

  /// Returns the receive time of a packet.
  ///
  /// - Parameters:
  ///   - time: the packet's time.
  ///   - isHeld: indicates whether a packet is held at the latest time however far it goes back, as in a recording, whose
  ///     times are receive times.
  /// - Returns: the receive time, never before the one of the packet before.
  package mutating func receive(_ time: Timestamp, isHeld: Bool = false) -> Timestamp {
    if newest == nil, let latest, time < latest { overlap = latest - time }
    if let newest, time < newest {
      backwards += 1
      farthest = max(farthest, newest - time)
    }
    newest = max(newest ?? time, time)
    guard let latest, !isHeld else {
      let received = max(time, latest ?? time)
      latest = received
      return received
    }
    if time >= latest {
      delay = .zero
    } else if latest - (time + delay) > CaptureTimeline.tolerance {
      delay = latest - time
    }
    let received = max(time + delay, latest)
    self.latest = received
    return received
  }

  /// Takes an instant of a recording that is no packet's.
  package mutating func advance(to instant: Timestamp) { latest = max(latest ?? instant, instant) }

  /// Sentences, without their ends, about times that go back; empty where none does by a notable time.
  package var remarks: [String] {
    var remarks: [String] = []
    if overlap >= CaptureTimeline.notable {
      remarks.append(
        "it begins \(CaptureTimeline.text(overlap)) before the end of the capture before it, and counts as after it; give "
          + "captures in the order of their times, or join those of several gateways with mergecap"
      )
    }
    if farthest >= CaptureTimeline.notable {
      let verb = backwards == 1 ? "goes" : "go"
      remarks.append(
        "\(Wording.count(backwards, "packet")) \(verb) back in time, by up to \(CaptureTimeline.text(farthest)), and "
          + "\(backwards == 1 ? "counts" : "count") as after those before; if captures were joined one behind the other, "
          + "sort them with reordercap"
      )
    }
    return remarks
  }

  private static func text(_ span: TimeSpan) -> String {
    let seconds = span.milliseconds / 1_000
    return "\(Wording.decimal(seconds, places: seconds < 10 && seconds != seconds.rounded() ? 1 : 0)) s"
  }
}
