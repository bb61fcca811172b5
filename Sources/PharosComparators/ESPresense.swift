package import PharosReports

/// ESPresense and its companion: locators compete floor by floor, a Kalman filter and a smoothed vote choose.
///
/// Nodes send smoothed distances. For every floor a multilateration and the nearest node are *scenarios*; the most
/// confident one feeds a constant-velocity filter, every scenario is weighed by how near it lies to where the filter
/// expects the tag, and the vote, seven tenths old and three tenths new, says which scenario is believed. The room is
/// the one where its place lies.
///
/// Rooms need places of nodes: if an observer has none, the rule falls back to the nearest node, and says so in its name.
///
/// - Source: companion `config.example.yaml` (time-out 30 s, away 120 s, nearest node within 10 m, process 0.01,
///   measurement 0.1, 0.5 m/s, smoothing weight 0.7, motion sigma 2 m), `MultiScenarioLocator`,
///   `NelderMeadMultilateralizer`, `NearestNode`; firmware `defaults.h`.
/// - Simplified: one multilateration a floor (the four of the companion minimise the same error); the nearest node of
///   the floor that stands in a room decides the room, in place of drawn polygons; floors have no heights; a
///   tag that no node has in view keeps its room until it is away.
package struct ESPresense: Comparator {
  /// What a table calls it.
  package let name: String
  /// It says home and not home, for the whole site.
  package var decidesPresence: Bool { true }
  /// Whether it was given observers.
  package var decidesRooms: Bool { plan != nil }

  /// The silence after which a node's distance no longer counts.
  package static let timeout = TimeSpan.seconds(30)
  /// The silence that is being away.
  package static let away = TimeSpan.seconds(120)

  private let plan: ESPresensePlan?
  private var presence = SilenceTimeout(span: ESPresense.away, scope: .site)
  private var tags: [ESPresenseTag] = []

  /// Makes the rule; with observers it says rooms as well.
  package init(observers: [ComparatorObserver]? = nil) {
    plan = observers.map(ESPresensePlan.init(observers:))
    name =
      switch plan?.hasPlaces {
      case nil: "ESPresense 120 s"
      case true?: "ESPresense companion"
      case false?: "ESPresense nearest node"
      }
  }

  /// Takes an advert that a node heard.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    advance(to: sighting.time - .oneNanosecond, into: &verdicts)
    presence.heard(sighting, into: &verdicts)
    guard let plan, plan.observers.indices.contains(Int(sighting.observer)) else { return }
    let beacon = Int(sighting.beacon)
    while tags.count <= beacon { tags.append(ESPresenseTag(plan: plan)) }
    guard tags[beacon].nodes[Int(sighting.observer)].hear(sighting) else { return }
    let room = tags[beacon].locate(on: plan, at: sighting.time)
    tell(room, about: beacon, at: sighting.time, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    let start = verdicts.count
    presence.advance(to: time, into: &verdicts)
    guard let plan else { return }
    for index in start..<verdicts.count {
      guard case .exit = verdicts[index].change else { continue }
      let beacon = Int(verdicts[index].beacon)
      guard tags.indices.contains(beacon) else { continue }
      let room = tags[beacon].room
      tags[beacon] = ESPresenseTag(plan: plan)
      tags[beacon].room = room
      tell(nil, about: beacon, at: verdicts[index].time, into: &verdicts)
    }
    verdicts.sortByTime(from: start)
  }

  private mutating func tell(
    _ room: Int32?,
    about beacon: Int,
    at time: Timestamp,
    into verdicts: inout [Verdict]
  ) {
    guard room != tags[beacon].room else { return }
    tags[beacon].room = room
    verdicts.append(Verdict(beacon: Int32(beacon), time: time, change: .room(room)))
  }
}
