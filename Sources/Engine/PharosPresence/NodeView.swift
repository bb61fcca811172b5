/// A node of a rotation as one observer sees it.
struct NodeView {
  let slot: Int32
  let depth: Int
  let parent: Int32?
  /// Indicates whether the last known published state is inside: such a node is never rotated out.
  var isKept: Bool
  /// Indicates whether a track places the observer inside, published or not.
  var isHere: Bool
  /// Indicates whether a node below it is here.
  var isAncestor = false
  /// Indicates whether the node above it is here.
  var isChild = false
  /// The strongest level heard of it lately, for nearness.
  var level = -Double.infinity

  var rank: Int { isKept ? 0 : isAncestor ? 1 : isHere ? 2 : isChild ? 3 : 4 }

  static func isMoreRelevant(_ left: NodeView, _ right: NodeView) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    if left.rank == 3, left.level != right.level { return left.level > right.level }
    if left.depth != right.depth { return left.depth < right.depth }
    return left.slot < right.slot
  }
}
