import PharosDocuments

/// The public page of a venue, which everyone can read who reaches the server: `visitors: true` in the venue's entry.
///
/// Places, floors and ways are on it, and nothing about subjects, observers or beacons.
package struct VisitorPage: Hashable, Sendable {
  /// The web address that opens the venue's application at what is near the visitor; nil for no such link.
  package var nearMe: String?

  /// Makes a page.
  package init(nearMe: String? = nil) { self.nearMe = nearMe }
}

extension SiteReading {
  private static let venueKeys = ["folder", "visitors", "nearMe"]

  /// Reads the venues: folders, or entries with a folder and whether the venue has a page for visitors.
  func readVenues(_ fields: DocumentFields, into configuration: inout SiteConfiguration) {
    for (index, path, node) in fields.list("venues", of: "venue folders") {
      guard node.members != nil else {
        if let folder = fields.element(node, of: "venues", path: path, .folder) {
          configuration.lines["venues[\(configuration.venues.count)]"] = node.line
          configuration.venues.append(folder)
        }
        continue
      }
      let place = node.name("venue", index, key: "folder")
      let known = SiteReading.venueKeys
      guard let entry = DocumentFields(node, place: place, path: path, known: known, problems: problems)
      else {
        continue
      }
      let folder = entry.required("folder", .folder)
      let isShown = entry.value("visitors", .flag) ?? false
      let nearMe = entry.value("nearMe", .webAddress)
      if entry.has("nearMe"), !isShown {
        entry.mistake("nearMe", "nearMe is set without visitors: true", expected: "both, or neither")
      }
      guard let folder else { continue }
      if isShown { configuration.visitors[configuration.venues.count] = VisitorPage(nearMe: nearMe) }
      configuration.lines["venues[\(configuration.venues.count)]"] = node.line
      configuration.venues.append(folder)
    }
  }
}

extension SiteConfiguration {
  /// The entries of the venues as the site file has them: a folder alone where there is nothing else to say.
  var venueEntries: [JSONValue] {
    venues.enumerated().map { index, folder in
      guard let page = visitors[index] else { return .string(folder) }
      return .written { json in
        json.member("folder", folder)
        json.member("visitors", true)
        json.member("nearMe", ifPresent: page.nearMe)
      }
    }
  }
}
