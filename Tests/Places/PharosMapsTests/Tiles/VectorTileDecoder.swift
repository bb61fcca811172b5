import PharosSpace

/// A small reader of vector tiles, which checks what the specification demands.
struct VectorTileDecoder {
  struct Feature {
    let kind: UInt64
    let properties: [String: String]
    /// The parts of a line, the rings of a polygon, or the points.
    let parts: [[(x: Int, y: Int)]]
  }

  struct Failure: Error {
    let message: String
    init(_ message: String) { self.message = message }
  }

  let layers: [String: [Feature]]

  init(_ bytes: [UInt8]) throws {
    var layers: [String: [Feature]] = [:]
    for field in try Self.fields(bytes[...]) {
      guard field.number == 3 else { throw Failure("field \(field.number) in a tile") }
      let (name, features) = try Self.layer(field.content)
      guard layers.updateValue(features, forKey: name) == nil else { throw Failure("layer \(name) twice") }
    }
    self.layers = layers
  }

  /// A field of a message: its number, or its content.
  struct Field {
    let number: UInt64
    let value: UInt64
    let content: ArraySlice<UInt8>
  }

  private static func varint(_ bytes: inout ArraySlice<UInt8>) throws -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while let byte = bytes.popFirst() {
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw Failure("a number is cut short")
  }

  static func fields(_ bytes: ArraySlice<UInt8>) throws -> [Field] {
    var (rest, fields): (ArraySlice<UInt8>, [Field]) = (bytes, [])
    while !rest.isEmpty {
      let tag = try varint(&rest)
      switch tag & 7 {
      case 0: fields.append(Field(number: tag >> 3, value: try varint(&rest), content: []))
      case 1:
        let bits = rest.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        fields.append(Field(number: tag >> 3, value: bits, content: []))
      case 2:
        let length = Int(try varint(&rest))
        guard length <= rest.count else { throw Failure("a field is cut short") }
        fields.append(Field(number: tag >> 3, value: 0, content: rest.prefix(length)))
        rest = rest.dropFirst(length)
      default: throw Failure("wire type \(tag & 7)")
      }
    }
    return fields
  }

  private static func layer(_ bytes: ArraySlice<UInt8>) throws -> (String, [Feature]) {
    let fields = try fields(bytes)
    func texts(_ number: UInt64) -> [String] {
      fields.filter { $0.number == number }.map { String(decoding: $0.content, as: UTF8.self) }
    }
    guard fields.first(where: { $0.number == 15 })?.value == 2 else { throw Failure("not version 2") }
    guard fields.first(where: { $0.number == 5 })?.value == 4096 else { throw Failure("another extent") }
    let (names, keys) = (texts(1), texts(3))
    let values = try fields.filter { $0.number == 4 }.map { field in
      let value = try Self.fields(field.content)[0]
      switch value.number {
      case 1: return String(decoding: value.content, as: UTF8.self)
      case 3: return "\(Double(bitPattern: value.value))"
      default: return value.value == 1 ? "true" : "false"
      }
    }
    guard names.count == 1 else { throw Failure("a layer has one name") }
    let features = try fields.filter { $0.number == 2 }.map { try feature($0.content, keys, values) }
    guard !features.isEmpty else { throw Failure("a layer without features") }
    return (names[0], features)
  }

  private static func feature(
    _ bytes: ArraySlice<UInt8>,
    _ keys: [String],
    _ values: [String]
  ) throws -> Feature {
    let fields = try fields(bytes)
    func numbers(_ number: UInt64) throws -> [UInt64] {
      var (rest, found): (ArraySlice<UInt8>, [UInt64]) = (
        fields.first { $0.number == number }?.content ?? [], []
      )
      while !rest.isEmpty { found.append(try varint(&rest)) }
      return found
    }
    let tags = try numbers(2)
    var properties: [String: String] = [:]
    for index in stride(from: 0, to: tags.count, by: 2) {
      properties[keys[Int(tags[index])]] = values[Int(tags[index + 1])]
    }
    let kind = fields.first { $0.number == 3 }?.value ?? 0
    return Feature(kind: kind, properties: properties, parts: try parts(try numbers(4), kind: kind))
  }

  private static func parts(_ integers: [UInt64], kind: UInt64) throws -> [[(x: Int, y: Int)]] {
    var parts: [[(x: Int, y: Int)]] = []
    var (x, y, index, isClosed) = (0, 0, 0, true)
    while index < integers.count {
      let (command, count) = (integers[index] & 7, Int(integers[index] >> 3))
      index += 1
      if command == 7 {
        guard kind == 3, count == 1, parts.last?.count ?? 0 >= 3 else {
          throw Failure("a ring of too few corners")
        }
        isClosed = true
        continue
      }
      guard command == 1 || command == 2 else { throw Failure("command \(command)") }
      for _ in 0..<count {
        let steps = integers[index..<index + 2].map { Int($0 >> 1) ^ -Int($0 & 1) }
        if command == 2, steps[0] == 0, steps[1] == 0 { throw Failure("a line of no length") }
        (x, y) = (x + steps[0], y + steps[1])
        index += 2
        if command == 1 {
          guard kind != 3 || isClosed else { throw Failure("an open ring") }
          isClosed = kind != 3
          parts.append([])
        }
        parts[parts.count - 1].append((x, y))
      }
    }
    guard isClosed else { throw Failure("an open ring") }
    return parts
  }
}
