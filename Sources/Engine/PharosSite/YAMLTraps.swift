import PharosDocuments
import Yams

/// Looks through the lines of a YAML text for what reads otherwise than it looks: a `#` that begins a comment amid a name,
/// curly quotes, spaces that are none, and dashes for hyphens.
struct YAMLTraps {
  /// What was found, in the order of the lines.
  private(set) var problems: [DocumentProblem] = []

  /// Looks through a text.
  init(_ text: String) {
    var block: Int?
    // The number of brackets and braces that are open at the start of a line.
    var depth = 0
    for (number, line) in DocumentNode.lines(of: text).enumerated() {
      let characters = Array(line)
      let indentation = characters.prefix { $0 == " " }.count
      if let outer = block, indentation > outer || characters.count == indentation { continue }
      if indentation == 0, ["<<<<<<<", "=======", ">>>>>>>"].contains(where: line.hasPrefix) {
        add(
          number + 1,
          "the mark of a merge conflict",
          expected: "one of the two versions, without the lines of <, = and >",
          severity: .mistake
        )
        continue
      }
      let parts = Parts(characters)
      let last = parts.code.last { $0 != " " && !$0.isNumber && $0 != "-" && $0 != "+" }
      block = (last == "|" || last == ">") && parts.code.contains(":") ? indentation : nil
      let change = parts.depthChange
      look(at: parts, line: number + 1, isInFlow: depth + change > 0)
      lookForQuotes(parts, number + 1)
      lookBehindBrackets(parts, number + 1, depth: depth)
      depth = max(0, depth + change)
    }
  }

  /// A line without its comment, and the comment.
  private struct Parts {
    /// The characters before the comment.
    var code: [Character] = []
    /// Indicates for each of them whether it stands between quotes, the quotes included.
    var isQuoted: [Bool] = []
    /// The comment from its `#` on; empty if there is none.
    var comment: [Character] = []

    init(_ line: [Character]) {
      var quote: Character?
      for (index, character) in line.enumerated() {
        let isStart = index == 0 || line[index - 1].isWhitespace || "[{,:".contains(line[index - 1])
        if quote == nil, character == "#", index == 0 || line[index - 1] == " " || line[index - 1] == "\t" {
          comment = Array(line[index...])
          return
        }
        let wasQuoted = quote != nil
        if let open = quote {
          if character == open, open == "'" || index == 0 || line[index - 1] != "\\" { quote = nil }
        } else if (character == "\"" || character == "'") && isStart {
          quote = character
        }
        code.append(character)
        isQuoted.append(wasQuoted || quote != nil)
      }
    }

    /// The number of brackets and braces that are opened and not closed; negative if more are closed.
    var depthChange: Int {
      code.indices.reduce(0) { depth, index in
        guard !isQuoted[index] else { return depth }
        return depth + ("{[".contains(code[index]) ? 1 : "}]".contains(code[index]) ? -1 : 0)
      }
    }

    /// Indicates whether the first bracket or brace opens a value, rather than being a part of a text.
    var startsFlow: Bool {
      let brackets = code.indices.filter { !isQuoted[$0] && "{[".contains(code[$0]) }
      guard let first = brackets.first else { return false }
      let before = String(code[..<first]).trimmingSpaces
      return before.isEmpty || before.hasSuffix(":") || before.hasSuffix("-")
    }

    /// The start of the last value: behind the last colon, comma, bracket or hyphen that parts values.
    var startOfValue: Int {
      var start = 0
      for index in code.indices where !isQuoted[index] {
        let isBeforeSpace = index + 1 == code.count || code[index + 1] == " "
        switch code[index] {
        case ":", ",": if isBeforeSpace { start = index + 1 }
        case "{", "[": start = index + 1
        case "-":
          if isBeforeSpace, code[..<index].allSatisfy({ $0 == " " || $0 == "-" }) { start = index + 1 }
        default: break
        }
      }
      return start
    }
  }

  private mutating func look(at parts: Parts, line: Int, isInFlow: Bool) {
    lookForComment(parts, line, isInFlow: isInFlow)
    let code = parts.code
    for index in code.indices {
      let isFirst = code[..<index].allSatisfy { $0 == " " }
      let before = index > 0 ? code[index - 1] : " "
      // Whether a value may begin here: behind nothing but spaces, or behind what parts values.
      let previous = code[..<index].last { $0 != " " }
      let isStart =
        isFirst || previous.map { ":-,[{".contains($0) } == true && (before == " " || before == previous)
      let next: Character = index + 1 < code.count ? code[index + 1] : " "
      if YAMLTraps.isInvisible(code[index]) {
        add(
          line,
          "a character that looks like a space or like nothing (\(YAMLTraps.code(of: code[index]))) stands in column "
            + "\(index + 1)",
          expected: "a common space, or nothing, in its place"
        )
        return
      }
      guard !parts.isQuoted[index], isStart else { continue }
      if "\u{201C}\u{201D}\u{201E}\u{201F}\u{2018}\u{2019}\u{201A}".contains(code[index]) {
        let text = String(code[index...].drop { YAMLTraps.isCurly($0) }.prefix { !YAMLTraps.isCurly($0) })
        add(
          line,
          "curly quotes are a part of the text, and quote nothing",
          expected: "straight quotes: \(YAMLTraps.quoted(text))"
        )
        return
      }
      if isFirst, "\u{2013}\u{2014}\u{2022}\u{2212}".contains(code[index]), next == " " {
        add(line, "a list does not begin with \(code[index])", expected: "a hyphen: -")
        return
      }
      if "\u{2013}\u{2212}".contains(code[index]), next.isNumber {
        add(line, "\(code[index]) is no minus in YAML", expected: "a hyphen before the number: -\(next)")
        return
      }
    }
  }

  /// Looks for a quote that ends a text too early: `'Anna's desk'`, `"the "small" hall"`.
  private mutating func lookForQuotes(_ parts: Parts, _ line: Int) {
    let code = parts.code
    for index in code.indices.dropFirst().dropLast()
    where parts.isQuoted[index - 1] && parts.isQuoted[index] && !parts.isQuoted[index + 1] {
      let quote = code[index]
      guard code[index + 1].isLetter || code[index + 1].isNumber,
        let start = code[..<index].indices.last(where: { $0 == 0 || !parts.isQuoted[$0 - 1] }),
        let end = code.lastIndex(of: quote), end > index
      else { continue }
      add(
        line,
        "\(quote) ends the text before \"\(PlainText.cut(String(code[(index + 1)...]), to: 30))\"",
        expected: YAMLTraps.quoted(String(code[(start + 1)..<end]))
      )
      return
    }
  }

  /// Looks for what stands behind the bracket or brace that closes the last value of a line.
  private mutating func lookBehindBrackets(_ parts: Parts, _ line: Int, depth: Int) {
    var depth = depth
    for index in parts.code.indices where !parts.isQuoted[index] {
      let character = parts.code[index]
      if "{[".contains(character) { depth += 1 }
      guard "}]".contains(character) else { continue }
      depth -= 1
      let rest = String(parts.code[(index + 1)...]).trimmingSpaces
      guard depth == 0, let first = rest.first, first != ":" else { continue }
      // A brace amid a text closes nothing.
      guard parts.startsFlow else { continue }
      add(
        line,
        "\"\(PlainText.cut(rest, to: 30))\" stands behind the closing \(character)",
        expected: "nothing behind \(character), or a comment behind \" #\""
      )
      return
    }
  }

  /// Looks for a comment that begins amid a text, `name: Room #2`, or hides what stands behind it: `{ silence: 30s #half }`.
  private mutating func lookForComment(_ parts: Parts, _ line: Int, isInFlow: Bool) {
    let code = parts.code
    guard let mark = parts.comment.dropFirst().first, code.contains(where: { $0 != " " }) else { return }
    let start = parts.startOfValue
    let value = String(code[start...]).trimmingSpaces
    let comment = String(parts.comment.prefix { !isInFlow || !",}]".contains($0) }).trimmingSpaces
    let isMarkSpaced = mark.isWhitespace || mark == "#"
    // A brace that the comment hides is missed by the parser, and what stands between commas is lost without a message.
    let closed = parts.comment.reduce(0) { $0 + ("}]".contains($1) ? 1 : "{[".contains($1) ? -1 : 0) }
    let isHiding = isInFlow && (closed > 0 || !isMarkSpaced && parts.comment.contains(","))
    // `name: #2` has no value at all.
    let isEmpty = value.isEmpty && ["name:", "id:"].contains { String(code).trimmingSpaces.hasSuffix($0) }
    guard isEmpty || isText(value), !parts.isQuoted[start..<code.count].contains(true) else {
      guard isHiding else { return }
      let hidden = String(parts.comment.dropFirst(comment.count)).trimmingSpaces
      add(
        line,
        "# after a space begins a comment, so that \"\(PlainText.cut(hidden, to: 30))\" behind it is lost",
        expected: "the comment at the end of a line, behind all of its values and brackets"
      )
      return
    }
    let isNumber = comment.dropFirst().allSatisfy { $0 == " " || $0.isNumber }
    guard !isMarkSpaced || isNumber || isHiding else { return }
    let key = String(code[..<start]).split { " {[,".contains($0) }.last.map(String.init) ?? ""
    let text = (key.hasSuffix(":") ? "\(key) " : "") + YAMLTraps.quoted("\(value) \(comment)".trimmingSpaces)
    add(
      line,
      "# after a space begins a comment, so that the text ends before \"\(PlainText.cut(comment, to: 30))\"",
      expected: "\(text), or a space behind the # of a comment"
    )
  }

  /// Returns whether a plain value is a text rather than a number, a time or a flag, and ends before the comment.
  private func isText(_ value: String) -> Bool {
    guard let last = value.last, last.isLetter || last.isNumber, value.contains(where: \.isLetter),
      !value.contains("}"), !value.contains("]")
    else { return false }
    let node = DocumentNode(.plain(value), line: 1)
    guard node.flag == nil, !node.isNull else { return false }
    let unit = value.drop { "+-.".contains($0) || $0.isNumber }
    return unit.count == value.count || unit.contains { !$0.isLetter }
  }

  private mutating func add(
    _ line: Int,
    _ message: String,
    expected: String,
    severity: DocumentProblem.Severity = .warning
  ) {
    guard problems.count < YAMLTraps.maximumProblems else { return }
    problems.append(
      DocumentProblem(place: .line(line), severity: severity, message: message, expected: expected)
    )
  }

  /// The maximum number of traps that are named: a file with more was typed in the same way throughout.
  private static let maximumProblems = 20

  /// Makes the trap that a parser stumbled over at a line a mistake, which explains the parser's.
  ///
  /// - Returns: the trap; nil if there is none beside the line.
  mutating func explanation(at line: Int?) -> DocumentProblem? {
    let place = line.flatMap { line in problems.firstIndex { (($0.line ?? 0) - line).magnitude <= 1 } }
    guard let place else { return nil }
    problems[place].severity = .mistake
    return problems[place]
  }

  /// Returns a text in straight quotes.
  fileprivate static func quoted(_ text: String) -> String {
    "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  private static func isCurly(_ character: Character) -> Bool {
    "\u{201C}\u{201D}\u{201E}\u{201F}\u{2018}\u{2019}\u{201A}".contains(character)
  }

  private static func isInvisible(_ character: Character) -> Bool {
    guard let scalar = character.unicodeScalars.first, character.unicodeScalars.count == 1 else {
      return false
    }
    return switch scalar.value {
    case 0xA0, 0xAD, 0x1680, 0x2000...0x200B, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF: true
    default: false
    }
  }

  private static func code(of character: Character) -> String {
    let value = character.unicodeScalars.first?.value ?? 0
    return value == 0xA0 ? "U+00A0, a no-break space" : "U+\(Hex.text(UInt64(value), bytes: 2).uppercased())"
  }
}

extension DocumentNode {
  /// Returns the lines of a text.
  static func lines(of text: String) -> [Substring] {
    text.split(omittingEmptySubsequences: false) { $0.isNewline }
  }

  /// Converts an error of the YAML parser into a problem that says what to type.
  static func problem(of error: any Error, in text: String) -> DocumentProblem {
    let lines = lines(of: text)
    /// A line of the text, since the parser may stop behind the last one.
    func place(_ line: Int) -> Int {
      let last = (lines.lastIndex { $0.contains { !$0.isWhitespace } } ?? 0) + 1
      return min(max(1, line), last)
    }
    switch error {
    case YamlError.scanner(let context, let problem, let mark, _),
      YamlError.parser(let context, let problem, let mark, _),
      YamlError.composer(let context, let problem, let mark, _):
      if let line = lineIndentedWithTab(in: lines, at: mark.line) {
        return DocumentProblem(
          place: .line(line),
          message: "the line is indented with a tab",
          expected: "spaces, since YAML takes no tab there"
        )
      }
      // What is not closed is named where it begins: the parser stops at the end of the file, or somewhere before it.
      let isOpen = ["quoted scalar", "flow mapping", "flow sequence"].contains {
        context?.text.contains($0) == true
      }
      if !isOpen, let slip = slip(in: lines, at: mark.line) { return slip }
      let line = place(isOpen ? context?.mark.line ?? mark.line : mark.line)
      let situation = context.map { " \($0.text)" } ?? ""
      return DocumentProblem(
        place: .line(line),
        message: "not YAML\(situation): \(problem)",
        expected: advice(problem, situation, String(lines[line - 1]))
      )
    case YamlError.duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
      return DocumentProblem(
        place: .line(place(context.mark.line)),
        message: "the mapping that starts here has a key twice: \(names)",
        expected: "each key once"
      )
    case YamlError.reader(let problem, let offset, _, _):
      let line = offset.map { text.prefix($0).count { $0.isNewline } + 1 } ?? 1
      return DocumentProblem(
        place: .line(place(line)),
        message: "not YAML: \(problem)",
        expected: "no control characters; type the line again"
      )
    default:
      return DocumentProblem(
        place: .line(1),
        message: "not YAML: \(error)",
        expected: "keys and values of YAML"
      )
    }
  }

  /// Returns what is wrong with the line at which the parser stopped, or with the one before it: a colon without a space, or
  /// an indentation that is not that of the keys before it.
  private static func slip(in lines: [Substring], at number: Int) -> DocumentProblem? {
    let filled = lines.indices.filter { index in
      let first = lines[index].first { $0 != " " }
      return index < number && first != nil && first != "#"
    }
    for index in filled.suffix(2).reversed() {
      let entry = lines[index].drop { $0 == " " || $0 == "-" }
      if !entry.contains(": "), let typed = Spelling.separated(String(entry), among: nil) {
        return DocumentProblem(
          place: .line(index + 1),
          message:
            "not YAML: no space stands behind the colon of \"\(PlainText.cut(String(entry), to: 60))\"",
          expected: typed
        )
      }
    }
    guard filled.count > 1, let last = filled.last, last == number - 1 else { return nil }
    let (line, before) = (lines[last], lines[filled[filled.count - 2]])
    let column = line.prefix { $0 == " " }.count
    let wanted = before.prefix { $0 == " " || $0 == "-" }.count
    guard let key = key(of: line), line.dropFirst(column).first != "-", let other = self.key(of: before),
      column != wanted, !before.trimmingSpaces.hasSuffix(":")
    else { return nil }
    return DocumentProblem(
      place: .line(last + 1),
      message: "not YAML: \(key): is indented by \(column), and the key before it by \(wanted)",
      expected: "\(Wording.count(wanted, "space")) before \(key):, so that it stands below \(other): "
        + "the keys of one mapping one below the other"
    )
  }

  /// Returns the key with which a line begins.
  private static func key(of line: Substring) -> Substring? {
    let entry = line.drop { $0 == " " || $0 == "-" }
    let key = entry.prefix { $0.isLetter }
    return !key.isEmpty && entry.dropFirst(key.count).first == ":" ? key : nil
  }

  /// Returns the number of the line at which the parser stopped, or of the one before it, if it is indented with a tab.
  private static func lineIndentedWithTab(in lines: [Substring], at line: Int) -> Int? {
    [line, line - 1].first { number in
      guard lines.indices.contains(number - 1) else { return false }
      return lines[number - 1].prefix { $0 == " " || $0 == "\t" }.contains("\t")
    }
  }

  /// Returns what to type instead of a line that the parser refuses.
  private static func advice(_ problem: String, _ situation: String, _ line: String) -> String {
    if situation.contains("quoted scalar") {
      return "a closing quote in the line; \\\\ for a backslash between \" and \""
    }
    if situation.contains("flow mapping") {
      return "a comma between two entries and } at the end; quotes around a text with , : # { } [ or ]"
    }
    if situation.contains("flow sequence") {
      return "a comma between two elements and ] at the end; quotes around a text with , : # { } [ or ]"
    }
    // `key: value` on a line of its own is shown as it has to be typed.
    if let colon = line.firstRange(of: ": "), !line.contains("{"), !line.contains("[") {
      let key = line[..<colon.lowerBound].drop { $0 == " " }
      let value = String(line[colon.upperBound...]).trimmingSpaces
      let isPlain = value.first.map { !"\"'|>".contains($0) } ?? false
      let first = value.first ?? " "
      if isPlain, value.contains(": ") || value.hasSuffix(":") || "@`%*&!,?".contains(first) {
        return "quotes around the text: \(key): \(YAMLTraps.quoted(value))"
      }
      if isPlain || "|>".contains(first), problem.contains("comment or line break") {
        return "quotes around the text: \(key): \(YAMLTraps.quoted(value))"
      }
    }
    if problem.contains("undefined alias") { return "quotes around a text that begins with *" }
    if problem.contains("another document") { return "one document, with no --- behind its first line" }
    if problem.contains("<document start>") { return "no line that begins with %, or --- behind it" }
    if problem.contains("could not find expected ':'") { return "a colon and a space behind each key" }
    return
      "the keys of one mapping one below the other, \"- \" before each element of a list, and quotes around a text "
      + "that begins with @ ` % * & ! { [ | > or contains \": \" or \" #\""
  }
}
