/// The explanation of one decision.
package struct Telling: Hashable {
  /// Why it was made, sentence by sentence.
  var why: [String]
  /// What other rules would have said of the same adverts.
  var compared: [String] = []

  init(_ why: [String], compared: [String] = []) {
    self.why = why
    self.compared = compared
  }

  /// The same with nothing to hold a number and its unit together.
  var plain: Telling {
    Telling(why.map(Telling.plain), compared: compared.map(Telling.plain))
  }

  /// A text with plain spaces instead of those at which no line may break.
  package static func plain(_ text: String) -> String { text.replacing("\u{A0}", with: " ") }
}
