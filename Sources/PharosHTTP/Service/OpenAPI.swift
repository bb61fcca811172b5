import COpenAPI

/// The description of the interface: a JSON file that lives in the binary.
package enum OpenAPI {
  /// The bytes of `OpenAPI/openapi.json`, copied out of the binary once.
  package static let document: [UInt8] = {
    let file = copenapi_document()
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
  }()
}
