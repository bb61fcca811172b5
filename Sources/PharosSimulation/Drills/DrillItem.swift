package import PharosReports

/// One thing that a drill brings: what an observer reports, or the truth about a subject.
package enum DrillItem: Hashable, Sendable {
  /// An observer received an advert; a subject's number from the drill's count of subjects on is a stranger's.
  case advert(subject: Int32, observer: Int32, time: Timestamp, level: RSSI)
  /// An observer says that it lives, and how many adverts it has heard since it last did.
  case heartbeat(observer: Int32, time: Timestamp, advertsHeard: UInt32)
  /// An observer started or restarted.
  case boot(observer: Int32, time: Timestamp, bootID: UInt32)
  /// In truth a subject is there from now on: it sends its first advert within range.
  case came(subject: Int32, time: Timestamp)
  /// In truth a subject has left: the advert of this time was the last one that it sent within range.
  case left(subject: Int32, time: Timestamp)
  /// In truth a subject is in this room from now on.
  case room(subject: Int32, time: Timestamp, room: Int32)
  /// In truth an observer is not itself from now on.
  case outage(observer: Int32, outage: Drill.Outage)

  /// When it happens.
  package var time: Timestamp {
    switch self {
    case .advert(_, _, let time, _), .heartbeat(_, let time, _), .boot(_, let time, _), .came(_, let time),
      .left(_, let time), .room(_, let time, _):
      time
    case .outage(_, let outage): outage.start
    }
  }
}

extension Drill {
  /// A time in which an observer is not itself.
  package struct Outage: Hashable, Sendable {
    /// What is wrong with it.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
      /// Nothing comes from it, for half a minute up to ten; then it goes on where it was, as after a cut cable.
      case dead
      /// It sends nothing for 5 to 60 seconds, and then restarts.
      case restarted
      /// Its heartbeats go on and say that nothing was heard, for one minute up to ten.
      case hung
      /// One advert in ten comes through, for one or two minutes.
      case congested
    }

    /// What is wrong.
    package var kind: Kind
    /// When it begins.
    package var start: Timestamp
    /// When it is over.
    package var end: Timestamp

    /// Makes an outage.
    package init(kind: Kind, start: Timestamp, end: Timestamp) {
      self.kind = kind
      self.start = start
      self.end = end
    }
  }
}
