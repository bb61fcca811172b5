/// The numbers by which bytes name what JSON names by words. They stay what they are: new ones come behind.
extension Evidence.Rule {
  /// The number of the rule.
  var code: UInt8 {
    switch self {
    case .samples: 0
    case .level: 1
    case .adaptiveSilence: 2
    case .fixedSilence: 3
    case .neverHeard: 4
    case .observerOutage: 5
    case .scanOff: 6
    case .recovery: 7
    case .alreadyInside: 8
    case .assumed: 9
    case .displayOn: 10
    case .requested: 11
    case .regionChange: 12
    case .eviction: 13
    }
  }

  /// The rules in the order of their numbers.
  private static let coded: [Evidence.Rule] = [
    .samples, .level, .adaptiveSilence, .fixedSilence, .neverHeard, .observerOutage, .scanOff, .recovery,
    .alreadyInside, .assumed, .displayOn, .requested, .regionChange, .eviction,
  ]

  /// The rule with a number, or nil if there is none.
  init?(code: UInt8) {
    guard Int(code) < Evidence.Rule.coded.count else { return nil }
    self = Evidence.Rule.coded[Int(code)]
  }
}

extension LevelClass {
  /// The number of the class.
  var code: UInt8 {
    switch self {
    case .usual: 0
    case .low: 1
    case .far: 2
    }
  }

  /// The class with a number, or nil if there is none.
  init?(code: UInt8) {
    guard code < 3 else { return nil }
    self = [.usual, .low, .far][Int(code)]
  }
}

extension RangedReading.Proximity {
  /// The number of the proximity.
  var code: UInt8 {
    switch self {
    case .immediate: 0
    case .near: 1
    case .far: 2
    case .unknown: 3
    }
  }

  /// The proximity with a number, or nil if there is none.
  init?(code: UInt8) {
    guard code < 4 else { return nil }
    self = [.immediate, .near, .far, .unknown][Int(code)]
  }
}

extension ZoneTransition.Reason {
  /// The number of the reason.
  var code: UInt8 {
    switch self {
    case .margin: 0
    case .silence: 1
    case .notSure: 2
    case .observerDown: 3
    }
  }

  /// The reason with a number, or nil if there is none.
  init?(code: UInt8) {
    guard code < 4 else { return nil }
    self = [.margin, .silence, .notSure, .observerDown][Int(code)]
  }
}
