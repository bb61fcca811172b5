import PharosDocuments

/// The entries of the venues in the site file: folders, or mappings with a folder and whether the venue has a page for visitors.
enum VenueEntries {
  private static let keys = ["folder", "visitors", "nearMe"]

  /// Reads the folders and their lines, and the pages for visitors by the index of the folder.
  static func read(
    _ fields: DocumentFields
  ) -> (folders: [String], lines: [Int], visitors: [Int: VisitorPage]) {
    var (folders, lines, visitors) = ([String](), [Int](), [Int: VisitorPage]())
    func add(_ folder: String, _ line: Int) {
      folders.append(folder)
      lines.append(line)
    }
    for (index, path, node) in fields.list("venues", of: "venue folders") {
      guard node.members != nil else {
        if let folder = fields.element(node, of: "venues", path: path, .folder) { add(folder, node.line) }
        continue
      }
      let place = node.name("venue", index, key: "folder")
      guard
        let entry = DocumentFields(node, place: place, path: path, known: keys, problems: fields.problems)
      else { continue }
      let folder = entry.required("folder", .folder)
      let isShown = entry.value("visitors", .flag) ?? false
      let nearMe = entry.value("nearMe", .webAddress)
      if entry.has("nearMe"), !isShown {
        entry.mistake("nearMe", "nearMe is set without visitors: true", expected: "both, or neither")
      }
      guard let folder else { continue }
      if isShown { visitors[folders.count] = VisitorPage(nearMe: nearMe) }
      add(folder, node.line)
    }
    return (folders, lines, visitors)
  }

  /// The entries as the site file has them: a folder alone where there is nothing else to say.
  static func written(_ folders: [String], _ visitors: [Int: VisitorPage]) -> [JSONValue] {
    folders.enumerated().map { index, folder in
      guard let page = visitors[index] else { return .string(folder) }
      return .written { json in
        json.member("folder", folder)
        json.member("visitors", true)
        json.member("nearMe", ifPresent: page.nearMe)
      }
    }
  }
}
