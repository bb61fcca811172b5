import CCairo
import PharosSpace

/// A reason why a map cannot be drawn, or a bundle cannot be read.
public struct MapFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason in words: what, where, and what was expected.
  public let description: String

  /// Makes a failure.
  init(_ description: String) { self.description = description }

  /// The failure of work that was ended before it was done.
  static let cancelled = MapFailure("the work was ended before it was done")
}

/// A colour.
struct Color {
  let red, green, blue, alpha: Double

  /// Makes a colour of its six hexadecimal digits.
  init(_ rgb: Int, alpha: Double = 1) {
    red = Double(rgb >> 16 & 0xFF) / 255
    green = Double(rgb >> 8 & 0xFF) / 255
    blue = Double(rgb & 0xFF) / 255
    self.alpha = alpha
  }
}

/// An image in memory, by cairo.
///
/// The one place where cairo's image surfaces are owned: they are drawn on by one `Canvas` and only read afterwards.
package final class Bitmap: @unchecked Sendable {
  fileprivate let surface: OpaquePointer
  /// The width in pixels.
  package let width: Int
  /// The height in pixels.
  package let height: Int

  /// The most pixels of an image: 400 MB in memory.
  static let maximumPixels = 100_000_000

  private init(owning surface: OpaquePointer) {
    self.surface = surface
    width = Int(cairo_image_surface_get_width(surface))
    height = Int(cairo_image_surface_get_height(surface))
  }

  deinit { cairo_surface_destroy(surface) }

  /// Makes a transparent image.
  convenience init(width: Int, height: Int) throws(MapFailure) {
    guard width > 0, height > 0, width <= 32_767, height <= 32_767, width * height <= Bitmap.maximumPixels,
      let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(width), Int32(height)),
      cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS
    else {
      throw MapFailure(
        "an image of \(width) × \(height) pixels is too large; up to 100 million pixels are drawn"
      )
    }
    self.init(owning: surface)
  }

  /// Reads a PNG.
  package convenience init(png bytes: [UInt8], name: String) throws(MapFailure) {
    var rest = bytes[...]
    let surface = withUnsafeMutablePointer(to: &rest) { rest in
      cairo_image_surface_create_from_png_stream(
        { rest, buffer, length in
          guard let rest = rest?.assumingMemoryBound(to: ArraySlice<UInt8>.self), let buffer,
            rest.pointee.count >= Int(length)
          else { return CAIRO_STATUS_READ_ERROR }
          for (offset, byte) in rest.pointee.prefix(Int(length)).enumerated() { buffer[offset] = byte }
          rest.pointee = rest.pointee.dropFirst(Int(length))
          return CAIRO_STATUS_SUCCESS
        },
        rest
      )
    }
    guard let surface, cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS else {
      cairo_surface_destroy(surface)
      throw MapFailure("\(name) cannot be read as a PNG: is the file whole?")
    }
    self.init(owning: surface)
    guard width * height <= Bitmap.maximumPixels else {
      throw MapFailure("\(name) has \(width) × \(height) pixels; up to 100 million are drawn")
    }
  }

  /// The image as PNG.
  func png() throws(MapFailure) -> [UInt8] {
    cairo_surface_flush(surface)
    guard let data = cairo_image_surface_get_data(surface) else {
      throw MapFailure("an image of \(width) × \(height) pixels has no memory")
    }
    let stride = Int(cairo_image_surface_get_stride(surface)) / 4
    let pixels = UnsafeRawPointer(data).assumingMemoryBound(to: UInt32.self)
    return try PNGEncoder.encode(pixels, width: width, stride: stride, height: height)
  }

  /// The image at half its size.
  func halved() throws(MapFailure) -> Bitmap {
    let half = try Bitmap(width: (width + 1) / 2, height: (height + 1) / 2)
    let canvas = Canvas(half)
    // The middle of each new pixel is the corner of four old ones, of which bilinear sampling takes the mean.
    canvas.paint(
      self,
      start: Point(x: 0, y: 0),
      right: Point(x: 0.5, y: 0),
      down: Point(x: 0, y: 0.5),
      alpha: 1
    )
    return half
  }

  /// The colour of a pixel as red, green, blue and alpha, premultiplied.
  package func pixel(x: Int, y: Int) -> (red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
    cairo_surface_flush(surface)
    guard let data = cairo_image_surface_get_data(surface) else { return (0, 0, 0, 0) }
    let place = y * Int(cairo_image_surface_get_stride(surface)) + 4 * x
    return (data[place + 2], data[place + 1], data[place], data[place + 3])
  }
}

/// A pen on an image; lengths are pixels, y downwards.
struct Canvas: ~Copyable {
  private let pen: OpaquePointer
  private let bitmap: Bitmap

  /// Takes an image to draw on.
  init(_ bitmap: Bitmap) {
    guard let pen = cairo_create(bitmap.surface) else {
      preconditionFailure("cairo_create returns a pen or a dead one")
    }
    self.pen = pen
    self.bitmap = bitmap
    let options = cairo_font_options_create()
    // Glyphs look alike wherever a tile's edge cuts them.
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY)
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE)
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF)
    cairo_set_font_options(pen, options)
    cairo_font_options_destroy(options)
    cairo_set_line_join(pen, CAIRO_LINE_JOIN_ROUND)
  }

  deinit { cairo_destroy(pen) }

  /// Makes the image transparent.
  func clear() {
    cairo_set_operator(pen, CAIRO_OPERATOR_CLEAR)
    cairo_paint(pen)
    cairo_set_operator(pen, CAIRO_OPERATOR_OVER)
  }

  /// Begins a path.
  func begin() { cairo_new_path(pen) }

  /// Adds a line to the path.
  func line(_ places: some Sequence<Point>, isClosed: Bool) {
    cairo_new_sub_path(pen)
    for place in places { cairo_line_to(pen, place.x, place.y) }
    if isClosed { cairo_close_path(pen) }
  }

  /// Adds a circle to the path.
  func circle(_ middle: Point, radius: Double) {
    cairo_new_sub_path(pen)
    cairo_arc(pen, middle.x, middle.y, radius, 0, 2 * .pi)
    cairo_close_path(pen)
  }

  /// Adds a square with round corners to the path.
  func box(_ middle: Point, reach: Double, corner: Double) {
    cairo_new_sub_path(pen)
    for (quarter, side) in [(1.0, -1.0), (1, 1), (-1, 1), (-1, -1)].enumerated() {
      let start = (Double(quarter) - 1) * .pi / 2
      cairo_arc(
        pen,
        middle.x + side.0 * (reach - corner),
        middle.y + side.1 * (reach - corner),
        corner,
        start,
        start + .pi / 2
      )
    }
    cairo_close_path(pen)
  }

  private func use(_ color: Color) {
    cairo_set_source_rgba(pen, color.red, color.green, color.blue, color.alpha)
  }

  /// Fills the path and keeps it.
  func fill(_ color: Color) {
    use(color)
    cairo_fill_preserve(pen)
  }

  /// Strokes the path and keeps it.
  func stroke(_ color: Color, width: Double) {
    use(color)
    cairo_set_line_width(pen, width)
    cairo_stroke_preserve(pen)
  }

  /// Paints an image so that its upper left corner lies at `start`, and a pixel leads as far as `right` and `down`.
  func paint(_ image: Bitmap, start: Point, right: Point, down: Point, alpha: Double) {
    let (width, height) = (Double(image.width), Double(image.height))
    cairo_save(pen)
    begin()
    let across = right * width
    let downwards = down * height
    line([start, start + across, start + across + downwards, start + downwards], isClosed: true)
    cairo_clip(pen)
    var matrix = cairo_matrix_t()
    cairo_matrix_init(&matrix, right.x, right.y, down.x, down.y, start.x, start.y)
    cairo_transform(pen, &matrix)
    cairo_set_source_surface(pen, image.surface, 0, 0)
    let source = cairo_get_source(pen)
    cairo_pattern_set_filter(source, CAIRO_FILTER_BILINEAR)
    cairo_pattern_set_extend(source, CAIRO_EXTEND_PAD)
    cairo_paint_with_alpha(pen, alpha)
    cairo_restore(pen)
  }

  /// Chooses a font: sans serif, of a size in pixels.
  func font(size: Double, isBold: Bool = false) {
    let weight = isBold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL
    cairo_select_font_face(pen, "sans-serif", CAIRO_FONT_SLANT_NORMAL, weight)
    cairo_set_font_size(pen, size)
  }

  /// Returns the width of a text in pixels.
  func width(of text: String) -> Double {
    var extents = cairo_text_extents_t()
    cairo_text_extents(pen, text, &extents)
    return extents.x_advance
  }

  /// A character of the font: its box around the place on the base line where it begins, and the way to the next one.
  struct Glyph {
    fileprivate let picture: cairo_glyph_t
    let left, top, width, height, advance: Double
  }

  /// Returns the glyph of a character; nil if the font has none.
  func glyph(of scalar: Unicode.Scalar) -> Glyph? {
    var found: UnsafeMutablePointer<cairo_glyph_t>?
    var count: Int32 = 0
    let font = cairo_get_scaled_font(pen)
    let text = String(scalar)
    let status = cairo_scaled_font_text_to_glyphs(font, 0, 0, text, -1, &found, &count, nil, nil, nil)
    defer { cairo_glyph_free(found) }
    // A font draws its glyph 0 for what it lacks.
    guard status == CAIRO_STATUS_SUCCESS, count == 1, var picture = found?.pointee, picture.index != 0 else {
      return nil
    }
    var box = cairo_text_extents_t()
    cairo_scaled_font_glyph_extents(font, &picture, 1, &box)
    return Glyph(
      picture: picture,
      left: box.x_bearing,
      top: box.y_bearing,
      width: box.width,
      height: box.height,
      advance: box.x_advance
    )
  }

  /// Draws a glyph of the font in black from a place on its base line.
  func draw(_ glyph: Glyph, at place: Point) {
    var picture = glyph.picture
    (picture.x, picture.y) = (place.x, place.y)
    begin()
    cairo_glyph_path(pen, &picture, 1)
    fill(Color(0))
    begin()
  }

  /// Writes a text from a place on its base line, with a halo that keeps it legible.
  func write(_ text: String, at place: Point, _ color: Color, halo: Color, width: Double) {
    begin()
    cairo_move_to(pen, place.x, place.y)
    cairo_text_path(pen, text)
    if width > 0 {
      // A halo is soft: coarse curves and plain joins take half the time and look the same.
      cairo_save(pen)
      cairo_set_tolerance(pen, 0.5)
      cairo_set_line_join(pen, CAIRO_LINE_JOIN_BEVEL)
      stroke(halo, width: width)
      cairo_restore(pen)
    }
    fill(color)
    begin()
  }
}
