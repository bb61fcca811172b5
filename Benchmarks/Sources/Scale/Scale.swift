import ArgumentParser
import Foundation
import Traffic

/// `scale`: what the engine costs as a site grows.
@main
struct Scale: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scale",
    abstract: "Measures the engine from a thousand to a million tracks, beside a naive reference.",
    discussion: """
      CPU time of the thread for each advert beside that of a yardstick, resident bytes for each track, allocations \
      for each advert, and what a change of twenty regions costs. 100 applications with 20 regions each; one advert in ten is lost. Each size \
      runs in a process of its own.
      """
  )

  @Flag(help: "Fewer rounds and no million: a smoke test of half a minute.")
  var quick = false

  @Flag(help: "Leave the naive reference out.")
  var withoutNaive = false

  @Option(help: ArgumentHelp("Only this size.", valueName: "OBSERVERSxBEACONS"))
  var size: String?

  @Option(help: ArgumentHelp("Adverts in a datagram.", valueName: "N"))
  var advertsPerDatagram: Int?

  @Flag(help: "One application in ten asks for ranging as well.")
  var ranging = false

  @Flag(help: "Beacons are heard in an order that no prefetcher guesses.")
  var shuffled = false

  @Flag(help: "Each advert is reported three times, once a channel.")
  var joins = false

  @Flag(help: "Count instructions with valgrind and compare them with the baseline.")
  var instructions = false

  @Flag(help: "Keep the counted instructions as the baseline.")
  var writeBaseline = false

  @Flag(help: .hidden)
  var counted = false

  @Option(help: ArgumentHelp("Write the rows as JSON.", valueName: "FILE"))
  var json: String?

  func validate() throws {
    if writeBaseline, !instructions {
      throw ValidationError("--write-baseline keeps counted instructions. Add --instructions.")
    }
    if let size, Shape(size) == nil {
      throw ValidationError("--size \(size): expected two numbers as in 1000x100.")
    }
    if let advertsPerDatagram, !(1...64).contains(advertsPerDatagram) {
      throw ValidationError("--adverts-per-datagram \(advertsPerDatagram): expected 1 to 64.")
    }
  }

  func run() throws {
    guard !instructions else {
      return try InstructionCount(shape: size.flatMap { Shape($0) } ?? InstructionCount.usual)
        .compare(writingBaseline: writeBaseline)
    }
    var report = ScaleReport()
    print(ScaleReport.heading)
    for shape in shapes {
      // What an earlier size left in the allocator would be missing from the next one's memory.
      let row = size == nil ? try measureApart(shape) : measure(shape)
      report.add(row)
      print(ScaleReport.line(row))
    }
    if let json { try report.json().write(to: URL(fileURLWithPath: json)) }
  }

  private var shapes: [Shape] {
    var shapes = size.flatMap { Shape($0) }.map { [$0] } ?? Shape.usual
    if quick, size == nil { shapes.removeAll { $0.tracks > 100_000 } }
    if ranging, size == nil { shapes.removeAll(where: \.hasRanging) }
    for place in shapes.indices {
      if ranging { shapes[place].hasRanging = true }
      if shuffled { shapes[place].isShuffled = true }
      if joins { shapes[place].hasJoins = true }
      if let advertsPerDatagram { shapes[place].advertsPerDatagram = advertsPerDatagram }
    }
    return shapes
  }

  private func measure(_ shape: Shape) -> ScaleRow {
    let adverts = quick ? 400_000 : 4_000_000
    // Every 128 samples a track is looked at: beacons that begin in turn make that happen evenly.
    let spread = quick ? 10 : 128
    let plan = Measurement.Plan(
      warmUp: quick ? 20 : shape.tracks > 100_000 ? spread + 80 : spread + 160,
      spread: spread,
      rounds: counted ? 1 : 5,
      secondsPerRound: max(4, min(adverts / 5 / shape.tracks, 400)),
      withNaive: !withoutNaive,
      isCounted: counted
    )
    var measurement = Measurement(shape, plan)
    return measurement.run()
  }

  /// Measures one size in a process of its own.
  private func measureApart(_ shape: Shape) throws -> ScaleRow {
    let file = FileManager.default.temporaryDirectory.appending(path: "scale-\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments =
      shape.options + ["--json", file.path] + (quick ? ["--quick"] : [])
      + (withoutNaive ? ["--without-naive"] : [])
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw ScaleFailure(shape: shape.size, status: process.terminationStatus)
    }
    let rows = try JSONDecoder().decode(ScaleReport.self, from: Data(contentsOf: file)).rows
    guard let row = rows.first else { throw ScaleFailure(shape: shape.size, status: 0) }
    return row
  }
}

/// A size that could not be measured.
struct ScaleFailure: Error, CustomStringConvertible {
  /// Which.
  var shape: String
  /// What its process ended with.
  var status: Int32

  var description: String {
    """
    Size \(shape) was not measured: its process ended with \(status) and no row. Run `scale --size \(shape)` to see \
    why; a million tracks want a gigabyte of memory.
    """
  }
}
