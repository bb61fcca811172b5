import Foundation
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation

/// All parts of all scenes, played by one task a core, the longest first.
struct Workload: Sendable {
  /// One part of a scene.
  private enum Job: Sendable {
    case presence(PresenceScene, part: Int, place: Int)
    case rooms(RoomScene, part: Int, place: Int)

    /// How long it takes about, in adverts.
    var cost: Double {
      switch self {
      case .presence(let scene, _, _):
        let drill = scene.drill
        return drill.length.seconds * (2 + Double(drill.subjects) / drill.interval.usual.seconds)
      case .rooms(let scene, _, _):
        let drill = scene.drill
        return drill.length.seconds * Double(drill.subjects * drill.observers.count) / drill.interval.seconds
      }
    }
  }

  /// What came of a part.
  private enum Outcome: Sendable {
    case presence(PresenceResult, place: Int, part: Int)
    case rooms(RoomResult, place: Int, part: Int)
  }

  let presence: [PresenceScene]
  let rooms: [RoomScene]
  let seed: UInt64
  /// How many parts are played at once.
  let workers: Int

  /// Plays all and puts the parts together in their order, so that the figures do not depend on who was quicker.
  func run(progress: @Sendable (_ done: Int, _ all: Int) -> Void) async throws -> Results {
    let jobs = self.jobs
    var presenceParts: [Int: [(part: Int, result: PresenceResult)]] = [:]
    var roomParts: [Int: [(part: Int, result: RoomResult)]] = [:]
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      var next = 0
      var done = 0
      while next < min(workers, jobs.count) {
        let job = jobs[next]
        group.addTask { try play(job) }
        next += 1
      }
      while let outcome = try await group.next() {
        done += 1
        progress(done, jobs.count)
        switch outcome {
        case .presence(let result, let place, let part):
          presenceParts[place, default: []].append((part, result))
        case .rooms(let result, let place, let part): roomParts[place, default: []].append((part, result))
        }
        guard next < jobs.count else { continue }
        let job = jobs[next]
        group.addTask { try play(job) }
        next += 1
      }
    }
    return assemble(presenceParts, roomParts)
  }

  private var jobs: [Job] {
    var jobs: [Job] = []
    for (place, scene) in presence.enumerated() {
      for part in 0..<scene.parts { jobs.append(.presence(scene, part: part, place: place)) }
    }
    for (place, scene) in rooms.enumerated() {
      for part in 0..<scene.parts { jobs.append(.rooms(scene, part: part, place: place)) }
    }
    return jobs.sorted { $0.cost > $1.cost }
  }

  private func play(_ job: Job) throws -> Outcome {
    switch job {
    case .presence(let scene, let part, let place):
      var run = try PresenceRun(scene)
      return .presence(run.play(seed: partSeed(scene.name, part)), place: place, part: part)
    case .rooms(let scene, let part, let place):
      var run = try RoomRun(scene)
      return .rooms(run.play(seed: partSeed(scene.name, part)), place: place, part: part)
    }
  }

  /// The seed of a part: of the scene's name and not of its place, so that leaving scenes out changes no figure.
  ///
  /// - Source: FNV-1a.
  private func partSeed(_ name: String, _ part: Int) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return hash ^ seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(part) << 56
  }

  private func assemble(
    _ presenceParts: [Int: [(part: Int, result: PresenceResult)]],
    _ roomParts: [Int: [(part: Int, result: RoomResult)]]
  ) -> Results {
    var results = Results()
    for (place, scene) in presence.enumerated() {
      var sum = PresenceResult()
      for (_, result) in (presenceParts[place] ?? []).sorted(by: { $0.part < $1.part }) { sum.add(result) }
      sum.sort()
      let entry = Results.Presence(name: scene.name, result: sum)
      switch scene.section {
      case .tags: results.tags.append(entry)
      case .groups: results.groups.append(entry)
      case .outages: results.outages.append(entry)
      }
    }
    for (place, scene) in rooms.enumerated() {
      var sum = RoomResult()
      for (_, result) in (roomParts[place] ?? []).sorted(by: { $0.part < $1.part }) { sum.add(result) }
      sum.sort()
      results.rooms.append(Results.Rooms(name: scene.name, result: sum))
    }
    return results
  }
}
