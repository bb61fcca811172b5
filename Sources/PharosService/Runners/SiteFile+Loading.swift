package import PharosSite

extension SiteFile {
  /// Reads a site file from the disk, or returns the defaults if `path` is nil.
  ///
  /// Prints warnings on the console. Resolves relative paths in the file against the folder of the file.
  ///
  /// - Throws: ``CommandFailure`` with exit status 78 and every mistake.
  package static func load(
    _ path: String?,
    console: Console
  ) throws(CommandFailure) -> SiteConfiguration {
    guard let path else { return SiteConfiguration() }
    let bytes = try WholeFile.read(path, limit: largest)
    do throws(SiteFileError) {
      let configuration = try parse(bytes: bytes, path: path).resolved(against: path)
      for warning in configuration.warnings { console.say(warning.text(in: path)) }
      if let warning = KeyExposure.warning(path, configuration) { console.say(warning) }
      return configuration
    } catch {
      throw CommandFailure(error.description, status: .configuration)
    }
  }
}
