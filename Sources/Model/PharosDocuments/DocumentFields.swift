/// The keys and values of a mapping in a document.
///
/// What cannot be read is noted as a problem with its place, the value that would be valid and a hint, and reading goes
/// on, so that all problems are reported together.
package struct DocumentFields {
  /// The name of the described thing in messages: `region "entrance"`.
  package let place: String
  /// The path in the tree; empty for the root.
  package let path: String
  /// The first line.
  package let line: Int
  /// The problems found so far.
  package let problems: DocumentProblems
  private var values: [String: DocumentNode] = [:]
  private var keyLines: [String: Int] = [:]

  /// Reads a mapping; nil, with a mistake noted, if the node is none.
  ///
  /// - Parameters:
  ///   - node: the mapping; in YAML it may be empty.
  ///   - place: the name of the described thing in messages.
  ///   - path: the path in the tree.
  ///   - known: the keys that the mapping may have; every other one is a mistake.
  ///   - ignored: keys that are passed over, such as those that only describe a state.
  ///   - problems: receives the problems.
  package init?(
    _ node: DocumentNode,
    place: String,
    path: String = "",
    known: [String],
    ignored: [String] = [],
    problems: DocumentProblems
  ) {
    self.place = place
    self.path = path
    self.problems = problems
    line = node.line
    guard !node.isNull || node.isJSON else { return }
    guard let members = node.members else {
      let expected = DocumentFields.expectation(insteadOf: node, known)
      problems.mistake("\(place) is \(node.sketch)", line: line, field: path, expected: expected)
      return nil
    }
    var previous: DocumentNode?
    for (key, value) in members {
      defer { previous = value }
      guard let name = key.scalar, known.contains(name) else {
        let name = key.scalar ?? "(a structure)"
        guard !ignored.contains(name) else { continue }
        if let slip = DocumentFields.slip(name, value, behind: previous, known) {
          problems.mistake(
            "\(place): \(slip.message)",
            line: key.line,
            field: self.path(of: name),
            expected: slip.expected
          )
          continue
        }
        let hint = Spelling.hint(for: name, among: known)
        let home = problems.sections.home(
          of: name,
          besides: known,
          onlyWithin: !hint.isEmpty || node.isJSON
        )
        if let home, !Spelling.differsInNumber(name, from: known) {
          problems.mistake(
            "\(place): \"\(name)\" belongs under \(home.names)",
            line: key.line,
            field: self.path(of: name),
            expected: home.example
          )
          continue
        }
        problems.mistake(
          "\(place): unknown key \"\(name)\"\(hint)",
          line: key.line,
          field: self.path(of: name),
          expected: "one of \(known.joined(separator: ", "))"
        )
        continue
      }
      values[name] = value
      keyLines[name] = key.line
    }
  }

  /// Returns the mapping that is expected instead of another node, with an example of what to type.
  private static func expectation(insteadOf node: DocumentNode, _ known: [String]) -> String {
    guard !node.isJSON else { return "an object" }
    guard let text = node.scalar, let first = known.first else { return "keys and values" }
    let example = Spelling.separated(text, among: known) ?? (first == "id" ? "id: \(text)" : "\(first): …")
    return "keys and values: \(PlainText.cut(example, to: 60))"
  }

  /// Returns what an unknown key of YAML is that was typed for something else; nil if it is only unknown.
  private static func slip(
    _ name: String,
    _ value: DocumentNode,
    behind previous: DocumentNode?,
    _ known: [String]
  ) -> (message: String, expected: String)? {
    guard !value.isJSON else { return nil }
    if name == "<<" {
      let merged = (value.elements ?? [value]).flatMap { $0.members ?? [] }
      let keys = merged.map { "\($0.key.scalar ?? "…"): \($0.value.scalar ?? "…")" }.joined(separator: ", ")
      return (
        "merge keys (<<) are not read, so that nothing is taken from the other mapping",
        "its keys typed here\(keys.isEmpty ? "" : ": \(PlainText.cut(keys, to: 120))")"
      )
    }
    guard value.isNull else { return nil }
    if let entry = Spelling.separated(name, among: known) {
      let key = PlainText.cut(name, to: 60)
      return ("\"\(key)\" is a key without a value", "a space behind the colon: \(entry)")
    }
    guard name.allSatisfy(\.isNumber), case .plain(let number)? = previous?.content, Double(number) != nil
    else { return nil }
    return ("a comma parts entries, so that \(name) is a key", "a point in a number: \(number).\(name)")
  }

  /// The value of a key; an empty value counts as absent.
  package subscript(_ key: String) -> DocumentNode? {
    guard let node = values[key], !node.isNull else { return nil }
    return node
  }

  /// Returns whether the key is present with a value.
  package func has(_ key: String) -> Bool { self[key] != nil }

  /// Returns the line of a key, or of the mapping if the key is absent.
  package func line(of key: String) -> Int { keyLines[key] ?? line }

  /// Returns the path of a key in the tree.
  package func path(of key: String) -> String {
    path.isEmpty || key.isEmpty ? path + key : "\(path).\(key)"
  }

  /// Notes a mistake about a key; an empty key stands for the mapping itself.
  package func mistake(_ key: String, _ message: String, expected: String? = nil) {
    problems.mistake("\(place): \(message)", line: line(of: key), field: path(of: key), expected: expected)
  }

  /// Notes a warning about a key.
  package func warning(_ key: String, _ message: String, expected: String? = nil) {
    problems.warning("\(place): \(message)", line: line(of: key), field: path(of: key), expected: expected)
  }
}

extension DocumentFields {
  /// Returns the value of a key; nil if it is absent or noted as a mistake.
  package func value<Value>(_ key: String, _ form: ValueForm<Value>) -> Value? {
    guard let node = self[key] else { return nil }
    if let value = form.read(node) { return value }
    mistake(key, "\(key) is \(form.sketch(of: node))", expected: form.expectation(insteadOf: node))
    return nil
  }

  /// Returns the value of a key that must be present.
  package func required<Value>(_ key: String, _ form: ValueForm<Value>, expected: String? = nil) -> Value? {
    guard has(key) else {
      mistake(key, "\(key) is missing", expected: expected ?? form.expected)
      return nil
    }
    return value(key, form)
  }

  /// Returns a text; nil if it is absent or noted as a mistake.
  package func text(_ key: String) -> String? { value(key, .text) }

  /// Returns a text that must not be empty if it is present.
  package func filledText(_ key: String, expected: String, form: ValueForm<String> = .text) -> String? {
    guard let text = value(key, form) else { return nil }
    guard text.contains(where: { !$0.isWhitespace }) else {
      mistake(key, "\(key) is empty", expected: expected)
      return nil
    }
    return text
  }

  /// Returns a text that must be present and not empty.
  package func requiredText(_ key: String, expected: String) -> String? {
    guard has(key) else {
      mistake(key, "\(key) is missing", expected: expected)
      return nil
    }
    return filledText(key, expected: expected)
  }

  /// Returns the mapping that is the value of a key.
  package func fields(_ key: String, known: [String]) -> DocumentFields? {
    guard let node = self[key] else { return nil }
    let place = path.isEmpty && place == "site" ? key : "\(place): \(key)"
    return DocumentFields(node, place: place, path: path(of: key), known: known, problems: problems)
  }

  /// Returns the elements of a list with their paths in the tree; a key without a value gives an empty list.
  ///
  /// - Parameters:
  ///   - key: the key of the list.
  ///   - things: the elements in messages.
  ///   - known: the keys of an element, if the elements are mappings.
  /// - Returns: the elements.
  package func list(
    _ key: String,
    of things: String,
    known: [String] = []
  ) -> [(index: Int, path: String, node: DocumentNode)] {
    guard let node = self[key] else { return [] }
    guard let elements = node.elements else {
      let example = node.isJSON ? "" : DocumentFields.example(of: key, insteadOf: node, known)
      mistake(key, "\(key) is \(node.sketch)", expected: "a list of \(things)\(example)")
      return []
    }
    return elements.enumerated().map { ($0.offset, "\(path(of: key))[\($0.offset)]", $0.element) }
  }

  /// Returns how a list is typed in YAML that is no list yet.
  private static func example(of key: String, insteadOf node: DocumentNode, _ known: [String]) -> String {
    if let member = node.members?.first {
      let name = member.key.scalar ?? "…"
      if known.contains(name) { return ", with a hyphen before the first key: - \(name): …" }
      return known.first.map { ", with a hyphen before each: - \($0): \(PlainText.cut(name, to: 60))" } ?? ""
    }
    if let first = known.first { return ": \(key): [{ \(first): … }]" }
    let parts = (node.scalar ?? "").split(separator: ",").map { part in
      let text = part.trimmingSpaces
      return text.contains(where: { ":#{}[]".contains($0) }) ? "\"\(text)\"" : text
    }
    return ": \(key): [\(PlainText.cut(parts.joined(separator: ", "), to: 120))]"
  }

  /// Returns the mappings of a list; an element that is none is a mistake.
  ///
  /// - Parameters:
  ///   - key: the key of the list.
  ///   - things: the elements in messages; the key if nil.
  ///   - known: the keys that each mapping may have.
  ///   - place: the name of an element in messages, from the element and its index.
  /// - Returns: the mappings, as many as are read before there are too many mistakes.
  package func entries(
    _ key: String,
    of things: String? = nil,
    known: [String],
    place: (DocumentNode, Int) -> String
  ) -> [DocumentFields] {
    list(key, of: things ?? key, known: known).compactMap { index, path, node in
      guard !problems.isFull else { return nil }
      return DocumentFields(node, place: place(node, index), path: path, known: known, problems: problems)
    }
  }

  /// Returns the values of a list; an element that is none is a mistake.
  package func values<Value>(_ key: String, of things: String, _ form: ValueForm<Value>) -> [Value] {
    list(key, of: things).compactMap { element($0.node, of: key, path: $0.path, form) }
  }

  /// Returns the value of an element of a list; nil if it is noted as a mistake.
  package func element<Value>(
    _ node: DocumentNode,
    of key: String,
    path: String,
    _ form: ValueForm<Value>
  ) -> Value? {
    if let value = form.read(node) { return value }
    problems.mistake(
      "\(place): \(key) has \(form.sketch(of: node))",
      line: node.line,
      field: path,
      expected: form.expectation(insteadOf: node)
    )
    return nil
  }
}

/// The form of a value in a document: how it is read, what messages expect, how it is written, and its schema.
package struct ValueForm<Value: Sendable>: Sendable {
  /// The value that would be valid.
  package let expected: String
  /// The schema of the value.
  package private(set) var schema: Schema
  /// The words from which messages suggest the one that was meant.
  private var words: [String] = []
  /// What messages say about another value; nil for the value itself.
  private var mismatch: String?
  fileprivate let read: @Sendable (DocumentNode) -> Value?
  /// Writes a member, or without a key an element of a list; nil for values that are only read.
  fileprivate let write: (@Sendable (Value, StaticString?, inout JSONText) -> Void)?

  private init(
    expected: String,
    schema: Schema,
    write: (@Sendable (Value, StaticString?, inout JSONText) -> Void)?,
    read: @escaping @Sendable (DocumentNode) -> Value?
  ) {
    self.expected = expected
    self.schema = schema
    self.read = read
    self.write = write
  }

  /// Makes the form of a value that is only written: a member, or without a key an element of a list.
  package init(
    writing schema: Schema,
    _ write: @escaping @Sendable (Value, StaticString?, inout JSONText) -> Void
  ) {
    self.init(expected: "", schema: schema, write: write, read: { _ in nil })
  }

  /// Makes the form of a value that is a text.
  ///
  /// - Parameters:
  ///   - expected: the text that would be valid.
  ///   - mismatch: what messages say about another value; nil for the value itself.
  ///   - schema: the schema of the text.
  ///   - text: formats a value; by default its description.
  ///   - parse: parses a text; nil if it is no such value.
  package init(
    expected: String,
    mismatch: String? = nil,
    schema: Schema = .text,
    text: @escaping @Sendable (Value) -> String = { "\($0)" },
    parse: @escaping @Sendable (String) -> Value?
  ) {
    self.init(
      expected: expected,
      schema: schema,
      write: { $2.write(text($0), as: $1) },
      read: { $0.scalar(.text).flatMap(parse) }
    )
    self.mismatch = mismatch
  }

  /// Returns the value of a text that stands in a document of another kind; nil if it is none.
  package func parsed(_ text: String) -> Value? { read(DocumentNode(.string(text))) }

  /// The form with another schema, which says more of the value.
  package func stated(as schema: Schema) -> Self {
    var form = self
    form.schema = schema
    return form
  }

  /// Writes a member, or without a key an element of a list.
  package func write(_ value: Value, as key: StaticString?, to json: inout JSONText) {
    write?(value, key, &json)
  }

  /// Returns what is expected instead of a node: first the same value as it is typed, if the node spells it in another way.
  fileprivate func expectation(insteadOf node: DocumentNode) -> String {
    guard !node.isJSON, let text = node.scalar,
      let typed = Spelling.readings(of: text).first(where: {
        $0 != text && read(DocumentNode(.plain($0), line: node.line)) != nil
      })
    else { return expected }
    return "\(typed.contains(":") ? "\"\(typed)\"" : typed), \(expected)"
  }

  fileprivate func sketch(of node: DocumentNode) -> String {
    mismatch ?? node.sketch + (node.scalar.map { Spelling.hint(for: $0, among: words) } ?? "")
  }
}

extension JSONText {
  fileprivate mutating func write(_ text: String, as key: StaticString?) {
    if let key { member(key, text) } else { element(text) }
  }

  fileprivate mutating func write(_ number: some BinaryInteger, as key: StaticString?) {
    if let key { member(key, number) } else { element(number) }
  }

  fileprivate mutating func write(_ number: Double, as key: StaticString?, decimals: Int? = nil) {
    if let key { member(key, number, decimals: decimals) } else { element(number, decimals: decimals) }
  }

  fileprivate mutating func write(_ flag: Bool, as key: StaticString?) {
    if let key { member(key, flag) } else { element(flag) }
  }
}

extension ValueForm where Value == String {
  /// A text without control characters.
  package static var text: Self {
    ValueForm(expected: "a text without control characters") { PlainText.hasControls($0) ? nil : $0 }
  }

  /// A text of one or several lines, without other control characters.
  package static var lines: Self {
    ValueForm(expected: "a text without control characters") { text in
      let lines = text.unicodeScalars.split { $0 == "\n" || $0 == "\r" || $0 == "\t" }
      return lines.contains { $0.contains(where: PlainText.isControl) } ? nil : text
    }
  }

  /// A text with so many bytes and without control characters.
  package static func text(length: ClosedRange<Int>) -> Self {
    let bytes = "\(length.lowerBound) to \(length.upperBound) bytes"
    let expected = "a text of \(bytes) without control characters"
    return ValueForm(expected: expected, schema: .text(length)) { text in
      length.contains(text.utf8.count) && !PlainText.hasControls(text) ? text : nil
    }
  }

  /// A text on one line that is not blank, of at most so many Unicode scalars.
  package static func line(upTo length: Int) -> Self {
    bounded(.text, "a text of 1 to \(length) characters on one line", length)
  }

  /// A text of one or several lines that is not blank, of at most so many Unicode scalars.
  package static func lines(upTo length: Int) -> Self {
    bounded(.lines, "a text of 1 to \(length) characters", length)
  }

  private static func bounded(_ form: Self, _ expected: String, _ length: Int) -> Self {
    ValueForm(expected: expected, schema: .text(1...length), write: { $2.write($0, as: $1) }) { node in
      form.read(node).flatMap { text in
        text.unicodeScalars.count <= length && text.contains { !$0.isWhitespace } ? text : nil
      }
    }
  }

  /// The address of something on the web: `https` or `http` with a host, at most 2,000 bytes of printable ASCII.
  package static var webAddress: Self {
    ValueForm(
      expected: "a web address of at most 2000 bytes, as in https://example.org/vasa",
      schema: .address
    ) { text in
      guard text.utf8.count <= 2_000, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
      let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
      guard let scheme else { return nil }
      let host = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
      return host.isEmpty || host.contains { "\"<>\\^`{|}@".contains($0) } ? nil : text
    }
  }

  /// A text that is not empty.
  package static func filled(_ expected: String) -> Self {
    ValueForm(expected: expected, schema: .name) { $0.isEmpty ? nil : $0 }
  }

  /// A text that is only written, of which the schema says more.
  package static func text(_ schema: Schema) -> Self {
    ValueForm(writing: schema) { $2.write($0, as: $1) }
  }
}

extension ValueForm where Value == Bool {
  /// True or false.
  package static var flag: Self {
    ValueForm(expected: "true or false", schema: .flag, write: { $2.write($0, as: $1) }) { $0.flag }
  }
}

extension ValueForm where Value: FixedWidthInteger {
  /// A whole number within bounds; JSON may write it with an empty fraction.
  package static func integer(in range: ClosedRange<Value>) -> Self {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    let schema = Schema.integer(Int(clamping: range.lowerBound)...Int(clamping: range.upperBound))
    return ValueForm(expected: expected, schema: schema, write: { $2.write($0, as: $1) }) { node in
      guard let text = node.numeral else { return nil }
      let number = Value(text) ?? (node.isJSON ? Double(text).flatMap { Value(exactly: $0) } : nil)
      return number.flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A whole number that is only written.
  package static var integer: Self { ValueForm(writing: .integer) { $2.write($0, as: $1) } }
  /// A number of things, which is only written.
  package static var count: Self { ValueForm(writing: .count) { $2.write($0, as: $1) } }
}

extension ValueForm where Value == Double {
  /// A number within bounds, in a unit that messages name.
  package static func number(in range: ClosedRange<Double>, unit: String = "") -> Self {
    let bounds = "\(PlainText.number(range.lowerBound)) to \(PlainText.number(range.upperBound))"
    let expected = "a number from \(bounds)\(unit.isEmpty ? "" : " " + unit)"
    return ValueForm(expected: expected, schema: .number(range), write: { $2.write($0, as: $1) }) { node in
      node.numeral.flatMap { Double($0) }.flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A number that is only written.
  package static var number: Self { ValueForm(writing: .number) { $2.write($0, as: $1) } }

  /// A number that is only written, rounded to so many decimals.
  package static func number(decimals: Int, _ schema: Schema = .number) -> Self {
    ValueForm(writing: schema) { $2.write($0, as: $1, decimals: decimals) }
  }
}

extension ValueForm {
  /// Two numbers within bounds, in a list.
  package static func pair(
    in range: ClosedRange<Double>,
    expected: String,
    _ make: @escaping @Sendable (Double, Double) -> Value
  ) -> Self {
    let schema = Schema.list(.number(range), 2...2)
    var form = ValueForm(expected: expected, schema: schema, write: nil) { node in
      let numbers = (node.elements ?? []).map { $0.scalar(.number).flatMap { Double($0) } ?? .nan }
      guard numbers.count == 2, numbers.allSatisfy(range.contains) else { return nil }
      return make(numbers[0], numbers[1])
    }
    form.mismatch = "no pair of numbers"
    return form
  }

  /// An object with declared members, which is only written.
  package static func object(_ declared: [DocumentField<Value>]) -> Self {
    ValueForm(writing: .object(declared)) { value, key, json in
      json.openObject(key)
      DocumentField.write(declared, of: value, to: &json)
      json.closeObject()
    }
  }

  /// A list of values of a form, which is only written.
  package static func list<Element>(_ form: ValueForm<Element>) -> Self where Value == [Element] {
    ValueForm(writing: .list(form.schema)) { values, key, json in
      json.openArray(key)
      for value in values { form.write?(value, nil, &json) }
      json.closeArray()
    }
  }
}

extension ValueForm where Value == [String: String] {
  /// Texts by their names, in an object.
  ///
  /// - Parameters:
  ///   - count: the maximum number of texts.
  ///   - length: the maximum length of a text in Unicode scalars; a name has at most 128 bytes.
  ///   - things: the texts in messages.
  /// - Returns: the form.
  package static func texts(upTo count: Int, ofLength length: Int, _ things: String) -> Self {
    let expected =
      "up to \(count) \(things): names of 1 to 128 bytes, each with a text of 1 to \(length) characters"
    let write: @Sendable (Value, StaticString?, inout JSONText) -> Void = { texts, key, json in
      json.openObject(key)
      for (name, text) in texts.sorted(by: { $0.key < $1.key }) { json.member(named: name, text) }
      json.closeObject()
    }
    return ValueForm(expected: expected, schema: .texts(upTo: count, ofLength: length), write: write) {
      node in
      guard let members = node.members, members.count <= count else { return nil }
      var texts: [String: String] = [:]
      for (key, value) in members {
        guard let name = key.scalar, (1...128).contains(name.utf8.count), !PlainText.hasControls(name),
          let text = ValueForm<String>.lines(upTo: length).read(value)
        else { return nil }
        texts[name] = text
      }
      return texts.count == members.count ? texts : nil
    }
  }
}

extension ValueForm where Value: RawRepresentable<String> {
  /// One of several words.
  package static func word(_ cases: [Value]) -> Self {
    let words = cases.map(\.rawValue)
    var form = ValueForm(
      expected: Wording.alternatives(words),
      schema: .words(words),
      text: { $0.rawValue },
      parse: { text in words.contains(text) ? Value(rawValue: text) : nil }
    )
    form.words = words
    return form
  }
}

/// One key of a mapping, declared once: the property that holds its value, the form of the value, and words for people.
///
/// From a list of them come the reader and the writer of a document, and its schema.
package struct DocumentField<Owner: Sendable>: Sendable {
  /// The key, or the first of several that are written together.
  fileprivate let key: StaticString
  /// The members as documents that clients send have them.
  fileprivate let given: [Schema.Member]
  /// The members as answers have them.
  fileprivate let written: [Schema.Member]
  fileprivate let read: @Sendable (DocumentFields, inout Owner) -> Void
  fileprivate let write: @Sendable (Owner, inout JSONText) -> Void

  /// Declares a key; without it, the property keeps its value, and if it is required, that is a mistake.
  package init<Value>(
    _ key: StaticString,
    _ property: any WritableKeyPath<Owner, Value> & Sendable,
    _ form: ValueForm<Value>,
    _ description: String? = nil,
    isRequired: Bool = false
  ) {
    let name = key.description
    self.key = key
    written = [.required(name, form.schema, description)]
    given = isRequired ? written : [.optional(name, form.schema, description)]
    read = { fields, owner in
      let value = isRequired ? fields.required(name, form) : fields.value(name, form)
      if let value { owner[keyPath: property] = value }
    }
    write = { owner, json in form.write?(owner[keyPath: property], key, &json) }
  }

  /// Declares a key of a property that may be nil, which is written as no key.
  package init<Value>(
    _ key: StaticString,
    _ property: any WritableKeyPath<Owner, Value?> & Sendable,
    _ form: ValueForm<Value>,
    _ description: String? = nil
  ) {
    self.key = key
    given = [.optional(key.description, form.schema, description)]
    written = given
    read = { fields, owner in
      if let value = fields.value(key.description, form) { owner[keyPath: property] = value }
    }
    write = { owner, json in
      if let value = owner[keyPath: property] { form.write?(value, key, &json) }
    }
  }

  /// Declares members that are only written, together.
  package init(
    writing members: [Schema.Member],
    _ write: @escaping @Sendable (Owner, inout JSONText) -> Void
  ) {
    key = ""
    given = []
    written = members
    read = { _, _ in }
    self.write = write
  }

  /// Declares a member that is only written, and always.
  package static func always<Value>(
    _ key: StaticString,
    _ form: ValueForm<Value>,
    _ description: String? = nil,
    _ value: @escaping @Sendable (Owner) -> Value
  ) -> Self {
    DocumentField(writing: [.required(key.description, form.schema, description)]) { owner, json in
      form.write?(value(owner), key, &json)
    }
  }

  /// Declares a member that is only written, and only where it has a value.
  package static func sometimes<Value>(
    _ key: StaticString,
    _ form: ValueForm<Value>,
    _ description: String? = nil,
    _ value: @escaping @Sendable (Owner) -> Value?
  ) -> Self {
    DocumentField(writing: [.optional(key.description, form.schema, description)]) { owner, json in
      if let value = value(owner) { form.write?(value, key, &json) }
    }
  }

  /// Declares the members of a part, which stand in the same object, to be read and written.
  package static func members<Part>(
    _ declared: [DocumentField<Part>],
    of part: any WritableKeyPath<Owner, Part> & Sendable
  ) -> [DocumentField] {
    declared.map { field in
      DocumentField(
        key: field.key,
        given: field.given,
        written: field.written,
        read: { fields, owner in field.read(fields, &owner[keyPath: part]) },
        write: { owner, json in field.write(owner[keyPath: part], &json) }
      )
    }
  }

  private init(
    key: StaticString,
    given: [Schema.Member],
    written: [Schema.Member],
    read: @escaping @Sendable (DocumentFields, inout Owner) -> Void,
    write: @escaping @Sendable (Owner, inout JSONText) -> Void
  ) {
    self.key = key
    self.given = given
    self.written = written
    self.read = read
    self.write = write
  }

  /// Declares the members of a part, which stand in the same object.
  package static func part<Part>(
    _ declared: [DocumentField<Part>],
    _ part: @escaping @Sendable (Owner) -> Part
  ) -> Self {
    DocumentField(writing: .written(declared)) { DocumentField<Part>.write(declared, of: part($0), to: &$1) }
  }

  /// Declares the members of a part that may be missing, which stand in the same object.
  package static func part<Part>(
    ofAny declared: [DocumentField<Part>],
    _ part: @escaping @Sendable (Owner) -> Part?
  ) -> Self {
    DocumentField(writing: [Schema.Member].written(declared).map(\.optional)) { owner, json in
      if let part = part(owner) { DocumentField<Part>.write(declared, of: part, to: &json) }
    }
  }

  /// Reads the declared keys of a mapping into a value.
  package static func read(_ declared: [DocumentField], of fields: DocumentFields, into owner: inout Owner) {
    for field in declared { field.read(fields, &owner) }
  }

  /// Writes the declared keys of a value into an open JSON object.
  package static func write(_ declared: [DocumentField], of owner: Owner, to json: inout JSONText) {
    for field in declared { field.write(owner, &json) }
  }

  /// Writes the declared keys of a value, if there is one, into an open JSON object.
  package static func write(_ declared: [DocumentField], ofAny owner: Owner?, to json: inout JSONText) {
    if let owner { write(declared, of: owner, to: &json) }
  }

  /// Returns the declared keys.
  package static func keys(_ declared: [DocumentField]) -> [String] { declared.map(\.key.description) }
}

extension JSONText {
  /// Writes a key and an array of objects with declared members.
  package mutating func objects<Owner>(
    _ key: StaticString,
    _ owners: some Sequence<Owner>,
    _ declared: [DocumentField<Owner>]
  ) {
    objects(key, owners) { DocumentField.write(declared, of: $1, to: &$0) }
  }
}

extension Schema {
  /// An object of an answer with declared members.
  package static func object<Owner>(_ declared: [DocumentField<Owner>]) -> Schema {
    object(declared.flatMap(\.written))
  }
}

extension [Schema.Member] {
  /// The declared members of documents that clients send.
  package static func given<Owner>(_ declared: [DocumentField<Owner>]) -> Self { declared.flatMap(\.given) }

  /// The declared members of answers.
  package static func written<Owner>(_ declared: [DocumentField<Owner>]) -> Self {
    declared.flatMap(\.written)
  }
}
