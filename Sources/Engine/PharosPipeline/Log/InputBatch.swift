package import PharosDocuments
package import PharosModel

/// The identity of a batch of inputs: no two batches have the same, and a repeat of a batch has its own.
package struct BatchID: Hashable, Sendable {
  /// The name of the publisher; each loop of a node is one.
  package let publisher: String
  /// The number of the start of the node: it grows with each start.
  package let start: UInt32
  /// The number of the batch since that start.
  package let number: UInt32

  /// Makes an identity.
  package init(publisher: String, start: UInt32, number: UInt32) {
    (self.publisher, self.start, self.number) = (publisher, start, number)
  }
}

extension BatchID: CustomStringConvertible {
  /// The identity as the text by which a log recognises repeats.
  package var description: String { "\(publisher).\(start).\(number)" }
}

/// An input on its way through a log, with the time at which its node received it.
///
/// That time says how inputs of one node lie to each other and recognises a node's own requests; decisions go by the R that
/// ``LogReading`` gives.
package enum LoggedInput: Hashable, Sendable {
  /// A datagram that its node has admitted.
  case datagram([UInt8], from: Endpoint, to: Endpoint, at: Timestamp)
  /// Changes of the site with the documents that belong to them, all of them or none.
  case changes([RegionChange], documents: [DocumentChange] = [], at: Timestamp)
  /// Events that the engines do not decide.
  case announced([Event], at: Timestamp)

  /// The time by the clock of the node that received it.
  package var received: Timestamp {
    switch self {
    case .datagram(_, from: _, to: _, let instant), .changes(_, documents: _, let instant),
      .announced(_, let instant):
      instant
    }
  }

  /// The parts that a batch holds of it, each as its bytes.
  fileprivate var parts: [[UInt8]] {
    func content(_ input: RecordedInput) -> [UInt8] { [BatchPart.recorded.rawValue] + input.encoded }
    return switch self {
    case .datagram(let bytes, from: let source, to: let destination, let instant):
      RecordedPart.parts(of: bytes).map { content(.datagram($0, from: source, to: destination, at: instant)) }
    case .changes(let changes, documents: let documents, let instant):
      changes.map { content(.change($0, at: instant)) }
        + documents.map { document in
          var writer = FieldWriter()
          writer.write(tag: BatchPart.document.rawValue, instant, document)
          return writer.bytes
        }
    case .announced(let events, let instant): events.map { content(.announced($0, at: instant)) }
    }
  }
}

/// The kinds of parts of a batch.
private enum BatchPart: UInt8 {
  /// What a recording holds too.
  case recorded
  /// A document that belongs to changes of the same time.
  case document
}

extension DocumentChange: FieldRecord {
  /// Codes the kind, the key and the document.
  package static func coded<Coder: FieldCoder>(
    _ value: () -> DocumentChange,
    by coder: inout Coder
  ) throws(Coder.Failure) -> DocumentChange {
    DocumentChange(
      kind: try coder.field(value().kind),
      key: try coder.field(value().key),
      document: try coder.field(value().document)
    )
  }
}

/// Inputs of one node in the order in which it received them, as a log carries them: one message.
package struct InputBatch: Hashable, Sendable {
  /// Its identity.
  package let id: BatchID
  /// Its inputs; none in a tick.
  package let inputs: [LoggedInput]

  /// The length at which a batch is full.
  ///
  /// - Units: bytes.
  package static let fullLength = 64 << 10
  /// The maximum length of a batch, below the 1 MiB that message brokers take by default.
  ///
  /// - Units: bytes.
  package static let maximumLength = 960 << 10
  /// The time for which an input waits for others.
  package static let maximumAge = TimeSpan.milliseconds(20)
  /// The version of the bytes.
  static let version: UInt8 = 1
  /// "PHIB".
  static let magic: UInt32 = 0x5048_4942

  /// Makes a batch.
  package init(id: BatchID, inputs: [LoggedInput]) {
    (self.id, self.inputs) = (id, inputs)
  }

  /// Returns whether the bytes of a batch hold no input.
  package static func isTick(_ bytes: [UInt8]) -> Bool {
    var reader = FieldReader(bytes[...])
    return (try? readID(from: &reader)) != nil && reader.remaining == 0
  }

  /// Returns the identity of the batch that bytes hold; nil if they are none.
  package static func id(of bytes: [UInt8]) -> BatchID? {
    var reader = FieldReader(bytes[...])
    return try? readID(from: &reader)
  }

  private static func readID(from reader: inout FieldReader) throws(FieldError) -> BatchID {
    guard reader.remaining >= 4, try reader.number(UInt32.self) == InputBatch.magic else {
      throw FieldError(.badIdentity, at: 0)
    }
    try reader.code(version: InputBatch.version)
    let publisher = try reader.text()
    let start = try reader.number(UInt32.self)
    return BatchID(publisher: publisher, start: start, number: try reader.number(UInt32.self))
  }

  /// Its bytes.
  ///
  /// - Shape: 0 "PHIB"; 4 version; 5 publisher; then its start, u32, and the number of the batch, u32; then its
  ///   parts, each behind its length as u32: a byte, 0 for a recorded input (`RecordedInput`) and 1 for a document (its time, kind,
  ///   key and bytes). Those of one time that are alike belong together. Big-endian.
  package var encoded: [UInt8] {
    var gathering = InputGathering(publisher: id.publisher, start: id.start, next: id.number)
    for input in inputs { gathering.append(input) }
    return gathering.drain().bytes
  }

  /// Reads a batch.
  ///
  /// - Throws: what is wrong with the bytes; `badIdentity` at their beginning if they are no batch at all.
  package init(decoding bytes: [UInt8]) throws(FieldError) {
    var reader = FieldReader(bytes[...])
    id = try InputBatch.readID(from: &reader)
    var assembly = LoggedInputAssembly()
    while reader.remaining > 0 {
      let length = Int(try reader.number(UInt32.self))
      try assembly.add(part: try reader.raw(length)[...])
    }
    inputs = try assembly.finish()
  }
}

/// Puts together what belongs together among the recorded inputs of a batch.
private struct LoggedInputAssembly {
  private var inputs: [LoggedInput] = []
  private var parts = PartAssembly()
  private var isWithinParts = false

  mutating func add(part: ArraySlice<UInt8>) throws(FieldError) {
    var reader = FieldReader(part)
    let kind = try reader.byte()
    switch BatchPart(rawValue: kind) {
    case .recorded: try add(try RecordedInput(decoding: part.dropFirst()))
    case .document:
      let instant = try Timestamp(from: &reader)
      addChange([], [try DocumentChange(from: &reader)], at: instant)
      try reader.finish()
    case nil: throw reader.failure(.kind(kind))
    }
    if isWithinParts, BatchPart(rawValue: kind) == .document { throw FieldError(.missingPart(0), at: 0) }
  }

  /// Adds to the changes of the same time, or begins others.
  private mutating func addChange(
    _ changes: [RegionChange],
    _ documents: [DocumentChange],
    at instant: Timestamp
  ) {
    if case .changes(let others, documents: let present, at: instant) = inputs.last {
      inputs[inputs.count - 1] = .changes(others + changes, documents: present + documents, at: instant)
    } else {
      inputs.append(.changes(changes, documents: documents, at: instant))
    }
  }

  private mutating func add(_ recorded: RecordedInput) throws(FieldError) {
    switch recorded {
    case .datagram(let part, from: let source, to: let destination, at: let instant):
      let whole = try parts.add(part)
      isWithinParts = whole == nil
      if let whole { inputs.append(.datagram(whole, from: source, to: destination, at: instant)) }
      return
    case .change(let change, at: let instant): addChange([change], [], at: instant)
    case .announced(let event, at: let instant):
      if case .announced(let others, at: instant) = inputs.last {
        inputs[inputs.count - 1] = .announced(others + [event], at: instant)
      } else {
        inputs.append(.announced([event], at: instant))
      }
    case .site, .tick, .clockStep, .restored, .pause:
      // The log says itself what time it is, and a site comes as a change.
      throw FieldError(.unknownTag(field: "an input of a batch", tag: 0), at: 0)
    }
    if isWithinParts { throw FieldError(.missingPart(0), at: 0) }
  }

  func finish() throws(FieldError) -> [LoggedInput] {
    guard !isWithinParts else { throw FieldError(.cut, at: 0) }
    return inputs
  }
}

/// Gathers the inputs of a publisher into batches and numbers these.
///
/// A value without a clock: its owner asks ``isDue(at:)`` and publishes what ``drain()`` returns. A batch that could not be
/// stored is published again as it is; a publisher has at most `ReplayWindow.width` batches under way, and all of one start
/// are stored before the first one of the next.
package struct InputGathering: Sendable {
  private let publisher: String
  private let start: UInt32
  /// The number of the next batch.
  private var next: UInt32
  private var body = FieldWriter()
  /// The time since which an input waits.
  private var since: Timestamp?

  /// Starts with a number.
  package init(publisher: String, start: UInt32, next: UInt32 = 0) {
    (self.publisher, self.start, self.next) = (publisher, start, next)
  }

  /// Indicates whether no input waits.
  package var isEmpty: Bool { body.bytes.isEmpty }
  /// The number of bytes that wait.
  package var length: Int { body.bytes.count }

  /// Returns whether what waits should be published at a time by the clock of the publisher.
  package func isDue(at time: Timestamp) -> Bool {
    guard let since else { return false }
    return length >= InputBatch.fullLength || time - since >= InputBatch.maximumAge || time < since
  }

  /// Appends an input; one that makes the batch longer than ``InputBatch/maximumLength`` is left out.
  ///
  /// - Returns: false if it was left out: publish the batch and append it again, or refuse it if the batch is empty.
  @discardableResult
  package mutating func append(_ input: LoggedInput) -> Bool {
    let contents = input.parts
    let added = contents.reduce(0) { $0 + $1.count + 4 }
    guard length + added <= InputBatch.maximumLength else { return false }
    for content in contents {
      body.write(UInt32(truncatingIfNeeded: content.count))
      body.write(raw: content)
    }
    if since == nil, !isEmpty { since = input.received }
    return true
  }

  /// Makes a batch of what waits: a tick if nothing does.
  package mutating func drain() -> (id: BatchID, bytes: [UInt8]) {
    let id = BatchID(publisher: publisher, start: start, number: next)
    next &+= 1
    var writer = FieldWriter()
    writer.reserve(body.bytes.count + publisher.utf8.count + 17)
    writer.write(InputBatch.magic)
    writer.write(InputBatch.version)
    writer.write(publisher)
    writer.write(start)
    writer.write(id.number)
    writer.write(raw: body.bytes)
    body = FieldWriter()
    since = nil
    return (id, writer.bytes)
  }
}
