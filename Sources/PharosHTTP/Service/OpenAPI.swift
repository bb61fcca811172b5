import COpenAPI

/// The description of the interface: a JSON file that lives in the binary.
enum OpenAPI {
  /// The bytes of `OpenAPI/openapi.json`, copied out of the binary once.
  static let document: [UInt8] = {
    let file = copenapi_document()
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
  }()
}
