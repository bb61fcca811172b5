import Foundation

/// The figures for people and as JSON.
struct FixReport {
  let locator: FixMeasurement.Figures
  let pipeline: FixMeasurement.Figures

  /// What the table of targets is judged by.
  var figures: [String: Double] {
    [
      "updateNanoseconds": locator.nanosecondsAFix,
      "pipelineNanoseconds": pipeline.nanosecondsAFix,
      "subjectsACore": 1e9 / pipeline.nanosecondsAFix,
      "bytesASubject": Double(pipeline.bytes ?? 0) / Double(max(1, pipeline.subjects)),
    ]
  }

  var table: String {
    let lines = [
      String(format: "locator alone    %8.1f µs a fix", locator.nanosecondsAFix / 1e3),
      String(
        format: "whole pipeline   %8.1f µs a fix, %.0f subjects at 1 Hz a core",
        pipeline.nanosecondsAFix / 1e3,
        1e9 / pipeline.nanosecondsAFix
      ),
      String(format: "memory           %8.1f KiB a subject, all in", (figures["bytesASubject"] ?? 0) / 1_024),
      "\(pipeline.subjects) subjects, \(pipeline.fixes) fixes timed",
    ]
    return lines.joined(separator: "\n")
  }

  /// Checks that the timed work was the intended one: a fix a second of each subject.
  func check() throws {
    let seconds = FixMeasurement.seconds - FixMeasurement.warmUp
    for (name, figures) in [("locator", locator), ("pipeline", pipeline)] {
      let wanted = figures.subjects * seconds
      guard (wanted * 9 / 10...wanted * 11 / 10).contains(figures.fixes) else {
        throw FixFailure(part: name, fixes: figures.fixes, wanted: wanted)
      }
    }
  }

  /// The figures as JSON.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(["figures": figures])
  }
}

/// Fixes that did not come once a second: their time says nothing.
struct FixFailure: Error, CustomStringConvertible {
  /// Which part.
  var part: String
  /// How many came.
  var fixes: Int
  /// How many should have come.
  var wanted: Int

  var description: String {
    "\(part): \(fixes) fixes came where about \(wanted) are made in that time; what was timed is not what is asked for."
  }
}
