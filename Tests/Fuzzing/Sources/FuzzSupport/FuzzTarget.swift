/// One decoder under fuzz: what it is fed with at first, and what must hold whatever it is fed with.
package protocol FuzzTarget: AnyObject, SendableMetatype {
  /// The name on the command line and of the folder with its regressions.
  static var name: String { get }
  /// The longest input that is tried.
  ///
  /// - Units: bytes.
  static var maximumLength: Int { get }
  /// Pieces of which valid inputs are made and which chance does not find: magic numbers, keys, keywords.
  static var words: [[UInt8]] { get }

  /// Valid inputs to start from, made for every run by the project's own encoders.
  static func seeds() throws -> [[UInt8]]

  /// Makes the target, once for a run.
  init()

  /// Decodes an input and checks what must hold; a rule that does not hold ends the process.
  func run(_ input: RawSpan)
}

extension FuzzTarget {
  /// None: chance finds what it needs.
  package static var words: [[UInt8]] { [] }
}

/// Ends the process if a rule does not hold, saying which: for libFuzzer that is a find like any crash.
@inline(__always)
package func demand(_ holds: Bool, _ rule: @autoclosure () -> String) {
  if !holds { broken(rule()) }
}

@inline(never)
private func broken(_ rule: String) -> Never { fatalError("rule broken: \(rule)") }

extension RawSpan {
  /// The bytes as an array, for decoders that take one.
  package var array: [UInt8] { withUnsafeBytes { Array($0) } }

  /// One byte.
  package subscript(_ offset: Int) -> UInt8 { unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
