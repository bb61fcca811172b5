import Foundation
import PharosDelivery
import PharosDocuments
import PharosFiles
import PharosIngest
package import PharosModel
import Synchronization

/// The recordings that operators make while the server runs: files in its data folder, the newest few, of bounded size.
///
/// Each is `recordings/<milliseconds since 1970 of its beginning>.pharos`. The folder is the only list of those that have
/// ended, so that a file that a crash has cut off stays one of them.
package final class Recordings: Sendable {
  /// One recording.
  struct Recording: Sendable {
    /// The name of its file, without the extension.
    var id: String
    /// The time at which it began.
    var startedAt: Timestamp
    /// The time at which it ends at the latest, or nil once it has ended.
    var endsAt: Timestamp?
    /// The time at which it ended, or nil while it goes on.
    var endedAt: Timestamp?
    /// Its size in bytes.
    var bytes: Int
    /// The size in bytes at which it ends, or nil once it has ended.
    var maximumBytes: Int?
    /// The reason for which it ended before its time, if that is known.
    var problem: String?
  }

  /// The recording under way.
  private struct Current {
    let id: String
    let endsAt: Timestamp
    let maximumBytes: Int
  }

  private struct State {
    var current: Current?
    var problems: [String: String] = [:]
  }

  /// The maximum duration.
  static let maximumDuration = TimeSpan.minutes(6 * 60)
  /// The sizes at which a recording can end.
  ///
  /// 1 GiB is what a comparison reads at most.
  ///
  /// - Units: bytes.
  static let sizes = (1 << 20)...(1 << 30)
  /// The size at which a recording ends by default: an hour of 100 datagrams a second with 500 bytes each.
  ///
  /// - Units: bytes.
  static let usualSize = 256 << 20
  /// The number of recordings that are kept; a further one replaces the oldest.
  static let capacity = 3
  /// The free space that a recording leaves to the journal.
  ///
  /// - Units: bytes.
  private static let reserve = 256 << 20

  private static let suffix = ".pharos"

  private let folder: String?
  private let free: @Sendable (String) -> Int?
  private let state = Mutex(State())

  /// Finds the recordings of a server.
  ///
  /// - Parameters:
  ///   - dataFolder: the folder of its data, or nil where it keeps nothing: then nothing can be recorded.
  ///   - free: returns the free space of the disk of a folder, in bytes; nil if there is no such folder.
  package init(dataFolder: String?, free: @escaping @Sendable (String) -> Int? = Recordings.freeSpace) {
    folder = dataFolder.map { "\($0)/recordings" }
    self.free = free
  }

  /// Begins a recording.
  ///
  /// - Parameters:
  ///   - duration: the time after which it ends, up to ``maximumDuration``.
  ///   - maximumBytes: the size at which it ends, one of ``sizes``.
  ///   - now: the present time, which names it.
  ///   - begin: has the server record.
  /// - Returns: the recording.
  /// - Throws: a ``Problem`` if there is no folder or no room, or another one is under way; what `begin` throws.
  func start(
    duration: TimeSpan,
    maximumBytes: Int,
    at now: Timestamp,
    begin: (RecordingOrder) async throws -> Void
  ) async throws -> Recording {
    guard let folder else {
      throw Problem.unavailable(
        "This server keeps nothing, so it has no place for a recording. Start it with --data DIR."
      )
    }
    let current = try reserve(duration, maximumBytes: maximumBytes, at: now)
    do {
      let sink = try await BackgroundExecutor.requests.run { [self] in
        try makeFile(of: current, in: folder)
      }
      try await begin(
        RecordingOrder(
          duration: duration,
          maximumBytes: maximumBytes,
          sink: { try sink.write($0) },
          ended: { [self] in
            sink.close()
            conclude(current, $0)
          }
        )
      )
    } catch {
      state.withLock { if $0.current?.id == current.id { $0.current = nil } }
      remove(file: current.id)
      throw error
    }
    return recording(current.id) ?? Recording(id: current.id, startedAt: now, bytes: 0)
  }

  /// All recordings, the newest first.
  func list() -> [Recording] {
    identifiers.compactMap(recording).sorted { $0.startedAt > $1.startedAt }
  }

  /// The identifier of the newest recording, or nil if there is none.
  package var newest: String? { list().first?.id }

  /// Returns the recording with an identifier, or nil.
  func recording(_ id: String) -> Recording? {
    guard let startedAt = Recordings.beginning(of: id), let path = path(of: id),
      let file = try? FileManager.default.attributesOfItem(atPath: path)
    else { return nil }
    let (current, problem) = state.withLock { ($0.current?.id == id ? $0.current : nil, $0.problems[id]) }
    let changed = (file[.modificationDate] as? Date).map { $0.timeIntervalSince1970 }
    return Recording(
      id: id,
      startedAt: startedAt,
      endsAt: current?.endsAt,
      endedAt: current == nil ? changed.map { max(startedAt, Timestamp(nanoseconds: Int64($0 * 1e9))) } : nil,
      bytes: file[.size] as? Int ?? 0,
      maximumBytes: current?.maximumBytes,
      problem: problem
    )
  }

  /// Returns the recording with an identifier.
  ///
  /// - Throws: a ``Problem`` if there is none.
  func found(_ id: String) async throws -> Recording {
    guard let recording = try await BackgroundExecutor.requests.run({ self.recording(id) }) else {
      throw Problem.notFound("There is no such recording; the newest \(Recordings.capacity) are kept.")
    }
    return recording
  }

  /// Returns the path of the file of a recording that has an identifier of the right form; nil without a data folder.
  func path(of id: String) -> String? {
    guard Recordings.beginning(of: id) != nil else { return nil }
    return folder.map { "\($0)/\(id)\(Recordings.suffix)" }
  }

  /// Removes a recording; one that is under way has to be ended first.
  ///
  /// - Returns: true if there was one.
  @discardableResult
  func remove(_ id: String) -> Bool {
    state.withLock { $0.problems[id] = nil }
    return remove(file: id)
  }

  /// Removes all recordings, as any may hold the subject: in bytes that do not decode, or by an address that has changed.
  ///
  /// - Returns: their number.
  func erase(_ traces: SubjectTraces) -> Int { identifiers.count { remove($0) } }

  /// Removes the recordings that began before a time, except the one under way.
  package func prune(before cutoff: Timestamp) {
    let current = state.withLock { $0.current?.id }
    for id in identifiers where id != current && Recordings.beginning(of: id).map({ $0 < cutoff }) ?? false {
      remove(id)
    }
  }

  private var identifiers: [String] {
    guard let folder else { return [] }
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { $0.hasSuffix(Recordings.suffix) }
      .map { String($0.dropLast(Recordings.suffix.count)) }
      .filter { Recordings.beginning(of: $0) != nil }
  }

  /// The beginning that an identifier states; nil for any other text.
  private static func beginning(of id: String) -> Timestamp? {
    guard let number = Int64(id), number > 0, number < Int64.max / 1_000_000, "\(number)" == id else {
      return nil
    }
    return Timestamp(nanoseconds: number * 1_000_000)
  }

  /// Makes a recording the one under way.
  private func reserve(_ duration: TimeSpan, maximumBytes: Int, at now: Timestamp) throws -> Current {
    let known = Set(identifiers)
    var number = now.nanoseconds / 1_000_000
    while known.contains("\(number)") { number += 1 }
    let endsAt = Timestamp(nanoseconds: number * 1_000_000) + duration
    let current = Current(id: "\(number)", endsAt: endsAt, maximumBytes: maximumBytes)
    let isFree = state.withLock { state in
      guard state.current == nil else { return false }
      state.current = current
      return true
    }
    guard isFree else {
      throw Problem.conflict(
        "alreadyRecording",
        "A recording is under way. Wait until it is over, or end it with POST /v1/recordings/{id}/end."
      )
    }
    return current
  }

  private func conclude(_ current: Current, _ reason: RecordingEnd) {
    state.withLock { state in
      if state.current?.id == current.id { state.current = nil }
      state.problems[current.id] = reason.problem
    }
  }

  /// Makes the file of a recording, once there is room for it.
  private func makeFile(of current: Current, in folder: String) throws -> RecordingFile {
    let manager = FileManager.default
    try? manager.createDirectory(
      atPath: folder,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    let replaced = list().filter { $0.id != current.id }.dropFirst(Recordings.capacity - 1)
    let needed = current.maximumBytes + Recordings.reserve
    guard let left = free(folder).map({ $0 + replaced.reduce(0) { $0 + $1.bytes } }) else {
      throw Problem.unavailable("The folder \(folder) cannot be made or read. Check its permissions.")
    }
    guard left >= needed else {
      throw Problem(
        "noRoom",
        "There is no room for a recording",
        status: 507,
        detail:
          "The disk of \(folder) has \(left >> 20) MiB left, and a recording of up to \(current.maximumBytes >> 20) MiB needs \(needed >> 20) MiB with what the journal may need. Free some space, or ask for fewer `bytes`."
      )
    }
    for old in replaced { remove(old.id) }
    let path = "\(folder)/\(current.id)\(Recordings.suffix)"
    guard manager.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
      throw Problem.unavailable("No file can be made in \(folder). Check its permissions.")
    }
    return try RecordingFile(path) { [free] in
      guard let left = free(folder), left < Recordings.reserve else { return }
      throw RecordingFile.DiskFull(left: left)
    }
  }

  /// The free space of the disk of a folder, in bytes; nil if there is no such folder.
  package static func freeSpace(_ folder: String) -> Int? {
    try? FileManager.default.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? Int
  }

  @discardableResult
  private func remove(file id: String) -> Bool {
    guard let path = path(of: id) else { return false }
    return (try? FileManager.default.removeItem(atPath: path)) != nil
  }
}

/// The file that a recording is written to.
private final class RecordingFile: Sendable {
  /// The disk has less left than recordings leave to the journal.
  struct DiskFull: Error, CustomStringConvertible {
    let left: Int
    var description: String { "the disk has only \(left >> 20) MiB left, which the journal needs" }
  }

  private let file: Mutex<FileSink?>
  private let check: @Sendable () throws -> Void

  /// Opens a file that was made; `check` throws if nothing more may be written.
  init(_ path: String, check: @escaping @Sendable () throws -> Void) throws {
    file = Mutex(try FileSink(path: path))
    self.check = check
  }

  func write(_ bytes: [UInt8]) throws {
    try check()
    try file.withLock { file in
      try file?.write(bytes)
      // So that a recording that a crash cuts off holds all but the last moment.
      try file?.flush()
    }
  }

  func close() {
    let file = file.withLock { $0.take() }
    // Every write was flushed.
    if let file { try? file.close() }
  }
}

extension RecordingEnd {
  /// The reason for an end before the time, for the operator; nil for an end that was asked for.
  fileprivate var problem: String? {
    switch self {
    case .complete, .stopped: nil
    case .full: "It reached its maximum size before its time was over."
    case .tooSlow: "The disk was too slow for the traffic."
    case .failed(let reason): "It could not be written: \(Wording.clause(reason))."
    }
  }
}
