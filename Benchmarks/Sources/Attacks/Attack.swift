import ServedProcess

/// One kind of attack.
struct Attack: Sendable {
  /// What came of it.
  struct Outcome: Sendable {
    /// How often it was tried.
    var tried: Int
    /// How often the server did what it should: refuse, in all rows but those that say otherwise.
    var held: Int
    /// What happened, by the server's own counts.
    var note: String
  }

  /// Its name in the table.
  var name: String
  /// What should become of each attempt.
  var wanted = "refused"
  /// Whether it needs a server that knows keys.
  var needsKeys = false
  /// Whether the server ends meanwhile, so that its users are only looked at afterwards.
  var endsServer = false
  /// Whether the enters of users have to come as fast as without it.
  var keepsLatency = false
  /// Does it.
  var perform: @Sendable (Arena) async throws -> Outcome

  /// Every attack, in the order of the table.
  static var all: [Attack] { spoofing + replaying + mutilating + flooding + connecting + overloading }

  /// What came of sending datagrams: all should be refused, for these reasons if any are named.
  static func refusals(
    _ datagrams: [[UInt8]],
    to port: UInt16,
    of arena: Arena,
    for reasons: [String] = []
  ) async throws -> Outcome {
    let (before, after) = try await arena.send(datagrams, to: port)
    return refusals(datagrams.count, before, after, for: reasons)
  }

  /// The same from the counts before and after.
  static func refusals(
    _ tried: Int,
    _ before: Metrics,
    _ after: Metrics,
    for reasons: [String] = []
  ) -> Outcome {
    let family = "pharos_ingest_datagrams_refused_total"
    let (first, last) = (before.values(family, by: "reason"), after.values(family, by: "reason"))
    var counts = last.map { (reason: $0.key, count: Int($0.value - (first[$0.key] ?? 0))) }.filter {
      $0.count > 0
    }
    counts.sort { ($0.count, $1.reason) > ($1.count, $0.reason) }
    let fitting = counts.filter { reasons.isEmpty || reasons.contains($0.reason) }
    let dropped = Int(
      after.sum("pharos_ingest_kernel_drops_total") - before.sum("pharos_ingest_kernel_drops_total")
    )
    var note = counts.map { "\($0.reason) \($0.count)" }.joined(separator: ", ")
    if dropped > 0 { note += ", dropped by the kernel \(dropped)" }
    return Outcome(tried: tried, held: min(tried, fitting.reduce(dropped) { $0 + $1.count }), note: note)
  }
}
