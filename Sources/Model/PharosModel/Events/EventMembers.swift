import PharosDocuments

/// A part of an event's data that lists its members once, from which its JSON and its bytes in records and checkpoints
/// are derived.
protocol EventMembers {
  /// A value whose members are still to be read.
  static var unread: Self { get }
  /// Hands each member to a coder, in the order of JSON.
  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure)
}

/// The coding of the members that ``EventMembers`` lists.
///
/// `JSONText` writes what is present under its key. `FieldWriter` and `FieldReader` keep every bit, as checkpoints need
/// it. ``RecordWriter`` and ``RecordReader`` keep the digits of JSON, and what is present in the flags of a
/// ``RecordHead``.
protocol MemberCoder {
  /// The error of a reader; a writer has none.
  associatedtype Failure: Error
  /// Codes a value that is always present; numbers have so many decimals in JSON and in records.
  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _ value: inout Value,
    decimals: Int
  ) throws(Failure)
  /// Codes a value that may be missing.
  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _ value: inout Value?,
    decimals: Int
  ) throws(Failure)
  /// Codes the identifier of a zone that may be missing, beside which JSON states its name.
  mutating func zone(_ key: StaticString, _ value: inout String?) throws(Failure)
  /// Codes a choice of a few cases.
  mutating func choice<Value: MemberChoice>(
    _ key: StaticString,
    _ value: inout Value,
    _ place: RecordHead.Place
  ) throws(Failure)
  /// Codes a truth value, which JSON states only if it is true.
  mutating func flag(_ key: StaticString, _ value: inout Bool) throws(Failure)
  /// Codes a part, in JSON an object or, without a key, further members of the same object.
  mutating func part<Part: EventMembers>(_ key: StaticString?, _ part: inout Part) throws(Failure)
  /// Codes a part that may be missing.
  mutating func part<Part: EventMembers>(_ key: StaticString?, _ part: inout Part?) throws(Failure)
  /// Codes a list of parts, which JSON leaves out if it is empty.
  mutating func parts<Part: EventMembers>(_ key: StaticString, _ parts: inout [Part]) throws(Failure)
  /// Codes a value that is always present, of which its schema says more than the type.
  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _ value: inout Value,
    decimals: Int,
    _ note: MemberNote
  ) throws(Failure)
  /// Codes a value that may be missing, of which its schema says more than the type.
  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _ value: inout Value?,
    decimals: Int,
    _ note: MemberNote
  ) throws(Failure)
  /// Codes a part that may be missing, with words for people.
  mutating func part<Part: EventMembers>(
    _ key: StaticString,
    _ part: inout Part?,
    _ note: MemberNote
  ) throws(Failure)
}

/// What the schema of a member says besides the type of its value.
struct MemberNote: ExpressibleByStringLiteral {
  /// Words for people.
  var words: StaticString
  /// The smallest value.
  var minimum: Double?
  /// The largest value.
  var maximum: Double?

  init(_ words: StaticString, minimum: Double? = nil, maximum: Double? = nil) {
    (self.words, self.minimum, self.maximum) = (words, minimum, maximum)
  }

  init(stringLiteral words: StaticString) { self.init(words) }
}

/// Only schemas have notes.
extension MemberCoder {
  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _ value: inout Value,
    decimals: Int,
    _: MemberNote
  ) throws(Failure) {
    try member(key, &value, decimals: decimals)
  }

  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _ value: inout Value?,
    decimals: Int,
    _: MemberNote
  ) throws(Failure) {
    try member(key, &value, decimals: decimals)
  }

  mutating func part<Part: EventMembers>(
    _ key: StaticString,
    _ part: inout Part?,
    _: MemberNote
  ) throws(Failure) {
    try self.part(key, &part)
  }
}

extension MemberCoder {
  mutating func zone(_ key: StaticString, _ value: inout String?) throws(Failure) { try member(key, &value) }

  /// Codes a value without decimals, or a span of time in milliseconds.
  mutating func member<Value: MemberValue>(_ key: StaticString, _ value: inout Value) throws(Failure) {
    try member(key, &value, decimals: 3)
  }

  /// Codes a value without decimals, or a span of time in milliseconds, that may be missing.
  mutating func member<Value: MemberValue>(_ key: StaticString, _ value: inout Value?) throws(Failure) {
    try member(key, &value, decimals: 3)
  }
}

/// A value of a member.
protocol MemberValue: FieldCodable {
  /// The schema of the value in JSON.
  static var schema: Schema { get }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int)
  func write(to record: inout RecordWriter, decimals: Int)
  init(from record: inout RecordReader, decimals: Int) throws(FieldError)
}

/// A choice of a few cases that JSON spells as words.
protocol MemberChoice: FieldChoice {
  /// The word of the case.
  var name: String { get }
}

extension MemberChoice where Self: RawRepresentable, RawValue == String {
  var name: String { rawValue }
}

extension RegionState: MemberChoice {}

// MARK: Values

extension Int: MemberValue {
  static var schema: Schema { .integer }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, self) }
  func write(to record: inout RecordWriter, decimals: Int) { record.signed(Int64(self)) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) { self = Int(try record.signed()) }
}

extension UInt16: MemberValue {}

extension UInt32: MemberValue {}

extension MemberValue where Self: FixedWidthInteger & UnsignedInteger {
  static var schema: Schema { .count }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, self) }
  func write(to record: inout RecordWriter, decimals: Int) { record.number(UInt64(self)) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    guard let number = Self(exactly: try record.number()) else {
      throw record.failure(.outOfRange(field: "a number"))
    }
    self = number
  }
}

extension Bool: MemberValue {
  static var schema: Schema { .flag }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, self) }
  func write(to record: inout RecordWriter, decimals: Int) { record.byte(self ? 1 : 0) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let byte = try record.byte()
    guard byte < 2 else { throw record.failure(.unknownTag(field: "a truth value", tag: byte)) }
    self = byte == 1
  }
}

extension Double: MemberValue {
  static var schema: Schema { .number }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.member(key, self, decimals: decimals)
  }
  func write(to record: inout RecordWriter, decimals: Int) { record.decimal(self, decimals) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    self = try record.decimal(decimals)
  }
}

/// A span of time is stated in seconds: to the millisecond with three decimals, with more to the nanosecond.
extension TimeSpan: MemberValue {
  static var schema: Schema { .number }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.member(key, seconds, decimals: decimals)
  }
  func write(to record: inout RecordWriter, decimals: Int) {
    if decimals == 3 { record.milliseconds(self) } else { record.span(self) }
  }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    self = decimals == 3 ? try record.milliseconds() : try record.span()
  }
}

extension Timestamp: MemberValue {
  static var schema: Schema { .time }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, rfc3339) }
  func write(to record: inout RecordWriter, decimals: Int) { record.time(self) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) { self = try record.time() }
}

extension EventID: MemberValue {
  static var schema: Schema { .text }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, description) }
  func write(to record: inout RecordWriter, decimals: Int) {
    record.word(high)
    record.word(low)
  }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let high = try record.word()
    self.init(high: high, low: try record.word())
  }
}

extension String: MemberValue {
  static var schema: Schema { .text }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, self) }
  func write(to record: inout RecordWriter, decimals: Int) { record.name(.text(self)) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) { self = try record.textName() }
}

extension ObserverID: MemberValue {
  static var schema: Schema { .text }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.identity(key, .observer(self))
  }
  func write(to record: inout RecordWriter, decimals: Int) { record.name(.observer(self)) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) { self = try record.observerName() }
}

extension BeaconID: MemberValue {
  static var schema: Schema { .text }
  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.identity(key, .beacon(self))
  }
  func write(to record: inout RecordWriter, decimals: Int) { record.name(.beacon(self)) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) { self = try record.beaconName() }
}

// MARK: JSON

extension JSONText: MemberCoder {
  mutating func member<Value: MemberValue>(_ key: StaticString, _ value: inout Value, decimals: Int) {
    value.write(to: &self, key, decimals: decimals)
  }

  mutating func member<Value: MemberValue>(_ key: StaticString, _ value: inout Value?, decimals: Int) {
    value?.write(to: &self, key, decimals: decimals)
  }

  mutating func zone(_ key: StaticString, _ value: inout String?) {
    if let value { zone(key, value) }
  }

  mutating func choice<Value: MemberChoice>(_ key: StaticString, _ value: inout Value, _: RecordHead.Place) {
    member(key, value.name)
  }

  mutating func flag(_ key: StaticString, _ value: inout Bool) {
    if value { member(key, true) }
  }

  mutating func part<Part: EventMembers>(_ key: StaticString?, _ part: inout Part) {
    if let key { openObject(key) }
    part.visitMembers(&self)
    if key != nil { closeObject() }
  }

  mutating func part<Part: EventMembers>(_ key: StaticString?, _ part: inout Part?) {
    if var value = part { self.part(key, &value) }
  }

  mutating func parts<Part: EventMembers>(_ key: StaticString, _ parts: inout [Part]) {
    if !parts.isEmpty { array(key, of: parts) }
  }

  /// Writes a list of objects.
  mutating func array(_ key: StaticString, of parts: [some EventMembers]) {
    objects(key, parts) { json, part in
      var part = part
      part.visitMembers(&json)
    }
  }
}

// MARK: Checkpoints

/// The values to the last bit, one after the other.
extension FieldCoder where Self: MemberCoder {
  mutating func member<Value: MemberValue>(
    _: StaticString,
    _ value: inout Value,
    decimals: Int
  ) throws(Failure) {
    try code(&value)
  }

  mutating func member<Value: MemberValue>(
    _: StaticString,
    _ value: inout Value?,
    decimals: Int
  ) throws(Failure) {
    try code(&value)
  }

  mutating func choice<Value: MemberChoice>(
    _: StaticString,
    _ value: inout Value,
    _: RecordHead.Place
  ) throws(Failure) {
    try code(&value)
  }

  mutating func flag(_: StaticString, _ value: inout Bool) throws(Failure) { try code(&value) }

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part) throws(Failure) {
    try part.visitMembers(&self)
  }

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part?) throws(Failure) {
    var isPresent = part != nil
    try code(&isPresent)
    guard isPresent else { return part = nil }
    var value = part ?? .unread
    try value.visitMembers(&self)
    part = value
  }

  mutating func parts<Part: EventMembers>(_: StaticString, _ parts: inout [Part]) throws(Failure) {
    var count = UInt32(parts.count)
    try code(&count)
    for place in 0..<Int(count) {
      if place == parts.count { parts.append(.unread) }
      try parts[place].visitMembers(&self)
    }
  }
}

extension FieldWriter: MemberCoder {}

extension FieldReader: MemberCoder {}

// MARK: Records

/// The head of a part in a record: a bit for each member that may be missing, and the choices.
///
/// - Shape: perhaps a byte; the flags, the first member in the lowest bit, as a byte or, if there are more than eight, as a
///   number; perhaps a byte. Without flags there is none for them.
struct RecordHead: MemberCoder {
  /// The place of a choice.
  enum Place: Equatable {
    /// Among the flags, in so many bits.
    case bits(Int)
    /// A byte before the flags.
    case before
    /// A byte behind the flags.
    case behind
  }

  /// The byte before the flags.
  var before: UInt8?
  /// The flags.
  var flags: UInt64 = 0
  /// The number of flags.
  private(set) var width = 0
  /// The byte behind the flags.
  var behind: UInt8?

  /// A head without flags.
  init() {}

  /// The head of a part.
  init<Part: EventMembers>(_ part: inout Part) { part.visitMembers(&self) }

  mutating func member<Value: MemberValue>(_: StaticString, _ value: inout Value, decimals: Int) {}

  mutating func member<Value: MemberValue>(_: StaticString, _ value: inout Value?, decimals: Int) {
    add(value == nil ? 0 : 1, bits: 1)
  }

  mutating func choice<Value: MemberChoice>(_: StaticString, _ value: inout Value, _ place: Place) {
    switch place {
    case .bits(let bits): add(value.code, bits: bits)
    case .before: before = value.code
    case .behind: behind = value.code
    }
  }

  mutating func flag(_: StaticString, _ value: inout Bool) { add(value ? 1 : 0, bits: 1) }

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part) {}

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part?) {
    add(part == nil ? 0 : 1, bits: 1)
  }

  mutating func parts<Part: EventMembers>(_: StaticString, _ parts: inout [Part]) {}

  private mutating func add(_ value: UInt8, bits: Int) {
    flags |= UInt64(value) << UInt64(width)
    width += bits
  }

  /// Takes the lowest flags of a head that is read.
  mutating func read(bits: Int) -> UInt8 {
    defer { flags >>= UInt64(bits) }
    return UInt8(truncatingIfNeeded: flags & (1 << UInt64(bits) - 1))
  }
}

extension RecordWriter: MemberCoder {
  mutating func member<Value: MemberValue>(_: StaticString, _ value: inout Value, decimals: Int) {
    value.write(to: &self, decimals: decimals)
  }

  mutating func member<Value: MemberValue>(_: StaticString, _ value: inout Value?, decimals: Int) {
    value?.write(to: &self, decimals: decimals)
  }

  mutating func choice<Value: MemberChoice>(_: StaticString, _ value: inout Value, _: RecordHead.Place) {}

  mutating func flag(_: StaticString, _ value: inout Bool) {}

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part) { write(part) }

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part?) {
    if let part { write(part) }
  }

  mutating func parts<Part: EventMembers>(_: StaticString, _ parts: inout [Part]) { write(parts) }

  /// Writes a part.
  mutating func write<Part: EventMembers>(_ part: Part) {
    var part = part
    let head = RecordHead(&part)
    if let before = head.before { byte(before) }
    if head.width > 8 { number(head.flags) } else if head.width > 0 { byte(UInt8(head.flags)) }
    if let behind = head.behind { byte(behind) }
    part.visitMembers(&self)
  }

  /// Writes the number of parts, then the parts.
  mutating func write<Part: EventMembers>(_ parts: [Part]) {
    number(UInt64(parts.count))
    for part in parts { write(part) }
  }
}

extension RecordReader: MemberCoder {
  mutating func member<Value: MemberValue>(
    _: StaticString,
    _ value: inout Value,
    decimals: Int
  ) throws(FieldError) {
    value = try Value(from: &self, decimals: decimals)
  }

  mutating func member<Value: MemberValue>(
    _: StaticString,
    _ value: inout Value?,
    decimals: Int
  ) throws(FieldError) {
    value = head.read(bits: 1) == 1 ? try Value(from: &self, decimals: decimals) : nil
  }

  mutating func choice<Value: MemberChoice>(
    _: StaticString,
    _ value: inout Value,
    _ place: RecordHead.Place
  ) throws(FieldError) {
    let code =
      switch place {
      case .bits(let bits): head.read(bits: bits)
      case .before: head.before ?? 0
      case .behind: head.behind ?? 0
      }
    guard let read = Value(code: code) else {
      throw failure(.unknownTag(field: Value.fieldName, tag: code))
    }
    value = read
  }

  mutating func flag(_: StaticString, _ value: inout Bool) throws(FieldError) {
    value = head.read(bits: 1) == 1
  }

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part) throws(FieldError) {
    part = try self.part()
  }

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part?) throws(FieldError) {
    part = head.read(bits: 1) == 1 ? try self.part() : nil
  }

  mutating func parts<Part: EventMembers>(_: StaticString, _ parts: inout [Part]) throws(FieldError) {
    parts = try self.parts()
  }

  /// Reads a part.
  mutating func part<Part: EventMembers>() throws(FieldError) -> Part {
    var part = Part.unread
    let outer = head
    head = RecordHead(&part)
    if head.before != nil { head.before = try byte() }
    head.flags = head.width > 8 ? try number() : head.width > 0 ? UInt64(try byte()) : 0
    guard head.flags >> UInt64(head.width) == 0 else {
      throw failure(.unknownTag(field: "flags", tag: UInt8(truncatingIfNeeded: head.flags)))
    }
    if head.behind != nil { head.behind = try byte() }
    try part.visitMembers(&self)
    head = outer
    return part
  }

  /// Reads the number of parts, then the parts.
  mutating func parts<Part: EventMembers>() throws(FieldError) -> [Part] {
    var parts: [Part] = []
    for _ in 0..<(try number()) { parts.append(try part()) }
    return parts
  }
}

// MARK: Schemas

/// The members of an object as its schema lists them.
struct MemberSchemas: MemberCoder {
  private(set) var members: [Schema.Member] = []

  /// The members that a part lists.
  static func of<Part: EventMembers>(_: Part.Type) -> [Schema.Member] {
    var (part, schemas) = (Part.unread, MemberSchemas())
    part.visitMembers(&schemas)
    return schemas.members
  }

  mutating func member<Value: MemberValue>(_ key: StaticString, _: inout Value, decimals _: Int) {
    members.append(.required(key.description, Value.schema))
  }

  mutating func member<Value: MemberValue>(_ key: StaticString, _: inout Value?, decimals _: Int) {
    members.append(.optional(key.description, Value.schema))
  }

  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _: inout Value,
    decimals _: Int,
    _ note: MemberNote
  ) {
    members.append(.required(key.description, Value.schema.within(note), note.words.description))
  }

  mutating func member<Value: MemberValue>(
    _ key: StaticString,
    _: inout Value?,
    decimals _: Int,
    _ note: MemberNote
  ) {
    members.append(.optional(key.description, Value.schema.within(note), note.words.description))
  }

  mutating func choice<Value: MemberChoice>(_ key: StaticString, _: inout Value, _: RecordHead.Place) {
    let words = (0...UInt8.max).compactMap { Value(code: $0)?.name }
    members.append(.required(key.description, .words(words)))
  }

  mutating func flag(_ key: StaticString, _: inout Bool) { members.append(.optional(key.description, .flag)) }

  mutating func part<Part: EventMembers>(_ key: StaticString?, _: inout Part) {
    let own = MemberSchemas.of(Part.self)
    if let key { members.append(.required(key.description, .object(own))) } else { members += own }
  }

  mutating func part<Part: EventMembers>(_ key: StaticString?, _: inout Part?) {
    let own = MemberSchemas.of(Part.self)
    if let key {
      members.append(.optional(key.description, .object(own)))
    } else {
      members += own.map(\.optional)
    }
  }

  mutating func part<Part: EventMembers>(_ key: StaticString, _: inout Part?, _ note: MemberNote) {
    members.append(.optional(key.description, .object(MemberSchemas.of(Part.self)), note.words.description))
  }

  mutating func parts<Part: EventMembers>(_ key: StaticString, _: inout [Part]) {
    members.append(.optional(key.description, .list(.object(MemberSchemas.of(Part.self)))))
  }
}

extension Schema {
  /// The schema of numbers within the bounds of a note.
  fileprivate func within(_ note: MemberNote) -> Schema {
    switch (note.minimum, note.maximum) {
    case (let minimum?, let maximum?): .number(minimum...maximum)
    case (let minimum?, nil): .number(minimum...)
    default: self
    }
  }
}

extension DocumentField where Owner: EventMembers {
  /// The members that the owner lists, as those of documents that are only written.
  static var listed: [DocumentField<Owner>] {
    [
      DocumentField(writing: MemberSchemas.of(Owner.self)) { owner, json in
        var owner = owner
        owner.visitMembers(&json)
      }
    ]
  }
}

// MARK: Walks

/// A walk through all members: it moves times by a step, gathers the observers that are named, and removes the
/// identities that a reader may not learn of.
struct MemberWalk: MemberCoder {
  /// The step that times are moved by.
  var step = TimeSpan.zero
  /// Returns whether an identity is to be removed; nil removes none.
  var hides: ((SubjectID) -> Bool)?
  /// The observers that were met.
  private(set) var observers: [ObserverID] = []
  /// Indicates whether an identity was removed.
  private(set) var isStripped = false
  /// Indicates whether the present part makes no sense without an identity that is to be removed.
  private(set) var isHidden = false

  /// Has the whole part removed.
  mutating func hide() { isHidden = true }

  mutating func member<Value: MemberValue>(_: StaticString, _ value: inout Value, decimals: Int) {
    if let observer = value as? ObserverID {
      observers.append(observer)
      if let hides, hides(.observer(observer)) { hide() }
    }
    if let hides, let beacon = value as? BeaconID, hides(.beacon(beacon)) { hide() }
    if let time = value as? Timestamp { value = (time + step) as? Value ?? value }
  }

  mutating func member<Value: MemberValue>(_ key: StaticString, _ value: inout Value?, decimals: Int) {
    guard var present = value else { return }
    value = isKept { $0.member(key, &present, decimals: decimals) } ? present : nil
  }

  mutating func choice<Value: MemberChoice>(_: StaticString, _: inout Value, _: RecordHead.Place) {}

  mutating func flag(_: StaticString, _: inout Bool) {}

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part) { part.visitMembers(&self) }

  mutating func part<Part: EventMembers>(_: StaticString?, _ part: inout Part?) {
    guard var present = part else { return }
    part = isKept { present.visitMembers(&$0) } ? present : nil
  }

  mutating func parts<Part: EventMembers>(_: StaticString, _ parts: inout [Part]) {
    var kept: [Part] = []
    kept.reserveCapacity(parts.count)
    for var part in parts where isKept({ part.visitMembers(&$0) }) { kept.append(part) }
    parts = kept
  }

  /// Visits something that can be left out, and returns whether it makes sense without what is to be removed.
  private mutating func isKept(_ visit: (inout MemberWalk) -> Void) -> Bool {
    let outer = isHidden
    isHidden = false
    visit(&self)
    defer { isHidden = outer }
    if isHidden { isStripped = true }
    return !isHidden
  }
}
