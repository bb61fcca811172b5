import Foundation
import Testing

/// A JSON value as tests look into it.
struct JSON {
  /// The value as Foundation reads it.
  let value: Any?

  /// Reads some bytes.
  init(_ bytes: [UInt8]) throws {
    value = try JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])
  }

  /// Wraps a value.
  init(_ value: Any?) { self.value = value }

  /// A member of an object.
  subscript(_ name: String) -> JSON { JSON((value as? [String: Any])?[name]) }

  /// An element of an array.
  subscript(_ index: Int) -> JSON {
    let elements = elements
    return index < elements.count ? elements[index] : JSON(nil)
  }

  /// The elements of an array.
  var elements: [JSON] { (value as? [Any] ?? []).map { JSON($0) } }
  /// The members of an object.
  var members: [String: Any]? { value as? [String: Any] }
  /// A string, or nil.
  var string: String? { value as? String }
  /// A whole number, or nil.
  var integer: Int? { (value as? NSNumber).map(\.intValue) }
  /// A number, or nil.
  var number: Double? { (value as? NSNumber).map(\.doubleValue) }
  /// A truth value, or nil.
  var bool: Bool? { value as? Bool }
  /// Whether it is there and null.
  var isNull: Bool { value is NSNull }
}

extension WireAnswer {
  /// The body as JSON.
  var json: JSON { get throws { try JSON(body) } }
}
