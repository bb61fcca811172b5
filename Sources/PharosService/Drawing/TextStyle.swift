/// How text in a picture looks, and how much room it takes.
package struct TextStyle: Hashable, Sendable {
  /// Which part of the text lies at its point.
  package enum Anchor: String, Hashable, Sendable {
    /// Its beginning.
    case start
    /// Its middle.
    case middle
    /// Its end.
    case end
  }

  /// The fonts, the first that a reader has: narrow enough everywhere for ``width(of:)`` to hold.
  package static let family = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"

  /// The height of the font.
  package var size: Double
  /// Its colour.
  package var color: String
  /// Whether it is bold.
  package var isBold: Bool
  /// Which part lies at the point.
  package var anchor: Anchor

  /// Makes a style.
  package init(
    _ size: Double = 12,
    color: String = Palette.ink,
    isBold: Bool = false,
    anchor: Anchor = .start
  ) {
    self.size = size
    self.color = color
    self.isBold = isBold
    self.anchor = anchor
  }

  /// How wide a line of text may be at most, whichever of the fonts draws it.
  ///
  /// A picture cannot ask the font that will draw it. The widths are those of DejaVu Sans, the widest of the family,
  /// by classes of characters.
  ///
  /// - Units: shares of the font's size for each character.
  package func width(of text: String) -> Double {
    let widths = text.unicodeScalars.reduce(0) { $0 + TextStyle.width(of: $1) }
    return widths * size * (isBold ? 1.1 : 1)
  }

  private static func width(of scalar: Unicode.Scalar) -> Double {
    switch scalar {
    case "i", "j", "l", "I", ".", ",", ":", ";", "'", "|", "!", " ", "·", "f", "t", "(", ")", "/", "-": 0.4
    case "m", "w", "M", "W", "%", "@", "…", "—", "−", "±", "≥", "→": 0.95
    case "A"..."Z": 0.72
    case "\u{2E80}"...: 1.1
    default: 0.64
    }
  }

  /// The text, or its beginning and an ellipsis where it is wider than `width`.
  package func fitted(_ text: String, to width: Double) -> String {
    guard self.width(of: text) > width else { return text }
    var kept = Substring(text)
    while !kept.isEmpty, self.width(of: kept + "…") > width { kept.removeLast() }
    return kept + "…"
  }
}
