import PharosEvents
import PharosReports

extension RegionCatalog {
  /// Adds a rotation's nodes, parents before children.
  mutating func add(
    nodes: [RegionNode],
    of application: String,
    since: Timestamp,
    parent: Int32? = nil
  ) {
    for node in nodes {
      let slot = add(
        node.region,
        application: application,
        since: since,
        isRotated: true,
        parent: parent
      )
      add(nodes: node.children, of: application, since: since, parent: slot)
    }
  }

  /// The applications that have a rotation, in the order of their first nodes.
  var rotatedApplications: [String] {
    guard hasRotations else { return [] }
    var names: [String] = []
    for slot in slots where slot.isLive && slot.isRotated && !names.contains(slot.application) {
      names.append(slot.application)
    }
    return names
  }

  /// How many nodes of an application's rotation may be monitored at once for a subject.
  func rotationBudget(of application: String) -> Int {
    let flat = slots.count { $0.isLive && !$0.isRotated && $0.application == application }
    return max(0, (regionLimits[application] ?? Application.defaultRegionLimit) - flat)
  }
}

/// A node of a rotation as one observer sees it.
private struct NodeView {
  let slot: Int32
  let depth: Int
  let parent: Int32?
  /// Whether the published state is inside: such a node is never rotated out.
  var isKept: Bool
  /// Whether a track says that the observer is inside, published or not.
  var isHere: Bool
  /// Whether a node below it is here.
  var isAncestor = false
  /// Whether the node above it is here.
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

extension StageOne {
  /// How long a level counts for nearness.
  private static let nearness = TimeSpan.seconds(30)

  /// Chooses anew which nodes of a rotation are monitored for an observer.
  ///
  /// The rows of all nodes are kept up to date; only those of chosen ones are published. A node that is chosen again is
  /// compared with what was last published of it, so that a swap gives no enter or exit that is none.
  mutating func rotate(
    _ application: String,
    of index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    let views = nodes(of: application, observer: index, at: time).sorted(by: NodeView.isMoreRelevant)
    let chosen = Set(views.prefix(catalog.rotationBudget(of: application)).map(\.slot))
    for view in views.sorted(by: { $0.slot < $1.slot }) {
      let isChosen = chosen.contains(view.slot) || view.isKept
      if isChosen {
        states[index].activeNodes.insert(view.slot)
      } else {
        states[index].activeNodes.remove(view.slot)
      }
      guard let row = states[index].rowOfSlot[view.slot] else { continue }
      let wasActive = states[index].rows[Int(row)].isActive
      states[index].rows[Int(row)].isActive = isChosen
      if isChosen, !wasActive { reconcile(row: Int(row), of: index, at: time, into: &output) }
    }
  }

  /// Publishes what a row has become while it was rotated out.
  private mutating func reconcile(
    row: Int,
    of index: Int,
    at time: Timestamp,
    into output: inout StageOutput
  ) {
    let entry = states[index].rows[row]
    var evidence = Evidence(rule: .alreadyInside)
    guard states[index].canTell else {
      evidence.rule = .observerOutage
      set(row, of: index, RowChange(to: .unmonitored, time: time, evidence: evidence), into: &output)
      return
    }
    if let beacon = confirmedBeacon(of: entry.slot, observer: index) {
      let change = RowChange(to: .inside, time: time, refinement: beacon, evidence: evidence)
      set(row, of: index, change, into: &output)
    } else if entry.tracksInside == 0, entry.state != .outside {
      states[index].rows[row].decideAt = max(time, states[index].monitoringSince + StageOne.patience)
      arm(row: row, of: index)
    }
  }

  /// A beacon of a region that is here and was heard since the observer is able to tell: what was only here before an
  /// outage enters nothing.
  private func confirmedBeacon(of slot: Int32, observer index: Int) -> BeaconID? {
    states[index].tracks.first { track in
      guard track.isLive else { return false }
      return catalog.sets[Int(track.matchSet)].regions.contains {
        $0.slot == slot && track[presence: Int($0.place)].isConfirmed
      }
    }?.beacon
  }

  private func nodes(of application: String, observer index: Int, at time: Timestamp) -> [NodeView] {
    var views: [NodeView] = []
    var places: [Int32: Int] = [:]
    for place in catalog.slots.indices {
      let slot = catalog.slots[place]
      guard slot.isLive, slot.isRotated, slot.application == application else { continue }
      let row = states[index].rowOfSlot[Int32(place)].map { states[index].rows[Int($0)] }
      let isInside =
        row.map { $0.state == .inside || $0.state == .unmonitored && $0.known == .inside } ?? false
      places[Int32(place)] = views.count
      views.append(
        NodeView(
          slot: Int32(place),
          depth: slot.parent.flatMap { places[$0] }.map { views[$0].depth + 1 } ?? 0,
          parent: slot.parent,
          isKept: isInside && (row?.isActive ?? false),
          isHere: (row?.tracksInside ?? 0) > 0
        )
      )
    }
    for place in views.indices where views[place].isHere || views[place].isKept {
      var above = views[place].parent
      while let slot = above, let parent = places[slot] {
        views[parent].isAncestor = true
        above = views[parent].parent
      }
    }
    for place in views.indices {
      guard let slot = views[place].parent, let parent = places[slot] else { continue }
      views[place].isChild = views[parent].isHere || views[parent].isKept
    }
    measure(&views, places, of: index, at: time)
    return views
  }

  private func measure(
    _ views: inout [NodeView],
    _ places: [Int32: Int],
    of index: Int,
    at time: Timestamp
  ) {
    for track in states[index].tracks where track.isLive && time - track.lastHeard <= StageOne.nearness {
      guard let level = track.level(filter) else { continue }
      for asker in catalog.sets[Int(track.matchSet)].regions {
        guard let place = places[asker.slot] else { continue }
        views[place].level = max(views[place].level, level)
      }
    }
  }
}
