import Foundation
import PharosModel
import PharosRooms
import PharosTestSupport
import Testing

/// The likelihood of a look against a slow reference, and what is learned from looks.
@Suite("Fingerprints of zones")
struct FingerprintTests {
  private static let observers = (0..<5).map { ObserverID.name("o\($0)") }

  /// A site of several zones, each with one observer, and drawn fingerprints.
  private static func zones(_ chance: inout SeededGenerator) -> [Zone] {
    observers.enumerated().map { index, observer in
      var zone = Zone(identifier: "z\(index)", observers: [observer])
      let levels = observers.filter { _ in Double.random(in: 0..<1, using: &chance) < 0.8 }
      zone.fingerprint = ZoneFingerprint(
        levels: levels.map {
          ZoneFingerprint.Level(
            observer: $0,
            mean: .random(in: -95 ... -40, using: &chance),
            deviation: .random(in: 0...9, using: &chance),
            heard: .random(in: 0.1...1, using: &chance)
          )
        },
        looks: .random(in: 2...300, using: &chance),
        learnedAt: LookTime.start
      )
      return zone
    }
  }

  private static func look(_ chance: inout SeededGenerator) -> [FingerprintTable.Observation] {
    observers.map { _ in
      switch Int.random(in: 0..<4, using: &chance) {
      case 0: .silence
      case 1: .none
      default: .level(.random(in: -100 ... -35, using: &chance))
      }
    }
  }

  @Test(
    "the likelihood is that of a multivariate t distribution with a common shift",
    arguments: Seeds.drawn(0..<40)
  )
  func reference(seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let zones = Self.zones(&chance)
      let table = try #require(ZonePlan(site: Site(zones: zones)).fingerprints)
      let look = Self.look(&chance)
      let slow = zones.map { SlowFingerprints(zones).likelihood(look, $0) }
      let fast = zones.indices.map {
        table.likelihood(of: look, in: $0, looks: zones[$0].fingerprint?.looks ?? 0)
      }
      for (fast, slow) in zip(fast, slow) { #expect(abs(fast - slow) < 1e-6 * max(1, abs(slow))) }
    }
  }

  @Test("a beacon of another power fits the same zone best")
  func power() throws {
    var chance = SeededGenerator(seed: 7)
    let zones = Self.zones(&chance)
    let table = try #require(ZonePlan(site: Site(zones: zones)).fingerprints)
    for (index, zone) in zones.enumerated() {
      let levels = try #require(zone.fingerprint).levels
      for shift in [-8.0, -4, 0, 4, 8] {
        let look = Self.observers.map { observer -> FingerprintTable.Observation in
          levels.first { $0.observer == observer }.map { .level($0.mean + shift) } ?? .silence
        }
        let likelihoods = zones.indices.map { table.likelihood(of: look, in: $0, looks: 100) }
        #expect(likelihoods.indices.max { likelihoods[$0] < likelihoods[$1] } == index)
      }
    }
  }

  @Test("fewer looks say less", arguments: [2.0, 5, 20, 100])
  func looks(count: Double) throws {
    func evidence(_ looks: Double) throws -> Double {
      let zones = [-50.0, -70].enumerated().map { index, mean in
        var zone = Zone(identifier: "z\(index)", observers: [Self.observers[index]])
        zone.fingerprint = ZoneFingerprint(
          levels: [(0, mean), (1, -120 - mean)].map {
            ZoneFingerprint.Level(observer: Self.observers[$0.0], mean: $0.1, deviation: 3, heard: 1)
          },
          looks: looks,
          learnedAt: LookTime.start
        )
        return zone
      }
      let table = try #require(ZonePlan(site: Site(zones: zones)).fingerprints)
      let look: [FingerprintTable.Observation] = [.level(-50), .level(-70)]
      return table.likelihood(of: look, in: 0, looks: looks) - table.likelihood(of: look, in: 1, looks: looks)
    }
    #expect(try evidence(count) > 0)
    #expect(try evidence(count) < evidence(count * 2))
  }

  @Test("a single fingerprint has nothing to be compared with")
  func single() {
    var chance = SeededGenerator(seed: 1)
    var zones = Self.zones(&chance)
    for index in zones.indices.dropFirst() { zones[index].fingerprint = nil }
    #expect(ZonePlan(site: Site(zones: zones)).fingerprints == nil)
  }

  @Test("looks that resemble each other count as fewer", arguments: Seeds.fixed(0..<10))
  func resemblance(seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    // Levels of an autoregressive process: of so many looks, one in (1 + ρ) ÷ (1 − ρ) is independent.
    for correlation in [0.0, 0.8] {
      var learner = FingerprintLearner(observers: [.name("a"), .name("b")])
      var levels = [0.0, 0.0]
      let count = 4_000
      for second in 0..<count {
        for place in levels.indices {
          let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &chance) }
          levels[place] = correlation * levels[place] + (1 - correlation * correlation).squareRoot() * noise
        }
        let look = levels.map { FingerprintTable.Observation.level(-60 + 4 * $0) }
        learner.add(look, in: "room", stay: 0, at: LookTime.start + .seconds(Double(second)))
      }
      let room = try #require(learner.fingerprints["room"])
      let expected = Double(count) * (1 - correlation) / (1 + correlation)
      #expect(room.looks > expected / 1.4 && room.looks < expected * 1.4)
      for level in room.levels {
        #expect(abs(level.mean + 60) < 1 && abs(level.deviation - 4) < 0.5 && level.heard == 1)
      }
    }
  }

  @Test("a beacon at rest is one look in each of its stays")
  func rest() throws {
    var learner = FingerprintLearner(observers: [.name("a")])
    for (stay, level) in [-50.0, -58, -66].enumerated() {
      for second in 0..<100 {
        learner.add([.level(level)], in: "x", stay: stay, at: LookTime.start + .seconds(Double(second)))
      }
    }
    let room = try #require(learner.fingerprints["x"])
    #expect(room.looks >= 3 && room.looks < 4.5)
    #expect(room.levels.map { $0.mean.rounded() } == [-58])
  }

  @Test("an observer that is silent at some looks is heard in the share of the others")
  func shares() throws {
    var learner = FingerprintLearner(observers: [.name("a"), .name("b"), .name("c")])
    for second in 0..<8 {
      let other: FingerprintTable.Observation = second % 4 == 0 ? .silence : .level(-80)
      learner.add(
        [.level(-50), other, .none],
        in: "x",
        stay: 0,
        at: LookTime.start + .seconds(Double(second))
      )
    }
    let room = try #require(learner.fingerprints["x"])
    #expect(room.levels.map(\.observer) == [.name("a"), .name("b")])
    #expect(room.levels.map(\.heard) == [1, 0.75])
    #expect(room.learnedAt == LookTime.start + .seconds(7))
  }
}

private enum LookTime {
  static let start = Timestamp(seconds: 1_000_000)
}

/// The same distribution with the full covariance matrix, its inverse and its determinant by elimination.
private struct SlowFingerprints {
  private let zones: [Zone]

  init(_ zones: [Zone]) { self.zones = zones }

  private func level(_ zone: Zone, _ observer: ObserverID) -> ZoneFingerprint.Level? {
    zone.fingerprint?.levels.first { $0.observer == observer }
  }

  func likelihood(_ look: [FingerprintTable.Observation], _ zone: Zone) -> Double {
    let observers = zones.flatMap(\.observers)
    let looks = zone.fingerprint?.looks ?? 0
    var (result, residuals, variances) = (0.0, [Double](), [Double]())
    for (observer, observation) in zip(observers, look) {
      let own = level(zone, observer)
      let count = looks * (own?.heard ?? 0)
      let share = (count + 0.5) / (looks + 1)
      switch observation {
      case .none: continue
      case .silence: result += log(1 - share)
      case .level(let heard):
        result += log(share)
        let means = zones.compactMap { level($0, observer)?.mean }
        let usual = means.isEmpty ? -95 : means.reduce(0, +) / Double(means.count)
        let square = (own?.deviation ?? 0) * (own?.deviation ?? 0)
        let within = (8 * 3.5 * 3.5 + count * square) / (8 + count)
        let prior = within / 64
        let mean = (prior * usual + count * (own?.mean ?? 0)) / (prior + count)
        residuals.append(heard - mean)
        variances.append(within * (1 + 1 / (prior + count)))
      }
    }
    var matrix = variances.indices.map { row in
      variances.indices.map { column in 36 + (row == column ? variances[row] : 0) }
    }
    var (solved, determinant) = (residuals, 1.0)
    for pivot in matrix.indices {
      determinant *= matrix[pivot][pivot]
      for row in matrix.indices where row > pivot {
        let factor = matrix[row][pivot] / matrix[pivot][pivot]
        for column in matrix.indices { matrix[row][column] -= factor * matrix[pivot][column] }
        solved[row] -= factor * solved[pivot]
      }
    }
    // What elimination leaves is the triangular factor, so that the squares over its diagonal are the form.
    let form = matrix.indices.reduce(0.0) { $0 + solved[$1] * solved[$1] / matrix[$1][$1] }
    return result - log(determinant) / 2 - (8 + Double(residuals.count)) / 2 * log(1 + form / 8)
  }
}
