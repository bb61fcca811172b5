import Foundation
import PharosDelivery
import PharosDocuments
import PharosMaps
import PharosSpace
import Synchronization

/// The bundles of served venues: written when one is asked for, and the last few versions kept for deltas.
final class VenueBundles: Sendable {
  /// A file to send.
  struct Download: Sendable {
    /// The path.
    let path: String
    /// Its size in bytes.
    let size: Int
    /// The version of the content to which it leads.
    let version: String
    /// Indicates whether it is a delta.
    let isDelta: Bool
  }

  /// The versions of a venue that are kept.
  static let maximumVersions = 3

  private let folder: String
  private let isTemporary: Bool
  /// Held while a bundle is written.
  private let writing = Mutex(())
  /// The bundle of each venue, and the venue from which it was made.
  private let known = Mutex<[String: (venue: Venue, version: String)]>([:])

  /// Makes the bundles of a server.
  ///
  /// - Parameter dataFolder: Where they are kept; nil for a temporary folder, which goes with the server.
  init(dataFolder: String?) {
    isTemporary = dataFolder == nil
    folder = dataFolder.map { "\($0)/bundles" } ?? TemporaryFiles.path("bundles")
  }

  deinit {
    if isTemporary { try? FileManager.default.removeItem(atPath: folder) }
  }

  /// Returns the bundle of a venue, or what changed since a version if that one is kept.
  ///
  /// - Returns: nil if nothing changed since that version.
  func download(_ served: ServedVenue, since: String?) async throws -> Download? {
    try await BackgroundExecutor.requests.run { [self] in
      let version = try writing.withLock { _ in try write(served) }
      let bundle = path(served.venue.identifier, "\(version).mbtiles")
      guard let since else { return try Self.download(bundle, version, isDelta: false) }
      guard since != version else { return nil }
      let old = path(served.venue.identifier, "\(since).mbtiles")
      // A bundle that another version of Pharos wrote may be of another format.
      guard FileManager.default.fileExists(atPath: old), (try? VenueBundle(path: old)) != nil else {
        return try Self.download(bundle, version, isDelta: false)
      }
      let delta = path(served.venue.identifier, "\(since).to.\(version).delta")
      if !FileManager.default.fileExists(atPath: delta) {
        try BundleDelta.write(from: old, to: bundle, at: delta)
      }
      return try Self.download(delta, version, isDelta: true)
    }
  }

  private static func download(_ path: String, _ version: String, isDelta: Bool) throws -> Download {
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    return Download(path: path, size: size ?? 0, version: version, isDelta: isDelta)
  }

  private func path(_ venue: String, _ name: String) -> String {
    "\(folder)/\(PercentCoding.encode(segment: venue)).\(name)"
  }

  /// Writes the bundle of a venue unless it is there, and removes the oldest ones.
  private func write(_ served: ServedVenue) throws -> String {
    let identifier = served.venue.identifier
    if let entry = known.withLock({ $0[identifier] }), entry.venue == served.venue,
      FileManager.default.fileExists(atPath: path(identifier, "\(entry.version).mbtiles"))
    {
      return entry.version
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let new = path(identifier, "new")
    var writer = BundleWriter(served.venue, image: served.image)
    writer.isCancelled = { Task.isCancelled }
    let version = try writer.write(to: new)
    let kept = path(identifier, "\(version).mbtiles")
    try? FileManager.default.removeItem(atPath: kept)
    try FileManager.default.moveItem(atPath: new, toPath: kept)
    known.withLock { $0[identifier] = (served.venue, version) }
    prune(identifier, keeping: version)
    return version
  }

  private func prune(_ venue: String, keeping version: String) {
    let manager = FileManager.default
    let prefix = PercentCoding.encode(segment: venue) + "."
    let names = (try? manager.contentsOfDirectory(atPath: folder)) ?? []
    let own = names.filter { $0.hasPrefix(prefix) }
    for name in own where name.hasSuffix(".delta") && !name.hasSuffix(".to.\(version).delta") {
      try? manager.removeItem(atPath: "\(folder)/\(name)")
    }
    let bundles = own.filter { $0.hasSuffix(".mbtiles") }.map { name in
      let attributes = try? manager.attributesOfItem(atPath: "\(folder)/\(name)")
      return (name, attributes?[.modificationDate] as? Date ?? .distantPast)
    }
    for (name, _) in bundles.sorted(by: { ($0.1, $0.0) > ($1.1, $1.0) }).dropFirst(
      VenueBundles.maximumVersions
    )
    where name != "\(prefix)\(version).mbtiles" {
      try? manager.removeItem(atPath: "\(folder)/\(name)")
    }
  }
}

/// The part of a file that a request asks for.
///
/// - Source: RFC 9110, 14.1.2 and 14.2; requests for several ranges get the whole.
package enum ByteRange: Equatable {
  /// All of it.
  case whole
  /// These bytes.
  case part(Range<Int>)
  /// No byte that the file has.
  case beyond

  /// Reads a field `Range`; one that is not understood is ignored, as the standard has it.
  ///
  /// Its numbers may have any number of digits: those that no file reaches are held at the largest one.
  package init(field: String?, size: Int) {
    self = .whole
    guard let field, field.hasPrefix("bytes="), !field.contains(",") else { return }
    let ends = field.dropFirst("bytes=".count).split(
      separator: "-",
      maxSplits: 1,
      omittingEmptySubsequences: false
    )
    .map { $0.filter { $0 != " " } }
    guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy(\.isASCII) && $0.allSatisfy(\.isNumber) }) else {
      return
    }
    let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? .max }
    switch (numbers[0], numbers[1]) {
    case (let first?, let last?):
      guard first <= last else { return }
      self = first < size ? .part(first..<min(size - 1, last) + 1) : .beyond
    case (let first?, nil): self = first < size ? .part(first..<size) : .beyond
    case (nil, let count?): self = count > 0 && size > 0 ? .part(size - min(size, count)..<size) : .beyond
    case (nil, nil): return
    }
  }
}
