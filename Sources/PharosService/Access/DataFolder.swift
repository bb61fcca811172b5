import PharosJournal

/// The data folder of a server that does not run.
enum DataFolder {
  /// Opens the journal in a folder, whatever its stream is called.
  ///
  /// - Parameters:
  ///   - folder: the data folder, which is made if it is missing.
  ///   - stream: what a new journal's stream is called.
  /// - Returns: the journal.
  /// - Throws: ``CommandFailure``, for a server that runs with how to ask it instead.
  static func open(_ folder: String, stream: String) throws(CommandFailure) -> Journal {
    do throws(JournalError) {
      return try Journal.open(.folder(folder), stream: stream)
    } catch {
      // A folder that has a stream already keeps it: what is done here concerns no event.
      if case .otherStream(let found, _) = error.problem, found != stream {
        return try open(folder, stream: found)
      }
      if case .inUse = error.problem {
        throw CommandFailure(
          "a server uses \(folder) at present. Ask it over HTTP: give --url http://HOST:PORT instead of --data."
        )
      }
      throw CommandFailure("\(error)")
    }
  }
}
