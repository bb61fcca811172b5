import PharosReports

extension JSONValue {
  /// Reads the bytes of a body.
  ///
  /// - Throws: where it is no JSON, and why.
  package init(_ bytes: [UInt8]) throws(Problem) {
    do throws(JSONError) {
      try self.init(parsing: bytes)
    } catch {
      throw .notJSON("At byte \(error.offset): \(error.reason); expected \(error.expected).")
    }
  }
}
