package import PharosReports
package import PharosCaptures

/// Why a capture or recording could not be read further; everything before was given.
package enum CaptureFeedError: Error, Equatable, Sendable {
  /// The file is damaged, cut off or no capture.
  case capture(CaptureError)
  /// An input of a recording is damaged: the block that ends at the offset.
  case recording(FieldError, offset: UInt64)

  /// Whether the file just ends too early, as one does that is still being written.
  package var isCut: Bool {
    guard case .capture(let error) = self, case .cut = error.problem else { return false }
    return true
  }
}

extension CaptureFeedError: CustomStringConvertible {
  /// What is wrong, where, and what to do.
  package var description: String {
    switch self {
    case .capture(let error): error.description
    case .recording(let error, let offset):
      "at byte \(offset): recorded input, \(error). The file is damaged, or another version wrote it: record again."
    }
  }
}
