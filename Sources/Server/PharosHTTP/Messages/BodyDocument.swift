package import PharosDocuments
import PharosModel

/// The JSON object in the body of a request.
package enum BodyDocument {
  /// Reads a body that has to be one object; a member that is null is a mistake.
  ///
  /// - Parameters:
  ///   - body: the bytes.
  ///   - name: the name of the described thing in messages.
  ///   - known: the members that it may have.
  ///   - mayBeEmpty: true if an empty body is an empty object.
  ///   - read: makes a value of the members, or notes the reason why not.
  /// - Returns: the value.
  /// - Throws: all mistakes together.
  package static func read<Value>(
    _ body: [UInt8],
    name: String,
    known: [String],
    mayBeEmpty: Bool = false,
    _ read: (DocumentFields) -> Value?
  ) throws(DocumentError) -> Value {
    let json = mayBeEmpty && body.isEmpty ? Array("{}".utf8) : body
    return try DocumentNode.read(json, name: name, limit: .max) {
      DocumentFields($0, place: name, known: known, problems: $1).flatMap(read)
    }
  }
}
