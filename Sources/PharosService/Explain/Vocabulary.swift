import PharosReports
import PharosSite

/// What people may call observers, beacons and regions on the command line, and what they probably meant.
struct Vocabulary {
  private let findings: Findings
  private let narrator: Narrator

  /// How many names an error lists.
  private static let most = 6

  init(_ findings: Findings) {
    self.findings = findings
    narrator = Narrator(findings)
  }

  /// An observer by its identity or its name in the site file.
  func observer(_ text: String) throws(CommandFailure) -> ObserverID {
    let known = findings.observers
    let named = findings.site.observers.first { $0.name?.lowercased() == text.lowercased() }?.id
    let wanted = named ?? ObserverID(text)
    if let wanted, known.contains(wanted) { return wanted }
    let names = known.flatMap { [$0.description, narrator.name($0)] }
    throw failure("observer", text, "was heard", among: names, listing: known.map { label($0) })
  }

  /// A beacon by its identity, its name in the site file, or the end of its identity, as in `20/2`.
  func beacon(_ text: String) throws(CommandFailure) -> BeaconID {
    let known = findings.beacons
    if let exact = BeaconID(text), known.contains(exact) { return exact }
    let lowered = text.lowercased()
    let matches = known.filter { beacon in
      let identity = beacon.description.lowercased()
      return narrator.name(beacon).lowercased() == lowered || identity == lowered
        || identity.hasSuffix("/" + lowered) || identity.hasSuffix("@" + lowered)
        || identity == "mac:" + lowered
    }
    if matches.count == 1, let match = matches.first { return match }
    if matches.count > 1 {
      throw CommandFailure(
        "--beacon \(text) means \(matches.count) beacons: \(Vocabulary.shortened(matches.map(\.description))). "
          + "Give more of the identity.",
        status: .usage
      )
    }
    let names = known.flatMap { [$0.description, narrator.name($0), Vocabulary.ending(of: $0)] }
    throw failure("beacon", text, "has a track", among: names, listing: known.map { label($0) })
  }

  /// A region or a zone by its identifier.
  func region(_ text: String) throws(CommandFailure) -> String {
    let declared = findings.site.applications.flatMap { $0.regions.map(\.identifier) }
    let known = Set(
      findings.regions.map(\.region) + declared + findings.site.zones.map(\.identifier)
        + findings.decisions.flatMap(\.regions)
    )
    .sorted()
    if known.contains(text) { return text }
    throw failure("region or zone", text, "is known", among: known, listing: known)
  }

  private func failure(
    _ what: String,
    _ text: String,
    _ verb: String,
    among names: [String],
    listing all: [String]
  ) -> CommandFailure {
    let guess = Spelling.nearest(to: text, among: names).map { " Did you mean \($0)?" } ?? ""
    let ranked = all.sorted { left, right in
      let (near, far) = (Vocabulary.distance(text, left), Vocabulary.distance(text, right))
      return near == far ? left < right : near < far
    }
    let list =
      all.isEmpty
      ? " There is none in these captures."
      : " There \(all.count == 1 ? "is" : "are"): \(Vocabulary.shortened(ranked))."
    return CommandFailure("No \(what) called \(text) \(verb).\(guess)\(list)", status: .usage)
  }

  /// How far a word is from a label: that of its nearest part.
  private static func distance(_ word: String, _ label: String) -> Int {
    let parts = label.split { " ()".contains($0) }.map(String.init) + [label]
    return parts.map { Spelling.distance(word.lowercased(), $0.lowercased()) }.min() ?? .max
  }

  private func label(_ observer: ObserverID) -> String {
    let name = narrator.name(observer)
    return name == observer.description ? name : "\(name) (\(observer))"
  }

  private func label(_ beacon: BeaconID) -> String {
    let name = narrator.name(beacon)
    return name.contains("…") || name == beacon.description ? beacon.description : "\(name) (\(beacon))"
  }

  /// The end of a beacon's identity: its numbers without the UUID.
  static func ending(of beacon: BeaconID) -> String {
    beacon.description.split(separator: "/").dropFirst().joined(separator: "/")
  }

  private static func shortened(_ names: [String]) -> String {
    let shown = names.prefix(most).joined(separator: ", ")
    return names.count > most ? "\(shown) and \(names.count - most) more" : shown
  }
}
