import PharosReports

extension Track {
  /// What must be known of a track for every advert, beside the latest sample.
  struct Marks: OptionSet {
    let rawValue: UInt8
    /// It was not forgotten.
    static let live = Marks(rawValue: 1)
    /// There is one policy, which looks at silence alone and by which the beacon is here for sure; nothing waits, the timer
    /// is set, and nobody asks for seconds.
    static let plain = Marks(rawValue: 2)
    /// The address is part of the identity.
    static let keyed = Marks(rawValue: 4)
    /// So many addresses share the identity that they are not told apart.
    static let crowd = Marks(rawValue: 8)
    /// The level is low.
    static let low = Marks(rawValue: 16)
    /// The level is far below the usual.
    static let far = Marks(rawValue: 32)
    /// Where the kind of identity lies.
    static let kindShift: UInt8 = 6

    // Sums, as a list of options would allocate in an unoptimised build.
    /// All that an advert's way depends on, and how it is on the straight line.
    static var decisive: Marks { Marks(rawValue: 1 + 2 + 8 + 16 + 32) }
    static var usual: Marks { Marks(rawValue: 1 + 2) }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(kind: BeaconID.Kind) { rawValue = kind.rawValue << Marks.kindShift }

    /// The kind of identity.
    var kind: BeaconID.Kind {
      @inline(__always) get { BeaconID.Kind(rawValue: rawValue >> Marks.kindShift) ?? .proximity }
    }
  }

  /// What must be known of a track when it is decided upon.
  struct Standing: OptionSet {
    let rawValue: UInt16
    /// It stands in the observer's list of tracks that are due for a second.
    static let listed = Standing(rawValue: 1)
    /// The directory declares its power.
    static let declaredPower = Standing(rawValue: 2)
    /// One of its policies looks at levels to leave.
    static let levels = Standing(rawValue: 4)
    /// Its seconds are kept.
    static let seconds = Standing(rawValue: 8)
    /// Its timer is set.
    static let armed = Standing(rawValue: 16)
    /// There is one policy, by which the beacon is here for sure, nothing waits, and the timer is set.
    static let calm = Standing(rawValue: 32)
    /// A deadline of the first presence has passed and only proof of life is missing.
    static let waiting = Standing(rawValue: 64)
    /// The presences lie in the extras.
    static let detailed = Standing(rawValue: 128)
    /// There are several of them.
    static let several = Standing(rawValue: 1_024)
    /// Further addresses of the identity lie there.
    static let shared = Standing(rawValue: 2_048)
    /// Where the phase of the first presence lies.
    static let phaseShift: UInt16 = 8
    static let phaseMask: UInt16 = 3 << phaseShift

    /// What is looked at for more than silence: levels, or seconds.
    static var watched: Standing { Standing(rawValue: 4 + 8) }
    /// What tells whether nothing matters beyond the usual but its seconds, and how it is then.
    static var kept: Standing { Standing(rawValue: 1 + 4 + 8 + 32) }
    static var plainButKept: Standing { Standing(rawValue: 1 + 8 + 32) }
    /// What makes it unsure that the beacon is here for all who ask.
    static var unsure: Standing { Standing(rawValue: 64 + 1_024) }
    /// What a deadline depends on beyond the track itself.
    static var beyond: Standing { Standing(rawValue: 128 + 2_048) }
  }

  /// What must be known for every advert.
  var marks: Marks {
    @inline(__always) get { Marks(rawValue: sample.flags) }
    set { sample.flags = newValue.rawValue }
  }

  /// Whether it was not forgotten.
  package var isLive: Bool {
    @inline(__always) get { marks.contains(.live) }
    set {
      set(.live, newValue)
      noteCalm()
    }
  }

  /// Whether the address is part of the identity.
  var isKeyed: Bool { marks.contains(.keyed) }

  /// Whether so many addresses share the identity that they are not told apart.
  package var isCrowd: Bool {
    get { marks.contains(.crowd) }
    set { set(.crowd, newValue) }
  }

  /// Where its level lies: 0 usual, 1 low, 2 far below.
  package var surroundings: UInt8 {
    get { marks.contains(.far) ? 2 : marks.contains(.low) ? 1 : 0 }
    set {
      set(.low, newValue == 1)
      set(.far, newValue == 2)
    }
  }

  /// Whether it stands in the observer's list of tracks that are due for a second.
  package var isListed: Bool {
    get { standing.contains(.listed) }
    set { set(.listed, newValue) }
  }

  /// Whether the directory declares its power.
  var isPowerDeclared: Bool {
    get { standing.contains(.declaredPower) }
    set { set(.declaredPower, newValue) }
  }

  /// Whether one of its policies looks at levels to leave.
  package var hasLevels: Bool {
    get { standing.contains(.levels) }
    set { set(.levels, newValue) }
  }

  /// Whether its seconds are kept.
  package var needsSeconds: Bool {
    get { standing.contains(.seconds) }
    set { set(.seconds, newValue) }
  }

  /// Whether its timer is set.
  package var isArmed: Bool {
    @inline(__always) get { standing.contains(.armed) }
    set {
      set(.armed, newValue)
      noteCalm()
    }
  }

  /// Whether there is but one policy, by which the beacon is here for sure, nothing waits, and the timer is set: the usual
  /// state, known without a look at the rest.
  package var isCalm: Bool {
    @inline(__always) get { standing.contains(.calm) }
  }

  /// Finds out anew whether it is in the usual state.
  package mutating func noteCalm() {
    let isCalm = isSurelyHere && standing.contains(.armed)
    set(.calm, isCalm)
    set(.plain, isCalm && standing.isDisjoint(with: .watched) && isLive)
  }

  /// The phase of the first presence.
  var phase: Presence.Phase {
    @inline(__always) get {
      Presence.Phase(rawValue: UInt8(truncatingIfNeeded: standing.rawValue >> Standing.phaseShift & 3))
        ?? .outside
    }
    set {
      let others = standing.rawValue & ~Standing.phaseMask
      standing = Standing(rawValue: others | UInt16(newValue.rawValue) << Standing.phaseShift)
    }
  }

  mutating func set(_ mark: Marks, _ isSet: Bool) {
    var marks = marks
    if isSet { marks.insert(mark) } else { marks.remove(mark) }
    self.marks = marks
  }

  mutating func set(_ mark: Standing, _ isSet: Bool) {
    if isSet { standing.insert(mark) } else { standing.remove(mark) }
  }
}
