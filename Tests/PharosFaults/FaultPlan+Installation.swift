import PharosModel
import PharosSimulation

/// The part of a plan that draws what an ordinary installation does: gateways that upload in batches or lose their power again and
/// again, many new rows at once, tokens that expire; and the questions about rooms.
extension FaultPlan {
  mutating func addInstallation() {
    var random = RandomStream(seed: seed, 16)
    kinds.formUnion(FaultKind.fourth.filter { _ in random.chance(0.25) })
    if kinds.contains(.batch) { drawUploads(&random) }
    if kinds.contains(.rows) { backlog = 1 << (5 + Int(random.next() % 6)) }
    if kinds.contains(.expiry) { tokenLife = .seconds(random.uniform(2, 60)) }
    askAboutRooms()
  }

  private mutating func drawUploads(_ random: inout RandomStream) {
    // A raddec is sent as it is heard.
    for index in stations.indices where !stations[index].isHandset && !stations[index].speaksRaddec {
      guard random.chance(0.7) else { continue }
      stations[index].period = .seconds(random.uniform(20, 60))
      // One that sleeps forgets what it has not sent.
      stations[index].sleep = nil
      if stations[index].speaksJSON { stations[index].givesAges = random.chance(0.5) }
      active = max(active, 10 * stations[index].period)
    }
  }

  /// Asks which tags are in the room of each gateway, where the site has rooms.
  private mutating func askAboutRooms() {
    let tags = transmitters.indices.filter { transmitters[$0].beacon?.major == FaultPlan.tagMajor }
    for zone in site.zones {
      questions.append(
        Question(
          application: "",
          region: zone.identifier,
          stations: Set(stations.indices.filter { zone.observers.contains(stations[$0].id) }),
          transmitters: Set(tags),
          isAboutBeacon: true,
          isRoom: true
        )
      )
    }
  }
}
