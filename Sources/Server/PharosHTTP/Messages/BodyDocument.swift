package import PharosDocuments
import PharosModel

/// The JSON object in the body of a request.
package enum BodyDocument {
  /// Reads a body that has to be one object; a member that is null is one that is missing.
  ///
  /// - Parameters:
  ///   - body: the bytes.
  ///   - name: the name of the described thing in messages.
  ///   - known: the members that it may have.
  ///   - read: makes a value of the members, or notes the reason why not.
  /// - Returns: the value.
  /// - Throws: all mistakes together.
  package static func read<Value>(
    _ body: [UInt8],
    name: String,
    known: [String],
    _ read: (DocumentFields) -> Value?
  ) throws(DocumentError) -> Value {
    try DocumentNode.read(body, name: name, limit: .max) {
      DocumentFields($0, place: name, known: known, problems: $1).flatMap(read)
    }
  }
}

/// The members that only the answers about a thing have: where it comes from, what states it is in.
///
/// A document that GET answered may be sent back with PUT, changed or not, so PUT passes over them.
struct DescribedMembers {
  /// Their names.
  private let names: Set<String>
  /// The member of the answer that holds what was stated of the thing, if it stands in an object of its own.
  private let statement: String?

  /// Finds the members that GET answers and PUT does not take; an `id` stays, as it has to be that of the address.
  init(answered: Schema?, accepted: Schema, statement: String?) {
    names = (answered?.memberNames ?? []).subtracting(accepted.memberNames).subtracting(["id"])
    self.statement = statement
  }

  /// Returns a document without them; of an answer that holds what was stated in an object of its own, that object.
  ///
  /// Text that is no object is left as it is, for its reader to refuse.
  func removed(from json: [UInt8]) -> [UInt8] {
    guard !names.isEmpty, let tree = try? JSONReader.value(json.span.bytes, 0..<json.count),
      tree.root.kind == .object, let end = json.lastIndex(of: UInt8(ascii: "}"))
    else { return json }
    let keys = Array(tree.members(of: tree.root)).map(\.key)
    let parts = keys.indices.map { place in
      let start = keys[place].range.lowerBound - 1
      let next = place + 1 < keys.count ? keys[place + 1].range.lowerBound - 1 : end
      return (name: keys[place].string(json.span.bytes), text: DescribedMembers.trimmed(json[start..<next]))
    }
    guard parts.contains(where: { names.contains($0.name) }) else { return json }
    if let statement {
      guard let stated = parts.first(where: { $0.name == statement }) else { return Array("{}".utf8) }
      return Array(stated.text.drop { $0 != UInt8(ascii: "{") })
    }
    let kept = parts.filter { !names.contains($0.name) }.map(\.text)
    return Array("{".utf8) + Array(kept.joined(separator: CollectionOfOne(UInt8(ascii: ","))))
      + Array("}".utf8)
  }

  /// A member without what separates it from the next one.
  private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var text = text
    while let last = text.last, JSONReader.isSpace(last) || last == UInt8(ascii: ",") { text.removeLast() }
    return text
  }
}
