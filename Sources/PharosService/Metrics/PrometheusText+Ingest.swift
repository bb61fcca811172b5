package import PharosIngest
import PharosMonitoring
import PharosPositioning
import PharosReports
import PharosWire

extension PrometheusText {
  /// Writes what ingest and the two stages have counted.
  package mutating func write(_ snapshot: IngestSnapshot) {
    writeArrivals(snapshot)
    writeMonitoring(snapshot)
    let positioning = snapshot.positioning
    write(.summaries, positioning.summaries)
    write(.presenceChanges, positioning.presenceChanges)
    write(.strayChanges, positioning.strayChanges)
    write(.crowdedOut, positioning.crowdedOut)
    write(.tagEvictions, positioning.evictions)
    write(.tags, positioning.tags)
    write(.sensings, snapshot.monitoring.sensings)
    write(positioning.locating)
  }

  private mutating func writeArrivals(_ snapshot: IngestSnapshot) {
    let decoding = snapshot.decoding
    let formats = WireFormat.allCases
    write(.datagrams, snapshot.datagrams)
    write(.receivedBytes, snapshot.bytes)
    write(.decoded, formats.map { ([$0.name], Double(decoding.datagrams($0))) })
    write(.decodedReports, formats.map { ([$0.name], Double(decoding.reports($0))) })
    let refusals = (formats.map { $0 as WireFormat? } + [nil]).flatMap { format in
      DatagramRefusal.allCases.map { reason in
        (labels: [format?.name ?? "unknown", reason.name], value: Double(decoding.refusals(format, reason)))
      }
    }
    write(.refused, refusals)
    write(.kernelDrops, snapshot.kernelDrops)
    write(.queueWaits, snapshot.queueWaits)
    write(.forwarded, snapshot.forwarded)
    write(.socketErrors, snapshot.socketErrors)
    write(.tableEvictions, snapshot.tableEvictions)
    write(.receiveBuffer, snapshot.sockets.map(\.receiveBuffer).min() ?? 0)
    let isKnown = snapshot.deliveredThrough != .distantPast && snapshot.time != .distantPast
    write(.deliveryLag, isKnown ? max(0, (snapshot.time - snapshot.deliveredThrough).seconds) : 0)
    write(.isRecording, snapshot.isRecording ? 1 : 0)
    write(.devicesHeard, snapshot.heard.beacons.count)
  }

  private mutating func writeMonitoring(_ snapshot: IngestSnapshot) {
    let counted = snapshot.monitoring
    write(
      .adverts,
      [(["matched"], Double(counted.matched)), (["unmatched"], Double(counted.unmatched))]
    )
    write(.late, counted.late)
    write(.joined, counted.joined)
    write(.withoutLevel, counted.withoutLevel)
    write(.backwards, counted.backwards)
    write(.sequenceGaps, counted.sequenceGaps)
    write(.sequenceRepeats, counted.sequenceRepeats)
    write(.restarts, counted.restarts)
    write(.staleBoots, counted.staleBoots)
    write(.outages, counted.outages)
    write(.quarantined, counted.quarantined)
    write(
      .evictions,
      [(["track"], Double(counted.trackEvictions)), (["observer"], Double(counted.observerEvictions))]
    )
    write(.tracks, counted.tracks)
    let up = snapshot.observers.count { $0.isUp }
    write(.observers, [(["up"], Double(up)), (["down"], Double(snapshot.observers.count - up))])
  }
}
