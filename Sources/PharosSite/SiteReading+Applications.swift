import PharosReports
import Yams

extension SiteReading {
  private static let applicationKeys = ["id", "purpose", "regions", "ranging", "rotation", "regionLimit"]
  static let rangingKeys = SiteIdentity.keys + ["whileInside"]
  static let purposeExpected = "what the application wants to know where people are for"

  /// The name of the application that regions at the top level belong to.
  static let defaultApplication = "default"

  mutating func applications(_ fields: SiteFields) -> [Application] {
    var applications: [Application] = []
    var seen: Set<String> = []
    if ["regions", "ranging", "rotation"].contains(where: fields.has) {
      seen.insert(SiteReading.defaultApplication)
      applications.append(application(SiteReading.defaultApplication, fields, limit: nil))
    }
    for (index, path, node) in fields.list("applications", of: "applications") {
      guard !problems.isFull else { break }
      let place = node.named("application", index)
      let keys = SiteReading.applicationKeys
      guard let entry = SiteFields(node, place: place, path: path, known: keys, problems: problems) else {
        continue
      }
      let id = entry.requiredText("id", expected: "the application's name")
      if let id, !seen.insert(id).inserted {
        let isDefault = id == SiteReading.defaultApplication && fields.has("regions")
        entry.mistake(
          "id",
          isDefault ? "regions at the top level are this application's too" : "this id is taken already",
          expected: isDefault ? "its regions in one place" : "each application once"
        )
      }
      let limit = entry.integer("regionLimit", in: 1...SiteReading.mostRegions)
      access.purposes[id ?? ""] = entry.filledText("purpose", expected: SiteReading.purposeExpected)
      applications.append(application(id ?? "", entry, limit: limit))
    }
    return applications
  }

  private mutating func application(_ id: String, _ fields: SiteFields, limit: Int?) -> Application {
    var application = Application(identifier: id)
    if let limit { application.regionLimit = limit }
    var seen: Set<String> = []
    let nodes = fields.list("regions", of: "regions")
    for (index, path, node) in nodes where !problems.isFull {
      if index == application.regionLimit {
        problems.mistake(
          "application \"\(id)\" has \(nodes.count) regions; this is the first above its limit of "
            + "\(application.regionLimit)",
          line: node.mark?.line ?? fields.line,
          field: path,
          expected: "at most \(application.regionLimit); use a rotation for a larger set"
        )
      }
      if let region = region(node, place: node.named("region", index), path: path, seen: &seen) {
        application.regions.append(region)
      }
    }
    application.ranging = fields.list("ranging", of: "constraints").compactMap { index, path, node in
      ranging(node, place: "ranging \(index + 1) of application \"\(id)\"", path: path)
    }
    application.rotation = fields.list("rotation", of: "regions with children")
      .compactMap { rotation($0.node, path: $0.path, depth: 1, seen: &seen) }
    if let first = nodes.first(where: { $0.node.isAboutObservers }) {
      let line = first.node.mark?.line ?? fields.line
      observerRegions.append((first.node.named("region", 0), first.path, line))
    }
    return application
  }

  /// One ranging request.
  func ranging(_ node: Node, place: String, path: String) -> RangingRequest? {
    let known = SiteReading.rangingKeys
    guard let fields = SiteFields(node, place: place, path: path, known: known, problems: problems) else {
      return nil
    }
    let whileInside = fields.flag("whileInside") ?? false
    return identity(fields).map {
      RangingRequest(
        constraint: $0.constraint,
        keyedByAddress: $0.keyedByAddress,
        whileInside: whileInside
      )
    }
  }

  private mutating func rotation(
    _ node: Node,
    path: String,
    depth: Int,
    seen: inout Set<String>
  ) -> RegionNode? {
    let line = node.mark?.line ?? 1
    guard depth <= SiteReading.deepestRotation else {
      problems.mistake(
        "the rotation is deeper than \(SiteReading.deepestRotation) levels",
        line: line,
        field: path,
        expected: "venue, floor, exhibit, or a few more"
      )
      return nil
    }
    let known = ["region", "children"]
    let place = "rotation level \(depth)"
    guard !problems.isFull,
      let fields = SiteFields(node, place: place, path: path, known: known, problems: problems)
    else { return nil }
    guard let regionNode = fields["region"] else {
      fields.mistake("region", "region is missing", expected: "the region of this level")
      return nil
    }
    let name = regionNode.named("region", 0)
    let region = region(regionNode, place: name, path: fields.path(of: "region"), seen: &seen)
    var children: [RegionNode] = []
    for (_, path, node) in fields.list("children", of: "regions with children") {
      guard let child = rotation(node, path: path, depth: depth + 1, seen: &seen) else { continue }
      children.append(child)
    }
    return region.map { RegionNode(region: $0, children: children) }
  }
}

extension Node {
  /// How messages name an entry: by its id, or by its place in the list if it has none.
  func named(_ kind: String, _ index: Int) -> String {
    guard let id = mapping?["id"]?.scalar?.string, !id.isEmpty else { return "\(kind) \(index + 1)" }
    return "\(kind) \"\(PlainText.cut(id, to: 64))\""
  }

  /// Whether a region's entry is about observers, as it is by default.
  fileprivate var isAboutObservers: Bool {
    guard let mapping else { return false }
    return (mapping["subject"]?.scalar?.string ?? "observer") == "observer"
  }
}
