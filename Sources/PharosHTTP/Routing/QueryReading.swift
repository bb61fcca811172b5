import PharosEvents
package import PharosReports

/// Takes typed values from a query; all that is wrong is collected, so that a client reads it at once.
package struct QueryReading {
  private let items: QueryItems
  /// What is wrong so far.
  private(set) var errors: [Problem.Field] = []

  /// Reads a request's query.
  package init(_ request: APIRequest) { items = request.query }

  /// The one value of a parameter as text, or nil.
  mutating func text(_ name: String) -> String? {
    let values = items.values(name)
    if values.count > 1 { wrong(name, "is given \(values.count) times", expected: "one value") }
    guard let value = values.first else { return nil }
    guard !value.isEmpty else {
      wrong(name, "is empty", expected: "a value, or the parameter left out")
      return nil
    }
    return value
  }

  /// A whole number, or nil.
  package mutating func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let text = text(name) else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      wrong(
        name,
        "\"\(text.shortened)\" is none",
        expected: "a whole number from \(range.lowerBound) to \(range.upperBound)"
      )
      return nil
    }
    return number
  }

  /// How many entries a page may have.
  package mutating func limit(default usual: Int = 100) -> Int {
    integer("limit", in: 1...Int64(Page.longest)).map(Int.init) ?? usual
  }

  /// A truth value, or nil.
  package mutating func bool(_ name: String) -> Bool? {
    guard let text = text(name) else { return nil }
    switch text {
    case "true": return true
    case "false": return false
    default:
      wrong(name, "\"\(text.shortened)\" is neither", expected: "true or false")
      return nil
    }
  }

  /// A number, or nil.
  package mutating func number(_ name: String, in range: ClosedRange<Double>) -> Double? {
    guard let text = text(name) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      wrong(
        name,
        "\"\(text.shortened)\" is none",
        expected: "a number from \(range.lowerBound) to \(range.upperBound)"
      )
      return nil
    }
    return number
  }

  /// A time, or nil.
  package mutating func time(_ name: String) -> Timestamp? {
    guard let text = text(name) else { return nil }
    guard let time = Timestamp(text: text) else {
      wrong(
        name,
        "\"\(text.shortened)\" is no time",
        expected: "RFC 3339, as 2015-01-01T00:00:00Z, or seconds since the epoch"
      )
      return nil
    }
    return time
  }

  /// Values that a function reads, or nil where the parameter is not there.
  mutating func set<Value: Hashable>(
    _ name: String,
    expected: String,
    _ read: (String) -> Value?
  ) -> Set<Value>? {
    let texts = items.list(name)
    guard !texts.isEmpty else {
      if !items.values(name).isEmpty { wrong(name, "is empty", expected: expected) }
      return nil
    }
    var values: Set<Value> = []
    for text in texts {
      guard let value = read(text) else {
        wrong(name, "\"\(text.shortened)\" is none", expected: expected)
        continue
      }
      values.insert(value)
    }
    return values
  }

  /// Texts as they stand, commas included, or nil where the parameter is not there: identifiers may hold commas.
  package mutating func texts(_ name: String) -> Set<String>? {
    let values = items.values(name)
    guard !values.isEmpty else { return nil }
    if values.contains("") {
      wrong(name, "is empty", expected: "a value, or the parameter left out")
    }
    return Set(values)
  }

  /// Observers, or nil.
  package mutating func observers(_ name: String) -> Set<ObserverID>? {
    guard let texts = texts(name) else { return nil }
    return set(
      name,
      expected: "an EUI-48, an EUI-64, a UUID or a name of at most 64 bytes",
      from: texts
    ) {
      ObserverID($0)
    }
  }

  /// Subjects, or nil: a text that is a beacon's stands for that beacon, any other for an observer.
  package mutating func subjects(_ name: String) -> Set<SubjectID>? {
    guard let texts = texts(name) else { return nil }
    return set(name, expected: "an observer or a beacon as events name them", from: texts) {
      SubjectID($0)
    }
  }

  /// Says that a parameter is wrong.
  mutating func wrong(_ name: String, _ message: String, expected: String) {
    errors.append(Problem.Field(name, message, expected: expected))
  }

  /// Throws what is wrong.
  package func finish() throws(Problem) {
    guard errors.isEmpty else { throw .badQuery(errors) }
  }

  private mutating func set<Value: Hashable>(
    _ name: String,
    expected: String,
    from texts: Set<String>,
    _ read: (String) -> Value?
  ) -> Set<Value> {
    var values: Set<Value> = []
    for text in texts.sorted() where !text.isEmpty {
      guard let value = read(text) else {
        wrong(name, "\"\(text.shortened)\" is none", expected: expected)
        continue
      }
      values.insert(value)
    }
    return values
  }
}

extension SubjectID {
  /// Reads a subject as events name it: a text that is a beacon's stands for that beacon, any other for an observer.
  package init?(_ text: String) {
    if let beacon = BeaconID(text) {
      self = .beacon(beacon)
    } else if let observer = ObserverID(text) {
      self = .observer(observer)
    } else {
      return nil
    }
  }
}

extension EventKind {
  /// The kind of a CloudEvents type, with or without `pharos.` before it; nil where there is none.
  init?(type: String) {
    guard
      let kind = EventKind.allCases.first(where: { $0.type == type || $0.type == "pharos.\(type)" })
    else {
      return nil
    }
    self = kind
  }
}

extension String {
  /// The text, cut where it is longer than a message should repeat.
  var shortened: String { count <= 64 ? self : prefix(64) + "…" }
}
