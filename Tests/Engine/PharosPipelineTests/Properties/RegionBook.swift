import PharosModel

/// Which regions are monitored, as a reader of the changes knows it, and which of them lie within which.
struct RegionBook {
  struct Name: Hashable {
    var application: String
    var region: String

    init(_ application: String, _ region: String) {
      self.application = application
      self.region = region
    }
  }

  private struct Entry {
    var region: Region
    /// The names of the nodes above it in a rotation, or nil if it is no node.
    var ancestors: [String]?
    /// The state to start from.
    var assumed = RegionState.unknown
  }

  private var entries: [Name: Entry] = [:]

  init(_ site: Site) {
    for application in site.applications {
      for region in application.regions {
        entries[Name(application.identifier, region.identifier)] = Entry(region: region)
      }
      add(application.rotation, of: application.identifier, under: [])
    }
  }

  /// A region that is monitored now.
  func region(_ application: String, _ identifier: String) -> Region? {
    entries[Name(application, identifier)]?.region
  }

  /// The state that a region's rows start from.
  func assumed(_ application: String, _ identifier: String) -> RegionState {
    entries[Name(application, identifier)]?.assumed ?? .unknown
  }

  /// Follows a change; returns the names about which nothing is known from then on.
  mutating func follow(_ change: RegionChange) -> Set<Name> {
    switch change {
    case .startMonitoring(let application, let region, let state):
      let name = Name(application, region.identifier)
      let old = entries[name]
      let isKept = old.map { isSame($0.region, region) } ?? false
      entries[name] = Entry(region: region, assumed: isKept ? old?.assumed ?? .unknown : state)
      return isKept ? [] : [name]
    case .stopMonitoring(let application, let identifier):
      entries[Name(application, identifier)] = nil
      return [Name(application, identifier)]
    case .setRotation(let application, let tree):
      let old = entries.filter { $0.key.application == application && $0.value.ancestors != nil }
      for name in old.keys { entries[name] = nil }
      add(tree, of: application, under: [])
      return Set(
        old.filter { name, entry in !(entries[name].map { isSame($0.region, entry.region) } ?? false) }.keys
      )
    case .startRanging, .stopRanging, .requestState, .setRegionLimit, .acceptObserver, .dismissObserver,
      .forget, .setItinerary, .setGuidance, .declare:
      return []
    }
  }

  /// Pairs of a child and a parent within which it lies: a narrower constraint, and otherwise the same question.
  var nested: [(child: Name, parent: Name)] {
    var pairs: [(child: Name, parent: Name)] = []
    for (child, inner) in entries where inner.assumed == .unknown {
      for (parent, outer) in entries where parent.application == child.application && parent != child {
        guard outer.assumed == .unknown, (inner.ancestors == nil) == (outer.ancestors == nil) else {
          continue
        }
        if let ancestors = inner.ancestors, !ancestors.contains(parent.region) { continue }
        guard isWithin(inner.region, outer.region) else { continue }
        pairs.append((child, parent))
      }
    }
    return pairs
  }

  private mutating func add(_ nodes: [RegionNode], of application: String, under ancestors: [String]) {
    for node in nodes {
      let name = Name(application, node.region.identifier)
      entries[name] = Entry(region: node.region, ancestors: ancestors)
      add(node.children, of: application, under: ancestors + [node.region.identifier])
    }
  }

  private func isSame(_ left: Region, _ right: Region) -> Bool {
    left.constraint == right.constraint && left.subject == right.subject
      && left.keyedByAddress == right.keyedByAddress && left.presence == right.presence
  }

  private func isWithin(_ child: Region, _ parent: Region) -> Bool {
    guard child.subject == parent.subject, child.keyedByAddress == parent.keyedByAddress,
      child.presence == parent.presence
    else { return false }
    guard case .proximity(let inner, let innerMajor, let innerMinor) = child.constraint,
      case .proximity(let outer, let outerMajor, let outerMinor) = parent.constraint
    else { return false }
    return inner == outer && (outerMajor == nil || outerMajor == innerMajor)
      && (outerMinor == nil || outerMinor == innerMinor)
  }
}
