#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What may be written to an output beside plain text.
package struct TerminalStyle: Equatable, Sendable {
  /// Whether people look at it as it is written: only then are lines redrawn.
  package let isTerminal: Bool
  /// Whether colours may be used.
  package let usesColor: Bool
  /// How many columns there are, at least 40.
  package let width: Int

  /// A pipe, a file, or a test: no colour, no redrawing, 80 columns.
  package static let plain = TerminalStyle(isTerminal: false, usesColor: false, width: 80)

  /// Makes a style.
  package init(isTerminal: Bool, usesColor: Bool, width: Int) {
    self.isTerminal = isTerminal
    self.usesColor = usesColor
    self.width = max(40, width)
  }

  /// Finds out about a descriptor; the `NO_COLOR` convention and `TERM=dumb` are honoured.
  package init(descriptor: Int32) {
    let isTerminal = isatty(descriptor) == 1
    let isDumb = TerminalStyle.environment("TERM") == "dumb"
    let refusesColor = TerminalStyle.environment("NO_COLOR").map { !$0.isEmpty } ?? false
    var size = winsize()
    let hasSize = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    self.init(
      isTerminal: isTerminal && !isDumb,
      usesColor: isTerminal && !isDumb && !refusesColor,
      width: hasSize ? Int(size.ws_col) : 80
    )
  }

  /// The colours that tables use.
  package enum Color: Int, Sendable {
    /// Something is gone or wrong.
    case red = 31
    /// Something is here or well.
    case green = 32
    /// Something deserves a look.
    case yellow = 33
    /// Something stands back.
    case gray = 90
  }

  /// The text in a colour, or as it is where colours may not be used.
  package func paint(_ text: String, _ color: Color) -> String {
    usesColor ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  private static func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}
