/// The colours of every picture, by what they mean.
///
/// Eight hues that people with any kind of colour blindness tell apart, and that differ in lightness too, so that a black
/// and white print still reads: Pharos dark, peers' rules lighter, warnings hatched or outlined beside their colour.
///
/// - Source: M. Okabe and K. Ito, "Color Universal Design", 2008.
package enum Palette {
  /// The paper.
  package static let paper = "#ffffff"
  /// Text, and the lines that matter.
  package static let ink = "#1c1c1c"
  /// Text that stands back: axes, notes.
  package static let faint = "#5a5f66"
  /// Lines of the grid.
  package static let grid = "#dfe2e6"
  /// The frame of a panel, and its background.
  package static let frame = "#9aa0a6"
  /// Where nothing is: a bar outside.
  package static let outside = "#eceff1"
  /// Inside, as Pharos says.
  package static let inside = "#0072b2"
  /// Inside, as another rule says.
  package static let insideElsewhere = "#7fb4d3"
  /// The raw levels of adverts.
  package static let advert = "#7a7f87"
  /// The filtered level.
  package static let level = "#004c78"
  /// How sure the filtered level is.
  package static let uncertainty = "#56b4e9"
  /// An enter, and the level that it takes.
  package static let enter = "#00795a"
  /// An exit, and the level below which it comes.
  package static let exit = "#c44a00"
  /// The silence that is allowed before an exit.
  package static let allowance = "#f2a93b"
  /// An exit that was false: the beacon came back at once.
  package static let mistake = "#a3004c"
  /// Time in which an observer could not tell.
  package static let outage = "#b9a44c"
  /// Time in which a state is not known.
  package static let unknown = "#c9ccd1"

  /// Colours for kinds that have no meaning of their own, such as rules side by side, in this order.
  package static let series = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b"]
}
