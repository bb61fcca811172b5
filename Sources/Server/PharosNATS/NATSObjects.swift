#if NATS
import Dispatch
import Foundation
import Synchronization

/// Objects that are larger than a message, in a stream.
///
/// The form is Pharos's own and not that of NATS's object store, of which libnats 3.4.1 has none. The stream `NAME` has the
/// subjects `NAME.part.OBJECT.VERSION.NUMBER`, each with 128 KB of an object, and `NAME.index.OBJECT` with a JSON document that
/// names the version. The index is stored last and replaced by compare-and-set, so that a reader finds a whole object, the one
/// before, or none; then the parts of older versions, and of writers that did not end, are removed.
package struct NATSObjects: Sendable {
  /// What the index has of an object.
  package struct Object: Sendable, Equatable, Codable {
    /// The random name of the version, a part of its subjects.
    var version: String
    /// The number of parts.
    var parts: Int
    /// The size, in bytes.
    package var size: Int
    /// The digest of the bytes.
    package var digest: String
  }

  /// The size of a part, in bytes; max_payload is 1 MB by default.
  static let partSize = 128 << 10

  private let stream: NATSStream
  private let publisher: NATSPublisher
  private let digest: @Sendable ([UInt8]) -> String

  /// Creates the stream of the objects, or checks the one that exists.
  ///
  /// - Parameters:
  ///   - settings: The name of the stream, its replicas and limits; its subjects are set here.
  ///   - connection: The connection.
  ///   - digest: The digest by which damage is found, for example SHA-256 in hexadecimal digits.
  /// - Returns: The objects.
  /// - Throws: ``NATSError/differs(stream:differences:)`` if the stream exists otherwise.
  package static func ensure(
    _ settings: NATSStreamSettings,
    on connection: NATSConnection,
    digest: @escaping @Sendable ([UInt8]) -> String
  ) throws(NATSError) -> NATSObjects {
    var settings = settings
    settings.subjects = ["\(settings.name).part.>", "\(settings.name).index.*"]
    settings.maximumPerSubject = 1
    let stream = try NATSStream.ensure(settings, on: connection)
    return NATSObjects(stream: stream, publisher: try NATSPublisher(stream, underWay: 32), digest: digest)
  }

  /// Stores an object in place of the one of the same name.
  ///
  /// - Parameters:
  ///   - name: The name, of letters, digits, `-` and `_`.
  ///   - bytes: The content.
  ///   - time: The time of all, in milliseconds.
  /// - Throws: ``NATSError/conflict(_:)`` if another client stored one of this name in between.
  package func put(_ name: String, _ bytes: [UInt8], within time: Int = 30_000) throws(NATSError) {
    let deadline = NATSDeadline(time)
    let index = try subject(name)
    let last = try stream.lastMessage(of: index, within: deadline.remaining)
    let version = String(UInt64.random(in: .min ... .max), radix: 36)
    let parts = (bytes.count + NATSObjects.partSize - 1) / NATSObjects.partSize
    let first = try send(bytes, parts, "\(prefix(name)).\(version)", deadline)
    let object = Object(version: version, parts: parts, size: bytes.count, digest: digest(bytes))
    guard let text = try? JSONEncoder().encode(object) else { throw .closed }
    do {
      _ = try stream.publish(
        NATSOutgoing(Array(text), index),
        replacing: last?.message.sequence,
        until: deadline
      )
    } catch .wrongLastSequence {
      try? stream.purge(subject: "\(prefix(name)).\(version).*", upTo: 0, within: deadline.remaining)
      throw .conflict("the object \(name)")
    }
    // Parts of writers that have not stored their index yet go too: their compare-and-set fails.
    // The servers read 1 as no limit.
    if let first, first > 1 {
      try? stream.purge(subject: "\(prefix(name)).>", upTo: first, within: deadline.remaining)
    }
  }

  /// Reads an object; nil if there is none.
  ///
  /// - Throws: ``NATSError/damaged(object:reason:)`` if the bytes are not those of the digest.
  package func get(_ name: String, within time: Int = 30_000) throws(NATSError) -> [UInt8]? {
    let deadline = NATSDeadline(time)
    var previous: Object?
    while true {
      guard let object = try object(name, within: deadline.remaining) else { return nil }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(object.size)
      var isWhole = true
      for part in 0..<object.parts where isWhole {
        let subject = "\(prefix(name)).\(object.version).\(part)"
        if let found = try stream.lastMessage(of: subject, within: deadline.remaining) {
          bytes += found.message.bytes
        } else {
          isWhole = false
        }
      }
      if isWhole {
        guard bytes.count == object.size, digest(bytes) == object.digest else {
          throw .damaged(object: name, reason: "\(bytes.count) of \(object.size) bytes, or another digest")
        }
        return bytes
      }
      // It was replaced while it was read, unless the index is the same.
      guard object != previous else { throw .damaged(object: name, reason: "a part does not exist") }
      previous = object
    }
  }

  /// What the index has of an object; nil if there is none.
  package func object(_ name: String, within time: Int = 2_000) throws(NATSError) -> Object? {
    guard let found = try stream.lastMessage(of: subject(name), within: time) else { return nil }
    guard let object = try? JSONDecoder().decode(Object.self, from: Data(found.message.bytes)) else {
      throw .damaged(object: name, reason: "its index is no JSON of an object")
    }
    return object
  }

  /// Deletes an object; no error if there is none.
  package func delete(_ name: String, within time: Int = 5_000) throws(NATSError) {
    try stream.purge(subject: subject(name), upTo: 0, within: time)
    try stream.purge(subject: "\(prefix(name)).>", upTo: 0, within: time)
  }

  /// The names of the objects, sorted.
  package func names(within time: Int = 2_000) throws(NATSError) -> [String] {
    let prefix = "\(stream.name).index."
    return try stream.subjects(prefix + "*", within: time).map { String($0.dropFirst(prefix.count)) }.sorted()
  }

  /// Publishes the parts; returns the lowest sequence of them, nil for an empty object.
  private func send(
    _ bytes: [UInt8],
    _ parts: Int,
    _ prefix: String,
    _ deadline: NATSDeadline
  ) throws(NATSError) -> UInt64? {
    let round = NATSRound()
    var open = Array(0..<parts)
    while !open.isEmpty {
      for part in open {
        let range = part * NATSObjects.partSize..<min((part + 1) * NATSObjects.partSize, bytes.count)
        let subject = "\(prefix).\(part)"
        round.group.enter()
        do {
          try publisher.publish(Array(bytes[range]), subject: subject, id: subject) {
            round.complete(part, $0)
          }
        } catch {
          round.group.leave()
          // A part that does not get under way is sent in the next round.
          guard error.isTransient else { throw error }
          deadline.pause()
        }
      }
      _ = round.group.wait(timeout: .now() + .milliseconds(deadline.remaining))
      if let error = round.error { throw error }
      open.removeAll { round.isStored($0) }
      guard open.isEmpty || !deadline.isOver else {
        throw .unavailable(stream.text, reason: "\(open.count) of \(parts) parts are not stored")
      }
    }
    return round.first
  }

  private func prefix(_ name: String) -> String { "\(stream.name).part.\(name)" }

  private func subject(_ name: String) throws(NATSError) -> String {
    guard NATSName.isPart(name) else {
      throw .settings("\"\(name)\" is no name of an object: letters, digits, - and _")
    }
    return "\(stream.name).index.\(name)"
  }
}
/// The parts of an object that are stored.
private final class NATSRound: Sendable {
  private struct State {
    var stored: Set<Int> = []
    var first: UInt64?
    var error: NATSError?
  }

  private let state = Mutex(State())
  /// The parts that are under way.
  let group = DispatchGroup()

  /// The lowest sequence of a part.
  var first: UInt64? { state.withLock { $0.first } }
  /// An error that another attempt does not mend.
  var error: NATSError? { state.withLock { $0.error } }

  func isStored(_ part: Int) -> Bool { state.withLock { $0.stored.contains(part) } }

  func complete(_ part: Int, _ result: Result<NATSAcknowledgement, NATSError>) {
    state.withLock { state in
      switch result {
      case .success(let acknowledgement):
        state.stored.insert(part)
        state.first = min(state.first ?? .max, acknowledgement.sequence)
      case .failure(let error) where !error.isTransient: state.error = error
      case .failure: break
      }
    }
    group.leave()
  }
}

/// The end of the time of several calls.
struct NATSDeadline {
  private let end: DispatchTime

  /// Begins a time, in milliseconds.
  init(_ time: Int) { end = .now() + .milliseconds(time) }

  var isOver: Bool { DispatchTime.now() >= end }

  /// Waits a moment before another attempt.
  func pause() { _ = DispatchSemaphore(value: 0).wait(timeout: min(end, .now() + .milliseconds(50))) }

  /// What is left, in milliseconds, 1 or more.
  var remaining: Int {
    let now = DispatchTime.now().uptimeNanoseconds
    return end.uptimeNanoseconds > now ? max(1, Int((end.uptimeNanoseconds - now) / 1_000_000)) : 1
  }
}
#endif
