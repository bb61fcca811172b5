import PharosConsoleSupport
import PharosFixes
import PharosLab
import PharosModel
import PharosSite
import PharosTerminal
import PharosTestSupport

/// The house of the fixtures with its radio map, learned once for all tests.
final class SurveyedHouse: Sendable {
  /// What init and learn said.
  let said: String
  /// The venue made ready for locating.
  let ground: LocatableVenue
  /// Where it lies.
  let venue: String
  private let folder: TemporaryFolder

  /// How long a fix waits in these tests.
  static let lag = TimeSpan.seconds(1)
  /// The site of a server that locates four times a second.
  static let site = Site(positioning: PositioningSettings(interval: .milliseconds(250), lag: lag))

  static let shared = Result { try SurveyedHouse() }

  private init() throws {
    folder = try TemporaryFolder()
    venue = folder.path("venue")
    try SurveyFixtures.writeFloors(in: folder)
    for seed in 0..<4 {
      // The outer way and the inner one, each walked both ways.
      let outer = [(3.0, 4.0), (33, 4), (33, 9), (5, 9), (3, 4)]
      let inner = [(5.0, 6.5), (36, 6.5), (36, 2), (8, 2), (5, 6.5)]
      let way = seed < 2 ? outer : inner
      let text = SurveyFixtures.walk(
        seed: UInt64(seed),
        corners: (seed.isMultiple(of: 2) ? way : way.reversed()).map { (x: $0.0, y: $0.1) }
      )
      try SurveyFixtures.write(text.utf8, to: "survey/house/F1/walk-\(seed).txt", in: folder)
    }
    try SurveyFixtures.write(
      SurveyFixtures.walk(seed: 9, floor: "F7").utf8,
      to: "survey/house/F7/lost.txt",
      in: folder
    )
    let kept = KeptConsole()
    let made = SurveyInitRunner(floors: folder.path("floors"), output: venue).run(on: kept.console)
    let learned = SurveyLearnRunner(traces: [folder.path("survey")], venue: venue).run(on: kept.console)
    said = kept.output.text + kept.errors.text
    guard made == .success, learned == .success else { throw CommandFailure(said) }
    ground = try VenueContents.read(venue, console: kept.console).ground
  }

  /// The page of what was covered.
  func coverage() throws -> PageData { try PageData(try folder.bytes("venue/coverage.html")) }

  /// The fixes of a trace.
  func located(_ text: some Sequence<UInt8>, thinning: TraceThinning = TraceThinning()) throws -> LocatedTrace
  {
    let folder = try TemporaryFolder()
    try SurveyFixtures.write(text, to: "walk.txt", in: folder)
    let locator = TraceLocator(ground: ground, site: Self.site, thinning: thinning)
    return try locator.locate(TraceFile(path: folder.path("walk.txt")))
  }
}
