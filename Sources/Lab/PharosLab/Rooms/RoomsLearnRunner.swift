import PharosDocuments
import PharosModel
import PharosRooms
import PharosSite
package import PharosTerminal

/// `pharos rooms learn`: learns the fingerprints of zones from stays whose zones are known.
package struct RoomsLearnRunner: Sendable {
  /// The form of the result.
  package enum Format: String, CaseIterable, Sendable {
    /// The site file with the fingerprints in its zones.
    case site
    /// The zones that were learned, as `POST /v1/zones` takes them.
    case zones
  }

  /// The options of `pharos rooms learn`.
  package struct Options: Sendable {
    /// The captures, parts of one in the order given.
    package var captures: [String]
    /// The site file.
    package var site: String
    /// The file of stays.
    package var stays: String
    /// The file to write; `-` is standard output.
    package var output = "-"
    /// The form of the result.
    package var format = Format.site

    /// Makes options with the defaults of the command for all else.
    package init(captures: [String], site: String, stays: String) {
      (self.captures, self.site, self.stays) = (captures, site, stays)
    }
  }

  private let options: Options

  /// Makes a runner.
  package init(_ options: Options) { self.options = options }

  /// Learns, and writes the result.
  ///
  /// A zone without a stay keeps the fingerprint that the site file has.
  ///
  /// - Returns: 0; 1 if a file cannot be read or written, or no stay was heard; 78 if the site file is wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let known = try LabelledStays(path: options.stays).known(
        to: SiteLoader.load(options.site, console: console).site
      )
      // Paths stay as they are written, since the result is to stand in the place of the file.
      var configuration = try SiteFile.parse(
        bytes: try WholeFile.read(options.site, limit: SiteFile.largest),
        path: options.site,
        files: SiteLoader.files(beside: options.site)
      )
      for zone in known.missing.sorted() {
        console.say("\(options.stays): zone \"\(zone)\" is not in \(options.site).")
      }
      let site = configuration.site
      let (pass, hasFailed) = try RoomsPass.over(
        options.captures,
        site: site,
        stays: known.stays,
        console: console
      )
      let fingerprints = pass.learner.fingerprints
      guard !fingerprints.isEmpty else {
        throw CommandFailure("nothing was learned: no beacon was heard in any of its stays.")
      }
      for index in site.zones.indices {
        guard let fingerprint = fingerprints[site.zones[index].identifier] else { continue }
        configuration.site.zones[index].fingerprint = fingerprint.rounded
      }
      try write(configuration, fingerprints, on: console)
      for zone in site.zones {
        let looks = fingerprints[zone.identifier].map { Wording.decimal($0.looks, places: 1) } ?? "no"
        console.say("\(zone.identifier): \(looks) independent looks.")
      }
      return hasFailed ? .failure : .success
    }
  }

  private func write(
    _ configuration: SiteConfiguration,
    _ fingerprints: [String: ZoneFingerprint],
    on console: Console
  ) throws {
    let text: String
    switch options.format {
    case .site: text = try SiteFile.text(of: configuration)
    case .zones:
      let learned = configuration.site.zones.filter { fingerprints[$0.identifier] != nil }
      text =
        JSONText.object { json in json.objects("zones", learned) { ZoneDocument.write($1, to: &$0) } } + "\n"
    }
    if options.output == "-" {
      try console.output.write(Array(text.utf8))
      try console.output.flush()
    } else {
      try FileOutput.write(text.utf8, to: options.output)
    }
  }
}

extension ZoneFingerprint {
  /// The fingerprint with as many decimals as a person reads: hundredths of a decibel, thousandths of a share.
  fileprivate var rounded: ZoneFingerprint {
    func rounded(_ number: Double, _ parts: Double) -> Double { (number * parts).rounded() / parts }
    var short = self
    short.looks = rounded(looks, 100)
    for index in levels.indices {
      short.levels[index].mean = rounded(levels[index].mean, 100)
      short.levels[index].deviation = rounded(levels[index].deviation, 100)
      short.levels[index].heard = rounded(levels[index].heard, 1_000)
    }
    return short
  }
}
