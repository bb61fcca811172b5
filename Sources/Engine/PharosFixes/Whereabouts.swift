import DequeModule
package import PharosDocuments

extension FieldCoder {
  /// Codes a queue as a list.
  mutating func code<Element: FieldCodable>(deque: inout Deque<Element>) throws(Failure) {
    var list = Array(deque)
    try code(&list)
    if Self.isReader { deque = Deque(list) }
  }

  /// Codes a vector as its three parts.
  mutating func code(vector: inout SIMD3<Float>) throws(Failure) {
    try code(&vector.x)
    try code(&vector.y)
    try code(&vector.z)
  }

  /// Codes a value that may be missing and is coded by its parts.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - fresh: the value into which parts are read.
  ///   - body: codes the parts.
  /// - Throws: the error of a reader.
  package mutating func code<Value>(
    optional value: inout Value?,
    _ fresh: @autoclosure () -> Value,
    _ body: (inout Value, inout Self) throws(Failure) -> Void
  ) throws(Failure) {
    guard try field(value != nil) else { return value = nil }
    var parts = value ?? fresh()
    try body(&parts, &self)
    value = parts
  }
}
