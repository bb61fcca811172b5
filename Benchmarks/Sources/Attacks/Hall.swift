import CZlib
import Foundation

/// A venue whose documents are small and whose answers are large: many places of one name, and plans of many pixels.
enum Hall {
  /// The number of floors.
  static let floors = 6
  /// The number of places that have the same name.
  static let alike = 32
  /// The width and the height of each plan in pixels: 100 MB once it is unpacked.
  static let pixels = 5_000

  /// Writes the folder of the venue.
  static func write(to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let places = (0..<alike).map { number in
      "{ id: p\(number), name: Same, category: foodservice, at: [\(2 + number % 8 * 6), \(3 + number / 8 * 9)] }"
    }
    let levels = (0..<floors).map { level in
      """
            - level: \(level)
              name: Floor \(level)
              map: [{ file: ground.geojson, as: walkable }]
              plan:
                image: plan.png
                anchors:
                  - { pixel: [0, 0], latitude: 52.5206, longitude: 13.405 }
                  - { pixel: [\(pixels), \(pixels)], latitude: 52.52, longitude: 13.406 }
      """
    }
    let text = """
      id: hall
      name: The hall
      origin: { latitude: 52.52, longitude: 13.405 }
      buildings:
        - id: main
          floors:
      \(levels.joined(separator: "\n"))
              places: [\(places.joined(separator: ", "))]
      """
    let corners = "[13.405,52.52],[13.405884,52.52],[13.405884,52.52036],[13.405,52.52036],[13.405,52.52]"
    let ground =
      #"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"hall"},"geometry":"#
      + #"{"type":"Polygon","coordinates":[[\#(corners)]]}}]}"#
    try Data(text.utf8).write(to: folder.appending(path: "venue.yaml"))
    try Data(ground.utf8).write(to: folder.appending(path: "ground.geojson"))
    try Data(plan(side: pixels)).write(to: folder.appending(path: "plan.png"))
  }

  /// A capture of zeros, packed with gzip: 200 KB that unpack to 200 MB.
  static func bomb(in folder: URL) throws -> [UInt8] {
    let file = folder.appending(path: "bomb.gz")
    guard let packed = gzopen(file.path, "wb9") else { throw CocoaError(.fileWriteUnknown) }
    let head: [UInt8] = [
      0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0,
    ]
    gzwrite(packed, head, UInt32(head.count))
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    for _ in 0..<200 { gzwrite(packed, zeros, UInt32(zeros.count)) }
    gzclose(packed)
    return try Array(Data(contentsOf: file))
  }

  /// A white square as PNG.
  private static func plan(side: Int) -> [UInt8] {
    func big(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - $0 * 8)) } }
    func chunk(_ kind: String, _ data: [UInt8]) -> [UInt8] {
      let body = Array(kind.utf8) + data
      return big(data.count) + body + big(Int(crc32(0, body, UInt32(body.count))))
    }
    let row = [0] + [UInt8](repeating: 0xFF, count: side)
    let rows = Array(repeatElement(row, count: side).joined())
    var packed = [UInt8](repeating: 0, count: Int(compressBound(UInt(rows.count))))
    var count = UInt(packed.count)
    compress(&packed, &count, rows, UInt(rows.count))
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + chunk("IHDR", big(side) + big(side) + [8, 0, 0, 0, 0])
      + chunk("IDAT", Array(packed.prefix(Int(count)))) + chunk("IEND", [])
  }
}
