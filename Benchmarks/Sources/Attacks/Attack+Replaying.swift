import PharosModel
import ServedProcess

extension Attack {
  private static let old = ["replayed", "older_boot"]

  /// Attacks that replay genuine datagrams recorded on the network.
  static let replaying: [Attack] = [
    Attack(name: "replayed at once", needsKeys: true) { arena in
      let heard = arena.gateway.sent
      let datagrams = (0..<arena.tries(20_000, quick: 1_000)).map { heard[$0 % heard.count] }
      return try await refusals(datagrams, to: arena.signed, of: arena, for: old)
    },
    Attack(name: "replayed after an orderly restart", needsKeys: true, endsServer: true) { arena in
      let heard = arena.gateway.sent
      arena.server.stop()
      try arena.server.start()
      return try await refusals(heard, to: arena.signed, of: arena, for: old)
    },
    Attack(name: "replayed after kill -9", needsKeys: true, endsServer: true) { arena in
      let heard = arena.gateway.sent
      arena.server.kill()
      try arena.server.start()
      return try await refusals(heard, to: arena.signed, of: arena, for: old)
    },
    Attack(name: "an older boot of a good key", needsKeys: true) { arena in
      let gateway = Gateway(Arena.good, key: arena.gateway.key, boot: 99)
      let datagrams = (0..<arena.tries(20_000, quick: 1_000)).map { _ in gateway.datagram([Gateway.plain]) }
      return try await refusals(datagrams, to: arena.signed, of: arena, for: old)
    },
    Attack(name: "reordered within the window", wanted: "taken", needsKeys: true) { arena in
      // The other gateway has not sent yet; its first datagram makes it known.
      var datagrams = [arena.foreign.datagram([Gateway.plain])]
      for _ in 0..<arena.tries(100, quick: 10) {
        datagrams += (0..<200).map { _ in arena.foreign.datagram([Gateway.plain]) }.shuffled()
      }
      let (before, after) = try await arena.send(datagrams, to: arena.signed)
      func acceptedCount(_ metrics: Metrics) -> Double {
        metrics.sum("pharos_ingest_datagrams_decoded_total", "pharos")
      }
      let refused = refusals(datagrams.count, before, after)
      let came = Int(acceptedCount(after) - acceptedCount(before))
      return Outcome(
        tried: datagrams.count,
        held: max(0, min(datagrams.count, came) - refused.held),
        note: "taken in any order\(refused.held > 0 ? "; refused: \(refused.note)" : "")"
      )
    },
  ]
}
