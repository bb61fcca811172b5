import PharosDocuments
package import PharosModel
import PharosPipeline
import PharosTerminal

/// The version of the program by which the nodes of a cluster decide: one at a time, and another one from a position of the log on.
///
/// The first node says by which version the cluster decides. A node of another version takes part as a shadow, which decides for itself
/// alone, until ``promote(_:on:at:)`` puts a document of ``kind`` into the log. All nodes stop behind it: the ones of the former version
/// for good, with a journal and a checkpoint that end there, and the shadows to start again with the journal of one of those.
package enum ClusterVersion {
  /// The kind of the document by which the log says that another version decides behind it.
  package static let kind = "cluster.version"
  private static let key = "version"

  /// The version by which the nodes decide; nil if no node has started yet.
  package static func current(on bus: any ClusterBus) throws(ClusterError) -> String? {
    try bus.value(of: key).map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  /// Has a node decide by its version, if the others do, or if none is left that decides by another one.
  ///
  /// - Throws: ``ClusterError``, which says how the node can take part.
  package static func agree(
    on version: String,
    with bus: any ClusterBus,
    at now: Timestamp = .wallClock
  ) throws(ClusterError) {
    let value = try bus.value(of: key)
    let current = value.map { String(decoding: $0.bytes, as: UTF8.self) }
    guard current != version else { return }
    if let current {
      let nodes = try ClusterState.nodes(on: bus, bus.keys())
      guard !nodes.contains(where: { !$0.isShadow && $0.version == current && !$0.isGone(at: now) }) else {
        throw .refused(
          "its nodes decide by version \(current), and this is \(version). Start it with --shadow, compare it with `pharos cluster "
            + "shadow`, and then let it decide with `pharos cluster promote \(version)`"
        )
      }
    }
    try bus.set(Array(version.utf8), of: key, replacing: value?.revision ?? 0)
  }

  /// The name of the node whose states all others of a version have begun with; nil if they go on from checkpoints of a former one.
  package static func founder(of version: String, on bus: any ClusterBus) throws(ClusterError) -> String? {
    try bus.value(of: founderKey(version)).map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  private static func founderKey(_ version: String) -> String { "founder." + Hex.text(Array(version.utf8)) }

  /// Has all other nodes begin with the journal of one, since what it begins with is not in the log.
  ///
  /// - Parameters:
  ///   - node: the name of the node. One that was killed before its first checkpoint, from which others could begin, asks again.
  ///   - version: its version.
  ///   - bus: the broker.
  ///   - isFirst: pass true if there may be no node of any version before it.
  /// - Throws: ``ClusterError/refused(_:)`` if another one has come before it.
  package static func found(
    by node: String,
    of version: String,
    on bus: any ClusterBus,
    isFirst: Bool
  ) throws(ClusterError) {
    var other = try founder(of: version, on: bus)
    if other == node { return }
    if other == nil, isFirst {
      let keys = try bus.keys()
      other = try ClusterState.nodes(on: bus, keys).first { $0.node != node }?.node
      if other == nil, keys.contains(where: { $0.hasPrefix("founder.") }) { other = "of a version before" }
    }
    if let other {
      throw .refused(
        "the cluster has the journal of node \(other) already. Start this node with an empty folder"
      )
    }
    try bus.set(Array(node.utf8), of: founderKey(version), replacing: 0)
  }

  /// Has another version decide from the present end of the log on.
  ///
  /// - Returns: the position of the log behind which it decides.
  /// - Throws: ``ClusterError/refused(_:)`` if no shadow of the version is ready.
  package static func promote(
    _ version: String,
    on bus: any ClusterBus,
    at now: Timestamp = .wallClock
  ) throws(ClusterError) -> UInt64 {
    let shadows = try ClusterState.nodes(on: bus, bus.keys()).filter { $0.isShadow && !$0.isGone(at: now) }
    guard shadows.contains(where: { $0.version == version && $0.isCaughtUp }) else {
      let present = Set(shadows.map(\.version)).sorted().joined(separator: ", ")
      throw .refused(
        "no shadow of version \(version) has read the log"
          + (present.isEmpty ? "; there is none at all" : "; there are shadows of \(present)")
          + ". Start a node of it with --shadow"
      )
    }
    let id = Hex.text((0..<4).map { _ in UInt8.random(in: .min ... .max) })
    var gathering = InputGathering(publisher: "promote-\(id)", start: 1)
    let document = DocumentChange(kind: kind, key: "", document: Array(version.utf8))
    gathering.append(.changes([], documents: [document], at: now))
    let position = try bus.store(gathering.drain().bytes)
    try bus.set(Array(version.utf8), of: key, replacing: nil)
    return position
  }
}

/// The reason for which a node ends when the version changes by which the cluster decides.
package struct ClusterSuperseded: Error, Hashable, Sendable, CustomStringConvertible {
  /// The version that decides now.
  package let version: String
  /// The version of the node.
  package let own: String
  /// Indicates whether the node was a shadow of the version that decides now.
  package let isPromoted: Bool

  /// What happened, and what to do.
  package var description: String {
    isPromoted
      ? "The cluster decides by version \(version) from here on, and so does this node once it is started again."
      : "The cluster decides by version \(version) from here on, and this is \(own). Install \(version) on this machine, and start it again."
  }
}
