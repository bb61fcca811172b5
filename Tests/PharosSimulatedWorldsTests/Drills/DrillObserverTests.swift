import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import Testing

@Suite("Drill observers")
struct DrillObserverTests {
  private static let length = TimeSpan.minutes(12 * 60)

  private func record(_ kinds: [Drill.Outage.Kind], seed: UInt64 = 3) -> DrillRecord {
    DrillRecord(
      Drill(
        name: "outages",
        interval: .steady(.seconds(1)),
        subjects: 4,
        length: DrillObserverTests.length,
        stay: .minutes(30)...(.minutes(120)),
        passersBy: 1,
        outages: kinds
      ),
      seed: seed
    )
  }

  private func outages(_ record: DrillRecord) -> [Drill.Outage] {
    record.items.compactMap { if case .outage(_, let outage) = $0 { outage } else { nil } }
  }

  private func counts(_ record: DrillRecord, in outage: Drill.Outage) -> (adverts: Int, heartbeats: [UInt32])
  {
    var adverts = 0
    var heartbeats: [UInt32] = []
    for item in record.items where item.time > outage.start && item.time < outage.end {
      switch item {
      case .advert: adverts += 1
      case .heartbeat(_, _, let count): heartbeats.append(count)
      case .boot, .came, .left, .room, .outage: break
      }
    }
    return (adverts, heartbeats)
  }

  @Test("an observer says once a second how many adverts it has heard")
  func heartbeats() {
    var heard: UInt32 = 0
    var beats = 0
    for item in record([]).items {
      switch item {
      case .advert: heard += 1
      case .heartbeat(_, let time, let count):
        #expect(count == heard)
        heard = 0
        beats += 1
        #expect(DrillRecord.seconds(time) == Double(beats))
      case .boot(_, let time, let bootID):
        #expect(time == Drill.start && bootID == 1)
      case .came, .left, .room, .outage: break
      }
    }
    #expect(beats == 12 * 3_600)
  }

  @Test(
    "nothing comes from a dead observer, nor from one that restarts",
    arguments: [Drill.Outage.Kind.dead, .restarted]
  )
  func silence(kind: Drill.Outage.Kind) {
    let record = record([kind])
    let outages = outages(record)
    #expect(outages.count > 10)
    for outage in outages where outage.end < Drill.start + Self.length {
      let (adverts, heartbeats) = counts(record, in: outage)
      #expect(adverts == 0 && heartbeats.isEmpty)
    }
    let boots = record.items.compactMap { if case .boot(_, _, let id) = $0 { id } else { nil } }
    let ended = outages.count { $0.end <= Drill.start + Self.length }
    #expect(boots == (kind == .restarted ? Array(1...UInt32(ended + 1)) : [1]))
  }

  @Test("a hung radio hears nothing and says so")
  func hung() {
    let record = record([.hung])
    for outage in outages(record) where outage.end < Drill.start + Self.length {
      let (adverts, heartbeats) = counts(record, in: outage)
      #expect(adverts == 0)
      #expect(heartbeats.count >= 59)
      #expect(heartbeats.dropFirst().allSatisfy { $0 == 0 })
    }
  }

  @Test("a tenth of the adverts comes through a congested observer")
  func congested() {
    let record = record([.congested])
    var inside = 0
    var span = 0.0
    for outage in outages(record) {
      inside += counts(record, in: outage).adverts
      span += (outage.end - outage.start).seconds
    }
    let all = record.items.count { if case .advert = $0 { true } else { false } }
    let usual = Double(all - inside) / (12 * 3_600 - span)
    #expect(span > 700)
    #expect(abs(Double(inside) / span / usual - 0.1) < 0.03)
  }

  @Test("all kinds come in their turn, at least five minutes apart")
  func turns() {
    let outages = outages(record(Drill.Outage.Kind.allCases))
    #expect(outages.count > 10)
    for (place, outage) in outages.enumerated() {
      #expect(outage.kind == Drill.Outage.Kind.allCases[place % 4])
    }
    #expect(zip(outages.dropFirst(), outages).allSatisfy { $0.start - $1.end >= .seconds(300) })
  }

  @Test("a group comes within ten seconds and leaves at one instant", arguments: [1, 5, 20])
  func groups(size: Int) {
    let drill = Drill(
      name: "group",
      loss: Drill.Loss(share: 0.3),
      subjects: size,
      length: .minutes(4 * 60),
      stay: .minutes(10)...(.minutes(20)),
      away: .minutes(8)...(.minutes(15)),
      leavesTogether: true,
      passersBy: 2
    )
    let stays = DrillRecord(drill).stays
    #expect(stays.count >= 5 * size)
    #expect(stays.count % size == 0)
    for start in stride(from: 0, to: stays.count, by: size) {
      let group = stays[start..<start + size]
      let left = group.map(\.left)
      let came = group.map(\.came)
      #expect((left.max() ?? 0) - (left.min() ?? 0) <= 1.01)
      #expect((came.max() ?? 0) - (came.min() ?? 0) <= 11)
    }
  }
}
