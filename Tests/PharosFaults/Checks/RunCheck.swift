import PharosDelivery
import PharosPipeline
import PharosPresence
import PharosWire

/// Holds one run of the server against its own counts, when it ends.
struct RunCheck {
  let life: Life
  let world: FaultWorld
  /// Whether it has stopped in an orderly way, so that nothing is under way.
  let isOrderly: Bool

  func run() {
    checkReports()
    checkPublished()
    checkBounds()
  }

  private func checkReports() {
    let counters = life.decoder.counters
    same(
      "datagrams received",
      life.datagrams,
      "decoded and refused by reason",
      counters.totalDatagrams + counters.totalRefusals
    )
    let accepted = life.pipeline.counters
    same("reports decoded", counters.totalReports, "taken", accepted.reports + accepted.strayReports)
    same("reports taken", accepted.reports, "counted by stage one", life.pipeline.monitoringCounters.reports)
  }

  private func checkPublished() {
    let committed = life.commitPublisher.statistics
    if isOrderly {
      same(
        "events decided",
        committed.received,
        "published, withheld and given up",
        committed.committed + committed.passed + committed.withheld + committed.lost
      )
      if committed.waiting > 0 {
        world.violate(.counters, "\(committed.waiting) events wait behind an orderly end")
      }
    }
    if committed.lost > 0, committed.failures == 0 {
      world.violate(.counters, "\(committed.lost) events were given up, and the journal never refused any")
    }
  }

  private func checkBounds() {
    let limits = world.plan.limits
    let counters = life.pipeline.monitoringCounters
    let maximum = UInt64(min(limits.tracksPerObserver, 1 << 20) * max(1, life.pipeline.observers().count))
    if counters.tracks > maximum {
      world.violate(.memory, "\(counters.tracks) tracks, \(maximum) are allowed")
    }
    let waiting = life.feeds.statistics.waiting
    // A stream keeps as many events as it asked for, and as many readings.
    let room = 2 * world.clients.reduce(0) { $0 + $1.limit }
    // Two that were abandoned without a close may stand open beside the one in use.
    if waiting > 3 * room {
      world.violate(.memory, "\(waiting) events wait in streams with room for \(room)")
    }
  }

  private func same(_ left: String, _ first: UInt64, _ right: String, _ second: UInt64) {
    if first != second {
      world.violate(.counters, "run \(life.number): \(first) \(left), \(second) \(right)")
    }
  }
}
