import ArgumentParser
import Foundation
import ServedProcess

/// `attacks`: every attack on a running server, and whether its users noticed.
@main
struct Attacks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attacks",
    abstract:
      "Attacks a `pharos serve` in every way, and prints attack × tried × refused × service unharmed.",
    discussion: """
      A well-behaved gateway, a client of its events and a client of the pages go on meanwhile. What was \
      refused is what the server itself has counted, by reason. The service is unharmed if nine in ten of the gateway's \
      enters have arrived, and where it is asked 95 in 100 within 50 ms more than without, every page came within its time, the \
      process lives, and its memory is within --memory. Ends with 1 unless every row is at 100 % and unharmed, and every limit that was reached stands in the log once.
      """
  )

  /// The share of enters that has to arrive: the rest allows for those that are under way when the attack ends.
  private static let arriving = 0.9
  /// How much later than without an attack 95 in 100 enters may come.
  ///
  /// - Units: ms.
  private static let maximumDelay = 50.0

  @Option(help: ArgumentHelp("The `pharos` to attack.", valueName: "FILE"))
  var pharos = ".build/release/pharos"

  @Flag(help: "Each for a moment: the whole in some two minutes.")
  var quick = false

  @Option(help: ArgumentHelp("Only attacks whose names hold this.", valueName: "TEXT"))
  var only: String?

  @Flag(help: "Leave out what needs keys, and use no key.")
  var withoutKeys = false

  @Option(help: ArgumentHelp("How much memory the server may take, in MB.", valueName: "MB"))
  var memory = 768

  @Option(help: ArgumentHelp("Write the rows as JSON.", valueName: "FILE"))
  var json: String?

  @Option(help: ArgumentHelp("Keep the server's log.", valueName: "FILE"))
  var log: String?

  func run() async throws {
    Machine.raiseDescriptorLimit()
    let arena = try Arena(pharos: URL(fileURLWithPath: pharos), isQuick: quick, isSigned: !withoutKeys)
    let bystanders = Bystanders(
      gateway: arena.gateway,
      udp: arena.signed,
      http: arena.http,
      token: arena.token,
      group: arena.group
    )
    let users = Task { await bystanders.run() }
    // Until each of their beacons has been there once.
    try await Task.sleep(for: .seconds(6))
    let calm = bystanders.soFar.latency95(since: Bystanders.Service())
    say("enter latency p95 without an attack: \(Int(calm)) ms")
    var table = AttackTable()
    say(AttackTable.head)
    for attack in Attack.all where isWanted(attack) {
      let row = try await perform(attack, on: arena, before: bystanders, calmLatency: calm)
      table.add(row)
      say(AttackTable.text(row))
      guard arena.server.isRunning else { break }
    }
    users.cancel()
    let log = arena.server.log
    try await arena.end()
    if let file = self.log { try Data(log.utf8).write(to: URL(fileURLWithPath: file)) }
    table.namedLimits = Attacks.namedLimits(in: log)
    let named = table.namedLimits.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)×" }
    say("limits that the log names: \(named.isEmpty ? "none" : named.joined(separator: ", "))")
    if let json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try encoder.encode(table).write(to: URL(fileURLWithPath: json))
    }
    guard table.isMet else { throw ExitCode.failure }
  }

  private func isWanted(_ attack: Attack) -> Bool {
    guard !(withoutKeys && attack.needsKeys) else { return false }
    return only.map { attack.name.contains($0) } ?? true
  }

  private func perform(
    _ attack: Attack,
    on arena: Arena,
    before users: Bystanders,
    calmLatency: Double
  ) async throws -> AttackTable.Row {
    let start = Date()
    var before = users.soFar
    let outcome = try await attack.perform(arena)
    if attack.endsServer {
      try await Task.sleep(for: .seconds(2))
      before = users.soFar
    }
    // Long enough for the users to have noticed something, even where the attack takes no time.
    let rest = (quick ? 2.0 : 4.0) + (attack.endsServer ? 3 : start.timeIntervalSinceNow)
    if rest > 0 { try await Task.sleep(for: .seconds(rest)) }
    let after = users.soFar
    let due = after.due - before.due
    let arrived = after.arrived - before.arrived
    let asked = after.asked - before.asked
    let answered = after.answered - before.answered
    let use = ProcessUse(of: arena.server.processID)
    let megabytes = (use?.resident ?? 0) / 1_000_000
    let latency = after.latency95(since: before)
    let isPrompt = !attack.keepsLatency || latency <= calmLatency + Attacks.maximumDelay
    let isUnharmed =
      isPrompt && arena.server.isRunning && Double(arrived) >= Double(due) * Attacks.arriving && due > 0
      && asked > 0
      && answered == asked && megabytes <= memory
    return AttackTable.Row(
      attack: attack.name,
      wanted: attack.wanted,
      tried: outcome.tried,
      held: outcome.held,
      note: outcome.note,
      isUnharmed: isUnharmed,
      service: "\(arrived) of \(due) enters, p95 \(Int(latency)) ms, \(answered) of \(asked) pages",
      residentMegabytes: megabytes,
      seconds: Int(-start.timeIntervalSinceNow)
    )
  }

  /// The limits that a log names, and how often each.
  private static func namedLimits(in log: String) -> [String: Int] {
    var named: [String: Int] = [:]
    for line in log.split(separator: "\n") where line.contains("limit") && line.contains("was reached") {
      guard let found = line.firstMatch(of: /limit["=:\s]+([a-z_]+)/) else { continue }
      named[String(found.1), default: 0] += 1
    }
    return named
  }

  /// A row is seen as soon as it is there, wherever the output goes.
  private func say(_ line: String) {
    try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
  }
}
