import ArgumentParser
import Foundation
import PharosJournal
import PharosModel

/// `history-store`: how large the summaries of many subjects become, and how long it takes to store a minute.
@main
struct HistoryStore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history-store",
    abstract: "Stores the summaries of a simulated site, minute by minute, up to now.",
    discussion: """
      Every third subject is a tag that is located; the others are in zones only. A tag stays in a zone for some minutes, \
      two observers hear it alternately, and its RSSI varies. 50 observers, 40 zones and 20 regions. Afterwards, \
      `pharos serve --data FOLDER` answers from the folder.
      """
  )

  @Argument(help: ArgumentHelp("The data folder.", valueName: "FOLDER"))
  var folder: String

  @Option(help: ArgumentHelp("How many subjects.", valueName: "N"))
  var subjects = 1_000

  @Option(help: ArgumentHelp("How many days.", valueName: "N"))
  var days = 30

  func run() throws {
    let journal = try Journal.open(.folder(folder), stream: "default")
    defer { journal.leave() }
    let now = Int64(Date().timeIntervalSince1970) / 60
    var random = SystemRandomNumberGenerator()
    var maximum = Duration.zero
    let clock = ContinuousClock()
    let start = clock.now
    for minute in (now - Int64(days) * 1_440)..<now {
      let sample = HistoryStore.sample(minute, subjects: subjects, &random)
      let elapsed = try clock.measure { try journal.record(sample) }
      maximum = max(maximum, elapsed)
    }
    let (minutes, total) = (days * 1_440, start.duration(to: clock.now))
    let bytes =
      try FileManager.default.attributesOfItem(atPath: folder + "/journal.sqlite")[.size] as? Int ?? 0
    print(
      """
      \(subjects) subjects, \(days) days: \(bytes / 1_000_000) MB, \(bytes / subjects / days) bytes a subject and day
      a minute: \(total / minutes), the longest \(maximum)
      """
    )
  }

  private static func sample(
    _ minute: Int64,
    subjects: Int,
    _ random: inout some RandomNumberGenerator
  ) -> HistorySample {
    var sample = HistorySample(minute: HistoryMinute(minute))
    for index in 0..<subjects {
      let zone = (Int(minute) / 17 + index) % 40
      let subject = SubjectID.beacon(.proximity(UUID128(high: 1, low: 2), major: 1, minor: UInt16(index)))
      let observer = ObserverID.eui48(0xAC23_3FA0_0000 + UInt64(zone + Int.random(in: 0...1, using: &random)))
      sample.subjects[subject] = SubjectMinute(
        zone: "zone \(zone)",
        state: .inside,
        nearest: .observer(observer),
        rssi: Int.random(in: -90...(-50), using: &random),
        position: index % 3 > 0
          ? nil
          : SubjectMinute.Position(
            venue: "mall",
            building: "main",
            level: zone / 20,
            latitude: 52.52 + Double.random(in: 0...0.001, using: &random),
            longitude: 13.4 + Double.random(in: 0...0.001, using: &random),
            accuracy: Double.random(in: 1...6, using: &random)
          )
      )
    }
    for index in 0..<50 as Range<UInt64> {
      sample.observers[.eui48(0xAC23_3FA0_0000 + index)] = ObserverMinute(
        adverts: .random(in: 100...9_000, using: &random),
        isUp: true
      )
    }
    for index in 0..<60 {
      let place: HistoryPlace =
        index < 40
        ? .zone("zone \(index)") : HistoryPlace(application: "mall", identifier: "region \(index)")
      sample.places[place] = PlaceMinute(inside: .random(in: 0...50, using: &random), unmonitored: 0)
    }
    return sample
  }
}
