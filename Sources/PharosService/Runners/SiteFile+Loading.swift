public import PharosSite

extension SiteFile {
  /// Reads a site file from the disk, or gives the defaults where no file is named.
  ///
  /// Warnings are said on the console. Paths in it, which count from its own folder, are paths of this process then.
  ///
  /// - Throws: ``CommandFailure`` with exit status 78 and every mistake.
  public static func load(
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
