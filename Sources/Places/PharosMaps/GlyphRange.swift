import PharosSpace

/// The glyphs of 256 characters as MapLibre draws names with them: signed distance fields of the font of map tiles.
///
/// Each glyph is drawn at 24 pixels. A byte of its picture is the distance from the outline, which clients enlarge, turn and
/// surround with a halo: 191 on the outline, more inside, less outside, 32 for each pixel.
///
/// - Source: "Glyphs", MapLibre Style Specification, version 8; glyphs.proto of node-fontnik 0.7; Felzenszwalb and Huttenlocher,
///   "Distance Transforms of Sampled Functions", Theory of Computing 8 (2012), 415–428.
package struct GlyphRange: Sendable {
  /// The number of characters of a range.
  package static let count: UInt32 = 256
  /// The size of the font in pixels, which clients expect.
  private static let size = 24.0
  /// The pixels around the box of a glyph, in which its distances fade.
  private static let border = 3
  /// The distance that the values from 0 to 255 span.
  ///
  /// - Units: pixels.
  private static let reach = 8.0
  /// The share of ``reach`` that lies inside of the outline.
  private static let inside = 0.25
  /// The height above the base line from which clients count downwards: that of the common fonts of maps at 24 pixels.
  private static let ascender = 26

  /// The encoded range; a character that the font does not have is left out.
  package let bytes: [UInt8]

  /// Draws the characters from `first` on.
  ///
  /// - Parameters:
  ///   - first: the first character, a multiple of ``count``.
  ///   - font: the name that the client gives the font; the server has one.
  /// - Throws: a `MapFailure` if there is no memory for a picture.
  package init(from first: UInt32, font: String) throws(MapFailure) {
    var stack = ProtobufWriter()
    stack.write(field: 1, Array(font.utf8))
    stack.write(field: 2, Array("\(first)-\(first + GlyphRange.count - 1)".utf8))
    let ruler = Canvas(try Bitmap(width: 1, height: 1))
    ruler.font(size: GlyphRange.size)
    for value in first..<first + GlyphRange.count {
      guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .control,
        let glyph = ruler.glyph(of: scalar)
      else { continue }
      stack.write(field: 3, try GlyphRange.encode(scalar, glyph))
    }
    var writer = ProtobufWriter()
    writer.write(field: 1, stack.bytes)
    bytes = writer.bytes
  }

  private static func encode(_ scalar: Unicode.Scalar, _ glyph: Canvas.Glyph) throws(MapFailure) -> [UInt8] {
    let (left, top) = (Int(glyph.left.rounded(.down)), Int(glyph.top.rounded(.down)))
    let width = Int((glyph.left + glyph.width).rounded(.up)) - left
    let height = Int((glyph.top + glyph.height).rounded(.up)) - top
    let isEmpty = glyph.width <= 0 || glyph.height <= 0
    var writer = ProtobufWriter()
    writer.write(field: 1, UInt64(scalar.value))
    if !isEmpty {
      let image = try Bitmap(width: width + 2 * border, height: height + 2 * border)
      let canvas = Canvas(image)
      canvas.font(size: size)
      canvas.draw(glyph, at: Point(x: Double(border - left), y: Double(border - top)))
      let coverage = (0..<image.height).flatMap { y in
        (0..<image.width).map { Double(image.pixel(x: $0, y: y).alpha) / 255 }
      }
      let distances = SignedDistances(of: coverage, width: image.width)
      writer.write(
        field: 2,
        distances.values.map { distance in
          UInt8(min(max((255 * (1 - distance / reach - inside)).rounded(), 0), 255))
        }
      )
    }
    writer.write(field: 3, UInt64(isEmpty ? 0 : width))
    writer.write(field: 4, UInt64(isEmpty ? 0 : height))
    writer.write(field: 5, zigzag: isEmpty ? 0 : left)
    writer.write(field: 6, zigzag: isEmpty ? 0 : -top - ascender)
    writer.write(field: 7, UInt64(max(glyph.advance.rounded(), 0)))
    return writer.bytes
  }
}

/// The distance of each pixel of a picture from the outline of what is drawn on it, negative inside.
package struct SignedDistances {
  /// The distances, row by row.
  ///
  /// - Units: pixels.
  package let values: [Double]

  /// The square of a distance that no picture has.
  private static let far = 1e20

  /// Measures a picture.
  ///
  /// A pixel that is covered in part is as far from the outline as its uncovered share says.
  ///
  /// - Parameters:
  ///   - coverage: the share of each pixel that is covered, row by row, 0 to 1.
  ///   - width: the pixels of a row.
  package init(of coverage: [Double], width: Int) {
    let outside = coverage.map {
      $0 >= 1 ? 0 : $0 <= 0 ? SignedDistances.far : max(0.5 - $0, 0) * max(0.5 - $0, 0)
    }
    let inside = coverage.map {
      $0 <= 0 ? 0 : $0 >= 1 ? SignedDistances.far : max($0 - 0.5, 0) * max($0 - 0.5, 0)
    }
    values = zip(
      SignedDistances.transform(outside, width: width),
      SignedDistances.transform(inside, width: width)
    ).map { $0.squareRoot() - $1.squareRoot() }
  }

  /// Returns the smallest sum of a value and the square of its distance, for each pixel: by columns, then by rows.
  private static func transform(_ grid: [Double], width: Int) -> [Double] {
    var grid = grid
    guard width > 0 else { return grid }
    let height = grid.count / width
    for x in 0..<width {
      let column = envelope((0..<height).map { grid[$0 * width + x] })
      for y in 0..<height { grid[y * width + x] = column[y] }
    }
    for y in 0..<height {
      grid.replaceSubrange(
        y * width..<(y + 1) * width,
        with: envelope(Array(grid[y * width..<(y + 1) * width]))
      )
    }
    return grid
  }

  /// Returns the lower envelope of the parabolas that stand on the values of a line.
  private static func envelope(_ line: [Double]) -> [Double] {
    // The parabolas of the envelope by their places, each with the place from which it is the lowest.
    var hull: [(place: Int, start: Double)] = []
    for place in line.indices {
      var start = -Double.infinity
      while let last = hull.last {
        let rise = line[place] - line[last.place] + Double(place * place - last.place * last.place)
        start = rise / Double(2 * (place - last.place))
        guard start <= last.start else { break }
        hull.removeLast()
        start = -.infinity
      }
      hull.append((place, start))
    }
    var result = line
    var current = 0
    for place in line.indices {
      while current + 1 < hull.count, hull[current + 1].start < Double(place) { current += 1 }
      let (lowest, _) = hull[current]
      result[place] = line[lowest] + Double((place - lowest) * (place - lowest))
    }
    return result
  }
}
