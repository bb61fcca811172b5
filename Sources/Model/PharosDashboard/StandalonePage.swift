extension Dashboard {
  /// Makes one file of a page of the dashboard: its styles and scripts stand in it, and the data that its script reads from
  /// the element `data`.
  ///
  /// The scripts stand in one module, each after those that it imports, so that no two may declare the same name.
  ///
  /// - Parameters:
  ///   - name: the name of the page among the assets.
  ///   - data: JSON text.
  /// - Returns: the page, which refers to no other file.
  package static func standalone(_ name: String, data: String) -> String {
    let page = lines(of: "/assets/\(name)").map { line in
      if let style = reference(in: line, after: #"<link rel="stylesheet" href=""#) {
        return "<style>\n\(lines(of: style).joined(separator: "\n"))</style>"
      }
      guard let script = reference(in: line, after: #"<script type="module" src=""#) else { return line }
      var seen: Set<String> = []
      return """
        <script type="application/json" id="data">\(withoutTags(data))</script>
        <script type="module">
        \(module(script, &seen).joined(separator: "\n"))</script>
        """
    }
    return page.joined(separator: "\n")
  }

  /// The lines of a script behind those of all that it imports.
  private static func module(_ path: String, _ seen: inout Set<String>) -> [String] {
    guard seen.insert(path).inserted else { return [] }
    var before: [String] = []
    var own: [String] = []
    for line in lines(of: path) {
      if line.hasPrefix("import "), let name = reference(in: line, after: #" from "./"#) {
        before += module("/assets/\(name)", &seen)
      } else {
        own.append(line.hasPrefix("export ") ? String(line.dropFirst("export ".count)) : line)
      }
    }
    return before + own
  }

  /// The text between a mark and the next quotation mark; nil without the mark.
  private static func reference(in line: String, after mark: String) -> String? {
    line.firstRange(of: mark).map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
  }

  private static func lines(of path: String) -> [String] {
    let text = String(decoding: asset(path)?.bytes ?? [], as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// JSON text in which no string can end the element that it stands in: signs are replaced by scalar, as browsers read.
  private static func withoutTags(_ json: String) -> String {
    let bytes = json.utf8.flatMap { $0 == UInt8(ascii: "<") ? Array(#"\u003c"#.utf8) : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
