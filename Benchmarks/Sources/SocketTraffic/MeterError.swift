/// Why a socket benchmark cannot go on, or why its figures mean nothing.
package struct MeterError: Error, CustomStringConvertible {
  /// What happened and what was expected.
  package let description: String

  /// Makes an error.
  package init(_ description: String) { self.description = description }

  /// Gives a result of a function of the C target, or throws the error number that it stands for.
  ///
  /// - Parameters:
  ///   - result: what the function returned; negative means an error.
  ///   - action: what was tried, as in "cannot open a socket".
  /// - Returns: the result.
  /// - Throws: the error number that it stands for, in words of what was tried.
  @discardableResult
  package static func check<Result: SignedInteger>(_ result: Result, _ action: String) throws -> Result {
    guard result < 0 else { return result }
    throw MeterError("cannot \(action): error \(-result) of the system")
  }
}
