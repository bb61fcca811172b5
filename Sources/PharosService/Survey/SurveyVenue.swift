import PharosPlaces
import PharosSite

/// A venue's folder as the survey commands read it: every mistake told at once, or the venue.
enum SurveyVenue {
  /// Reads a folder on the disk.
  ///
  /// - Throws: that it is wrong, its mistakes having been printed.
  static func read(_ folder: String, console: Console) throws(CommandFailure) -> Venue {
    do throws(VenueFolderError) {
      return try VenueFolder.read(folder, files: .disk(folder)).venue
    } catch {
      for problem in error.problems { console.say(problem.text(in: folder)) }
      let count = error.problems.count { $0.severity == .mistake }
      throw CommandFailure(
        "\(folder): \(Wording.count(count, "mistake")). `pharos survey init` writes a folder to start from.",
        status: .configuration
      )
    }
  }
}
