import ArgumentParser
import PharosFaults

/// Plays seeds of the simulation of faults, and says what was found.
@main
struct FaultsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "faults",
    abstract: "Plays the whole system on virtual time while everything around it goes wrong, seed by seed."
  )

  @Option(help: "How many seeds to play.")
  var seeds = 1_000

  @Option(help: "The first seed.")
  var from: UInt64 = 0

  @Option(
    help: "A commit's hash: its first 12 digits make the first seed, so that each commit plays new ones."
  )
  var commit: String?

  @Option(help: "Plays this seed alone.")
  var seed: UInt64?

  @Flag(help: "Prints a line for each thing that happens; with --seed.")
  var trace = false

  @Option(
    help:
      "Puts a bug in: \(Plant.allCases.map(\.rawValue).joined(separator: ", ")). Stops at the first seed that finds it."
  )
  var plant: String?

  @Option(name: .customLong("with"), help: "A kind of fault to inject in each seed; may be given again.")
  var more: [String] = []

  @Option(
    help:
      "The generation of the generator of plans, 1 to 4: seeds that once failed are played with their own."
  )
  var generation = PlanGeneration.fourth.rawValue

  @Option(help: "How many seeds are played at a time; by default as many as there are cores.")
  var threads: Int?

  mutating func validate() throws {
    if let plant, Plant(rawValue: plant) == nil {
      throw ValidationError("there is no bug \"\(plant)\" to put in; see --help")
    }
    for kind in more where FaultKind(rawValue: kind) == nil {
      throw ValidationError("there is no fault \"\(kind)\"; the table that ends a run names all")
    }
    if let commit, UInt64(commit.prefix(12), radix: 16) == nil {
      throw ValidationError("\"\(commit)\" is no commit's hash")
    }
    guard PlanGeneration(rawValue: generation) != nil else {
      throw ValidationError("--generation is from 1 to \(PlanGeneration.allCases.count)")
    }
    guard (1...100_000_000).contains(seeds) else { throw ValidationError("--seeds is from 1 to 100000000") }
  }

  func run() throws {
    let plant = plant.flatMap(Plant.init(rawValue:))
    if let seed { return try play(seed, plant) }
    let first = commit.flatMap { UInt64($0.prefix(12), radix: 16) } ?? from
    let count = UInt64(seeds)
    var swarm = FaultSwarm(
      seeds: first..<first + count,
      plant: plant,
      threads: threads,
      stopsAtFirst: plant != nil
    )
    swarm.more = Set(more.compactMap(FaultKind.init(rawValue:)))
    swarm.generation = PlanGeneration(rawValue: generation) ?? .fourth
    let summary = swarm.run { summary in
      guard summary.seeds.isMultiple(of: 1_000) else { return }
      print("\(summary.seeds) of \(count) seeds, \(summary.failures.count) with violations")
    }
    for line in FaultReport.lines(summary, first: first, plant: plant) { print(line) }
    let isFound = !summary.failures.isEmpty
    if isFound != (plant != nil) { throw ExitCode.failure }
  }

  private func play(_ seed: UInt64, _ plant: Plant?) throws {
    var swarm = FaultSwarm(seeds: seed..<seed + 1, plant: plant, threads: 1)
    swarm.more = Set(more.compactMap(FaultKind.init(rawValue:)))
    swarm.generation = PlanGeneration(rawValue: generation) ?? .fourth
    let summary = trace ? swarm.trace(seed) { print($0) } : swarm.run()
    for line in FaultReport.lines(summary, first: seed, plant: plant) { print(line) }
    if !summary.failures.isEmpty { throw ExitCode.failure }
  }
}
