package import PharosModel

/// A narrator that explains in words why one event was published, for the HTTP interface, the dashboard and readers of
/// a journal.
///
/// It knows the event and the site only. The decisions that fixed rules would have made come from `pharos explain`,
/// which has the capture as well.
package struct EventNarrator: Sendable {
  private let site: Site
  private let names: SiteNames

  /// Makes a narrator that knows a site's names.
  package init(site: Site) {
    self.site = site
    names = SiteNames(site)
  }

  /// The event's reason, sentence by sentence, in plain text.
  package func narrate(_ event: Event) -> String {
    Narration.plain(sentences(event).joined(separator: " "))
  }

  /// The name that the site has for a subject; nil where it has none.
  package func name(of subject: SubjectID) -> String? { names.given(to: subject) }

  private func sentences(_ event: Event) -> [String] {
    switch event.detail {
    case .ranging(_, let beacons): return [ranging(beacons, of: event.subject)]
    case .battery(let millivolts, let observer):
      let volts = Wording.decimal(Double(millivolts) / 1_000, places: 2)
      return ["Its battery has \(volts) V, as \(names.name(of: .observer(observer))) heard."]
    case .notification(let detail): return ["Sent because of rule \(detail.rule): \(detail.text)"]
    case .fix(let fix): return EventNarrator.sentences(fix)
    case .region, .zone, .observer, .regionLimit, .clockStep, .authorisation:
      return Narrator(site).narration(Decision(event)).why
    }
  }

  private static func sentences(_ fix: FixDetail) -> [String] {
    let floor = fix.floorName.isEmpty ? "floor \(fix.level)" : fix.floorName
    let place = fix.isIndoors ? "on \(floor) of \(fix.building)" : "outdoors"
    var first = "\(Wording.meters(fix.horizontalAccuracy)) accurate \(place)"
    let made = sources.filter { fix.sources.contains($0.source) }.map(\.name)
    first += made.isEmpty ? ", without new evidence" : ", by \(Wording.list(made))"
    if fix.age > .zero { first += "; the newest of it was \(Wording.span(fix.age)) old" }
    var said = ["\(first)."]
    if let speed = fix.speed, speed >= leastSpeed {
      let course = fix.course.map { " to the \(EventNarrator.wind($0))" } ?? ""
      said.append("It goes\(course) at \(Wording.decimal(speed, places: 1))\u{A0}m/s.")
    }
    if fix.isIndoors, fix.satellites == .notNeeded {
      said.append("Its satellite receiver may rest: what it hears indoors says more.")
    }
    return said
  }

  /// The least speed that is worth telling.
  ///
  /// - Units: m/s. Below a third of a walk's somebody turns about rather than goes.
  private static let leastSpeed = 0.4

  /// The sources of a fix, with the words that people use for them.
  private static let sources: [(source: FixSources, name: String)] = [
    (.wifi, "Wi-Fi"), (.beacons, "beacons"), (.observers, "the observers that hear it"),
    (.motion, "its motion"),
    (.outside, "satellites"),
  ]

  /// The nearest of the eight winds of a course in radians from north clockwise.
  private static func wind(_ course: Double) -> String {
    let winds = [
      "north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west",
    ]
    let eighths = Int((course / (.pi / 4)).rounded())
    return winds[((eighths % winds.count) + winds.count) % winds.count]
  }

  private func ranging(_ beacons: [RangedReading], of subject: SubjectID) -> String {
    guard let nearest = beacons.first else { return "No beacon is in range." }
    let others = beacons.count - 1
    let more = others > 0 ? ", and \(Wording.count(others, "more beacon"))" : ""
    guard nearest.accuracy >= 0 else {
      return "\(names.name(of: .beacon(nearest.beacon))) is not heard at present\(more)."
    }
    return
      "\(names.name(of: .beacon(nearest.beacon))) is \(nearest.proximity.rawValue), about "
      + "\(Wording.meters(nearest.accuracy)) away at \(Wording.level(Double(nearest.rssi)))\(more)."
  }
}
