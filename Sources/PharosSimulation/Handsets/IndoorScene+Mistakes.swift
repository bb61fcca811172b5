import PharosPlaces
import PharosReports

extension IndoorScene {
  /// All that keeps the scene from being played, in the order of its parts; empty if it can be.
  package var mistakes: [SceneMistake] {
    var found: [SceneMistake] = []
    func check(_ isRight: Bool, _ place: String, _ problem: @autoclosure () -> String) {
      if !isRight { found.append(SceneMistake(place, problem())) }
    }
    check(!name.isEmpty, "name", "is empty; give the scene a name of one word")
    check(duration > .zero, "duration", "is \(duration.seconds) s; it must be longer than 0 s")
    check(storey > 0 && storey.isFinite, "storey", "is \(storey) m; it must be above 0")
    check(!handsets.isEmpty || !tags.isEmpty, "handsets", "are missing; a scene needs a handset or a tag")
    check(
      tags.isEmpty || venue.floors.contains { !$0.floor.observers.isEmpty },
      "tags",
      "have no observer to hear them; place one on a floor of the venue"
    )
    check(emission.beaconInterval > .zero, "beaconInterval", "must be longer than 0 s")
    var seen: Set<String> = []
    for handset in handsets {
      let place = "handset \"\(handset.id)\""
      check(seen.insert(handset.id.description).inserted, place, "stands twice; each needs its own identity")
      check(handset.period > .zero, "\(place): period", "must be longer than 0 s")
      check(
        (handset.wiFi?.period ?? handset.period) > .zero,
        "\(place): wiFi",
        "needs a period longer than 0 s"
      )
      if case .raw(let sensors) = handset.motion {
        check(
          (1...1_000).contains(sensors.rate),
          "\(place): motion",
          "has \(sensors.rate) samples a second; 1 to 1000"
        )
      }
    }
    for tag in tags {
      let place = "tag \"\(tag.beacon)\""
      check(seen.insert(tag.beacon.description).inserted, place, "stands twice; each needs its own identity")
      check(tag.interval > .zero, "\(place): interval", "must be longer than 0 s")
    }
    return found
  }
}
