import Testing

/// The sizes of functions and initialisers: what is above a limit may get less and must not get more.
///
/// The count reads the layout that the formatter enforces: a parameter list stands on one line, or has a line for each
/// parameter; a body ends at the first closing brace that is indented as its declaration.
@Suite("Sizes of functions")
struct FunctionTests {
  /// The maximum number of lines of a function, from its declaration to its closing brace.
  static let maximumLines = 60
  /// The maximum number of parameters of a function.
  static let maximumParameters = 6
  /// The numbers above the limits; what shrinks is lowered here with the change.
  static let known = (long: 10, wide: 15, wideInitialisers: 45)

  private struct Function {
    var name: String
    var lines: Int
    var parameters: Int
    var isInitialiser: Bool
  }

  @Test("functions above a limit become fewer, and no function outgrows the largest")
  func sizes() throws {
    let functions = try HouseTests.swiftFiles(in: "Sources").flatMap { Self.functions(in: $0.text, $0.path) }
    #expect(functions.count > 5_000)
    let long = functions.filter { $0.lines > Self.maximumLines }
    let wide = functions.filter { $0.parameters > Self.maximumParameters && !$0.isInitialiser }
    let initialisers = functions.filter { $0.parameters > Self.maximumParameters && $0.isInitialiser }
    #expect(long.count <= Self.known.long, "\(long.map(\.name))")
    #expect(wide.count <= Self.known.wide, "\(wide.map(\.name))")
    #expect(initialisers.count <= Self.known.wideInitialisers, "\(initialisers.map(\.name))")
    print(
      """
      functions: \(long.count) over \(Self.maximumLines) lines, \(wide.count) with over \(Self.maximumParameters) \
      parameters, and \(initialisers.count) initialisers
      """
    )
  }

  @Test("lines and parameters are counted in each layout")
  func small() {
    let text = """
      protocol P {
        func none()
        func two(a: (Int, Int), b: [Int: Int])
      }
      struct S {
        init(a: Int) { self.a = a }
        func long(
          a: (Int) -> Int = { $0 },
          b: Int
        ) -> Int {
          if a(b) > 0 {
            b
          }
          return b
        }
        func generic<T>(_ t: T) -> [T]
        where T: P
        {
          [t]
        }
      }
      """
    let functions = Self.functions(in: text, "S.swift")
    #expect(functions.map(\.lines) == [1, 1, 1, 9, 5])
    #expect(functions.map(\.parameters) == [0, 2, 1, 2, 1])
    #expect(functions.map(\.isInitialiser) == [false, false, true, false, false])
  }

  private static func functions(in text: String, _ path: String) -> [Function] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let declaration = #/^( *)(?:@\w+ |[a-z]+(?:\([a-z]+\))? )*(?:func [^ (]+|init[?!]?)(?:<.*>)?\(/#
    return lines.indices.compactMap { start in
      guard let match = try? declaration.prefixMatch(in: lines[start]) else { return nil }
      let indent = String(match.1)
      var parameters = Self.parameters(lines[start][match.range.upperBound...])
      var end = start
      if parameters == nil {
        end = lines[start...].firstIndex { $0.hasPrefix("\(indent))") } ?? start
        parameters = lines[start..<end].count { $0.hasPrefix("\(indent)  ") && !$0.hasPrefix("\(indent)   ") }
      }
      while end + 1 < lines.count, !lines[end].hasSuffix("{"),
        lines[end + 1].hasPrefix("\(indent)where ")
          || lines[end + 1] == "\(indent){" || lines[end + 1].hasPrefix("\(indent)  ->")
      { end += 1 }
      if lines[end].hasSuffix("{") { end = lines[end...].firstIndex { $0 == "\(indent)}" } ?? end }
      return Function(
        name: "\(path):\(start + 1)",
        lines: end - start + 1,
        parameters: parameters ?? 0,
        isInitialiser: match.0.contains("init") && !match.0.contains("func ")
      )
    }
  }

  /// The number of parameters in a list that ends on its line; nil where it goes on.
  private static func parameters(_ list: Substring) -> Int? {
    var (depth, commas, isEmpty) = (1, 0, true)
    for character in String(list).replacing("->", with: "") {
      switch character {
      case "(", "[", "<", "{": depth += 1
      case ")", "]", ">", "}": depth -= 1
      case "," where depth == 1: commas += 1
      default: break
      }
      if depth == 0 { return isEmpty ? 0 : commas + 1 }
      isEmpty = false
    }
    return nil
  }
}
