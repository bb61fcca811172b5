import SocketTraffic

/// One loop against two, round by round in turn.
struct CoresMeasurement {
  let adverts: Int
  /// Seconds of the site's traffic before the first round.
  let warmUp: Int
  let rounds: Int

  func measure() async throws -> ThroughputReport.CoresRow {
    var traffic = SiteTraffic()
    let run = try await CoresRun()
    var outcomes: [CoresRun.Outcome] = []
    for _ in 0..<warmUp { _ = try await run.play(&traffic, adverts: 24) }
    for _ in 0..<rounds { outcomes.append(try await run.play(&traffic, adverts: adverts)) }
    try await run.check(adverts: (warmUp + rounds) * SiteTraffic.observers * SiteTraffic.heard)
    try await run.close()
    return ThroughputReport.CoresRow(
      advertsPerDatagram: adverts,
      wallRatio: Figure(outcomes.map { Double($0.one.wall) / Double(max(1, $0.two.wall)) }),
      quickestWallRatio: Double(outcomes.map(\.one.wall).min() ?? 0)
        / Double(max(1, outcomes.map(\.two.wall).min() ?? 0)),
      threadRatio: Figure(outcomes.map { Double($0.one.busiest) / Double(max(1, $0.two.busiest)) })
    )
  }
}
