package import PharosModel

/// A test of presence rules: the adverts that one observer receives from subjects whose truth is known.
///
/// A scene has walls, networks and datagrams; a drill has none of them. A drill states the properties of the air
/// directly (the loss and the length of its runs, the rate of bodies in the way) and is fast enough for hundreds of
/// days of adverts. A subject arrives, stays, leaves and arrives again, for the whole drill. It is present from the
/// first to the last advert that it sends within range, whether these are received or not. Within range means that
/// every second advert or more is received, apart from loss and the noise of the single advert.
package struct Drill: Hashable, Sendable {
  /// The start time of every drill: 2026-01-01 00:00 UTC.
  package static let start = Timestamp(seconds: 1_767_225_600)
  /// The maximum length of a drill.
  package static let maximumLength = TimeSpan.minutes(50 * 24 * 60)
  /// The maximum number of subjects and untracked devices together.
  package static let maximumSubjects = 4_096

  /// The name that tables show.
  package var name: String
  /// The advertising interval of its subjects.
  package var interval: Interval
  /// The loss on the air that does not depend on the level.
  package var loss: Loss
  /// The course of the levels over time.
  package var motion: Motion
  /// The noise of the levels, or nil for the default of the motion.
  package var noise: Noise?
  /// The number of subjects.
  package var subjects: Int
  /// The length of the drill.
  package var length: TimeSpan
  /// The time that a subject stays, drawn log-uniformly: each tenfold length is as likely as the next.
  package var stay: ClosedRange<TimeSpan>
  /// The time that a subject stays away, drawn likewise.
  package var away: ClosedRange<TimeSpan>
  /// Indicates whether all subjects arrive within ten seconds of each other and leave at the same instant.
  package var leavesTogether: Bool
  /// The number of additional transmitters that match no region, each with one advert a second.
  package var passersBy: Int
  /// The heartbeat period of the observer, or nil for no heartbeats.
  package var heartbeat: TimeSpan?
  /// The rate of single adverts that are far too strong: while a subject is away, reflections from out of range.
  ///
  /// - Units: per hour and subject; two of them are never within two minutes.
  package var spikesPerHour: Double
  /// The kinds of the observer's outages, each in its turn, about every half hour.
  package var outages: [Outage.Kind]

  /// Makes a drill; the defaults are a still tag that sends once a second through air without loss.
  package init(
    name: String,
    interval: Interval = .steady(.seconds(1)),
    loss: Loss = .none,
    motion: Motion = .still,
    noise: Noise? = nil,
    subjects: Int = 12,
    length: TimeSpan = .minutes(24 * 60),
    stay: ClosedRange<TimeSpan> = .minutes(2)...(.minutes(8 * 60)),
    away: ClosedRange<TimeSpan> = .minutes(8)...(.minutes(4 * 60)),
    leavesTogether: Bool = false,
    passersBy: Int = 0,
    heartbeat: TimeSpan? = .seconds(1),
    spikesPerHour: Double = 0,
    outages: [Outage.Kind] = []
  ) {
    self.name = name
    self.interval = interval
    self.loss = loss
    self.motion = motion
    self.noise = noise
    self.subjects = subjects
    self.length = length
    self.stay = stay
    self.away = away
    self.leavesTogether = leavesTogether
    self.passersBy = passersBy
    self.heartbeat = heartbeat
    self.spikesPerHour = spikesPerHour
    self.outages = outages
  }

  /// Plays the drill: the same seed gives the same items.
  ///
  /// - Precondition: the drill is no longer than ``maximumLength`` and has at most ``maximumSubjects``.
  package func play(seed: UInt64) -> DrillPlay { DrillPlay(self, seed: seed) }
}

extension Drill {
  /// The advertising interval of a subject; an advDelay of 0 to 10 ms is added to each interval.
  ///
  /// - Source: Bluetooth Core Specification 5.4, Vol 6, Part B, 4.4.2.2.
  package enum Interval: Hashable, Sendable {
    /// At one interval.
    case steady(TimeSpan)
    /// Quickly while it moves (for half a minute now and then, and while it comes and leaves), slowly at rest.
    case triggered(moving: TimeSpan, still: TimeSpan)

    /// The interval that it has for most of the time.
    package var usual: TimeSpan {
      switch self {
      case .steady(let interval): interval
      case .triggered(moving: _, let still): still
      }
    }
  }

  /// The loss on the air that does not depend on the level.
  ///
  /// - Source: Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39 (1960), with adverts as
  ///   the steps of the chain.
  package struct Loss: Hashable, Sendable {
    /// The share of adverts that are lost, below 1.
    package var share: Double
    /// The mean number of adverts in a run of losses, or nil if the losses are independent.
    package var meanRun: Double?

    /// Makes a loss.
    package init(share: Double, meanRun: Double? = nil) {
      self.share = share
      self.meanRun = meanRun
    }

    /// Nothing is lost.
    package static let none = Loss(share: 0)
  }

  /// The course of the levels over time.
  package enum Motion: String, Hashable, Sendable, CaseIterable {
    /// Each stay has one level; the subject comes and goes at once, as one that is switched on and off or that a lift
    /// takes away.
    case still
    /// The level wanders as people do, and rises and falls steadily while they come and leave: 1.5 to 4 dB a second.
    case walking
    /// Still, and six times in an hour a body takes 10 to 20 dB for 2 to 10 seconds.
    case shadowed
    /// Weak all the time: the level rises to 6 to 16 dB above what the observer can receive, by 0.4 to 1.2 dB a second,
    /// and falls again.
    case passing
  }

  /// The noise of the levels around their course.
  package struct Noise: Hashable, Sendable {
    /// The deviation of the slow component.
    ///
    /// - Units: dB.
    package var slow: Double
    /// The time over which the correlation of the slow component falls to 1/e.
    package var time: TimeSpan
    /// The deviation of the component that is drawn for each advert.
    ///
    /// - Units: dB.
    package var fast: Double

    /// Makes a noise.
    package init(slow: Double, time: TimeSpan, fast: Double) {
      self.slow = slow
      self.time = time
      self.fast = fast
    }
  }

  /// The noise of the drill: its own, or the default of its motion.
  var effectiveNoise: Noise {
    if let noise { return noise }
    switch motion {
    case .still, .shadowed: return Noise(slow: 2.5, time: .seconds(20), fast: 2)
    case .walking: return Noise(slow: 5, time: .seconds(15), fast: 3)
    case .passing: return Noise(slow: 3, time: .seconds(4), fast: 3)
    }
  }
}

/// One item of a drill: an observer's report, or the truth about a subject or an observer.
package enum DrillItem: Hashable, Sendable {
  /// An observer received an advert; a subject's number from the drill's count of subjects on is an untracked device's.
  case advert(subject: Int32, observer: Int32, time: Timestamp, level: RSSI)
  /// An observer's heartbeat, with the number of adverts received since the previous one.
  case heartbeat(observer: Int32, time: Timestamp, advertsHeard: UInt32)
  /// An observer started or restarted.
  case boot(observer: Int32, time: Timestamp, bootID: UInt32)
  /// In truth a subject is there from now on: it sends its first advert within range.
  case came(subject: Int32, time: Timestamp)
  /// In truth a subject has left: the advert of this time was the last one that it sent within range.
  case left(subject: Int32, time: Timestamp)
  /// In truth a subject is in this room from now on.
  case room(subject: Int32, time: Timestamp, room: Int32)
  /// In truth an outage of an observer begins.
  case outage(observer: Int32, outage: Drill.Outage)

  /// The time of the item.
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
  /// An outage of an observer.
  package struct Outage: Hashable, Sendable {
    /// The kind of outage.
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

    /// The kind of outage.
    package var kind: Kind
    /// The start of the outage.
    package var start: Timestamp
    /// The end of the outage.
    package var end: Timestamp

    /// Makes an outage.
    package init(kind: Kind, start: Timestamp, end: Timestamp) {
      self.kind = kind
      self.start = start
      self.end = end
    }
  }
}
