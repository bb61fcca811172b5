import PharosReports

/// One thing that every rule decides about: a region and a subject.
struct ComparedRow {
  /// What a rule says about it at some time.
  enum State: UInt8 {
    /// It is not here.
    case outside
    /// It is here.
    case inside
    /// Unmonitored: no observer can tell whether the subject is inside.
    case unmonitored
  }

  /// A rule's change of mind.
  struct Change {
    /// The time at which the rule reported the change.
    var time: Timestamp
    /// The state from that time on.
    var state: State
    /// For an exit that the rule took back within ten minutes, how soon.
    var cameBackAfter: TimeSpan?
  }

  /// What one rule makes of the row.
  struct Standing {
    /// Whether a visit is open.
    var isInside = false
    /// When the last visit was said to end.
    var leftAt: Timestamp?
    /// How many exits it told.
    var exits = 0
    /// How many of them it took back within ten minutes.
    var returns = 0
    /// What was said when, as far as it is drawn.
    var changes: [Change] = []
    /// Whether more was said than is kept.
    var isCut = false
  }

  /// The application whose region it is.
  let application: String
  /// The region's identifier.
  let region: String
  /// Whom it is about.
  let subject: SubjectID
  /// How many adverts there were.
  var adverts = 0
  /// The R of the last one.
  var lastHeard: Timestamp?
  /// What each rule makes of it; Pharos is the first.
  var standings: [Standing]
  /// In which columns of a picture there is an advert.
  var columns: ColumnSet

  /// The most changes of mind that are kept for drawing, for each rule.
  static let mostChanges = 2_000

  /// Makes a row of which nothing was heard yet.
  init(application: String, region: String, subject: SubjectID, rules: Int) {
    self.application = application
    self.region = region
    self.subject = subject
    standings = Array(repeating: Standing(), count: rules)
    columns = ColumnSet()
  }

  /// How much it flaps: the exits that were taken back, all rules together.
  var flaps: Int { standings.reduce(0) { $0 + $1.returns } }
  /// How many exits there were, all rules together.
  var exits: Int { standings.reduce(0) { $0 + $1.exits } }
}

/// Which columns of a picture have something in them.
struct ColumnSet {
  /// How many columns there are.
  static let count = 1_024

  private var words = [UInt64](repeating: 0, count: ColumnSet.count / 64)

  /// Marks the column at a share of the width from 0 to 1.
  mutating func mark(at share: Double) {
    let column = min(ColumnSet.count - 1, max(0, Int(share * Double(ColumnSet.count))))
    words[column / 64] |= 1 << UInt64(column % 64)
  }

  /// The marked columns in their order.
  var marked: [Int] { (0..<ColumnSet.count).filter { words[$0 / 64] >> UInt64($0 % 64) & 1 == 1 } }
}
