import PharosDocuments
package import PharosModel

/// The nodes of a cluster as one of them sees them.
package struct ClusterStanding: Sendable {
  /// A node.
  package struct Node: Sendable {
    /// Its name.
    package let name: String
    /// The version by which it decides.
    package let version: String
    /// What it does.
    package let role: Role
    /// The address of its HTTP interface; empty without one.
    package var http = ""
    /// The number of messages of the log that it has not decided yet.
    package var behind: UInt64 = 0
    /// The number of batches of inputs that it could not store in the log yet.
    package var waiting: UInt32 = 0
    /// The number of its events.
    package var events: Int64 = 0
    /// The position of the log behind which its newest checkpoint continues.
    package var checkpoint: UInt64 = 0
    /// The time at which it was seen last, by its own clock.
    package var seen = Timestamp.distantPast

    /// Makes the standing of a node of which nothing else is known.
    package init(name: String, version: String, role: Role) {
      (self.name, self.version, self.role) = (name, version, role)
    }
  }

  /// What a node does.
  package enum Role: String, CaseIterable, Sendable {
    /// It decides, and delivers for the cluster.
    case delivers
    /// It decides.
    case decides
    /// It reads what the others have decided meanwhile.
    case catchesUp
    /// It decides for itself alone, to be compared.
    case shadow
    /// It has said nothing for a while.
    case gone
  }

  /// The nodes, by name.
  package let nodes: [Node]
  /// The name of the node that answers.
  package let own: String

  /// Makes the standing of a cluster.
  package init(nodes: [Node], own: String) { (self.nodes, self.own) = (nodes, own) }

  static let members: [DocumentField<ClusterStanding>] = [
    .always("node", .text, "The node that answers.") { $0.own },
    .always("nodes", .list(.object(node))) { $0.nodes },
  ]

  private static let node: [DocumentField<Node>] = [
    .always("name", .text) { $0.name },
    .always("role", .word(Role.allCases)) { $0.role },
    .always("version", .text) { $0.version },
    .sometimes("http", .text, "The address of its HTTP interface.") { $0.http.isEmpty ? nil : $0.http },
    .always("behind", .count, "Messages of the log that it has not decided yet.") { $0.behind },
    .always("waiting", .count, "Batches of inputs that the log has not stored yet.") { UInt64($0.waiting) },
    .always("events", .count) { $0.events },
    .always("checkpoint", .count, "The position of the log behind which its newest checkpoint continues.") {
      $0.checkpoint
    },
    .always("seen", .moment) { $0.seen },
  ]
}
