import ArgumentParser
import PharosTerminal
import PharosTools
import PharosWays

/// `pharos way`.
struct WayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "way",
    abstract: "Print directions from a venue's bundle, without server and network.",
    discussion: """
      pharos way --bundle museum.mbtiles --at 52.52001,13.40512,0 --heading 90 --to "Café"
          the way from a position, and the direction in which it starts for a person who faces east.
      """
  )

  @Option(help: ArgumentHelp("The bundle that `pharos venue bundle` wrote.", valueName: "file"))
  var bundle: String

  @Option(
    help: ArgumentHelp(
      "The position: latitude and longitude in degrees, and the level.",
      valueName: "lat,lon,level"
    ),
    transform: position
  )
  var at: Waypoint

  @Option(
    help: ArgumentHelp(
      "The direction that the subject faces, in degrees clockwise from north.",
      valueName: "degrees"
    )
  )
  var heading: Double?

  @Option(help: ArgumentHelp("The id or the name of a place or an entrance.", valueName: "place"))
  var to: String

  @Option(help: ArgumentHelp("The language of the directions: en, de or fr.", valueName: "language"))
  var language = RouteLanguage.english

  @Flag(help: "Avoid steps, and places that a wheelchair cannot use.")
  var accessible = false

  func validate() throws {
    if let heading, !(-360...360).contains(heading) {
      throw ValidationError("--heading \(heading) is no direction; expected degrees from 0 to 360")
    }
  }

  func run() throws {
    try WayRunner(
      bundle: bundle,
      at: at,
      heading: heading,
      to: to,
      language: language,
      isAccessible: accessible
    ).run(on: .standard()).leave()
  }

  private static func position(_ text: String) throws -> Waypoint {
    guard let position = Waypoint(position: text) else {
      throw ValidationError(
        "it is no position; expected latitude, longitude and level, such as 52.52001,13.40512,0"
      )
    }
    return position
  }
}
