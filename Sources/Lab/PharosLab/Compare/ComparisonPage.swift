import PharosDocuments
package import PharosModel
import PharosTerminal
import Synchronization

/// A comparison as one page of HTML that needs no other file: the sentences, the picture, the tables and the notes.
package enum ComparisonPage {
  /// Compares a capture that was sent to a server; every beacon in it is a region, except where it is a recording of a site
  /// with regions.
  ///
  /// - Parameters:
  ///   - path: the file that holds the capture.
  ///   - name: the name of the capture for people.
  ///   - timeout: the time-out of the rule in use.
  ///   - edited: an edited site to compare with the site of a recording; nil for none.
  ///   - check: a function that throws to end the comparison; it takes the number of unpacked bytes read so far.
  /// - Returns: the result in one to three sentences, and the page.
  /// - Throws: `CommandFailure` for a file that is no capture or holds no beacon, and what `check` throws.
  package static func make(
    path: String,
    name: String,
    timeout: TimeSpan,
    edited: Site? = nil,
    check: @escaping @Sendable (Int) throws -> Void = { _ in }
  ) throws -> (headline: String, page: String) {
    var options = CompareRunner.Options(captures: [path])
    options.timeout = timeout
    options.edited = edited
    options.check = check
    options.observer = ObserverID("gateway")
    let remarks = Remarks()
    let console = Console(output: remarks, errors: remarks)
    let report: ComparisonReport
    do {
      report = try CompareRunner(options).report(on: console).report
    } catch let failure as CommandFailure {
      throw CommandFailure(failure.message.replacing(path, with: name))
    }
    let damage = remarks.lines.map { $0.replacing(path, with: name) }
    guard report.survey.adverts > 0 else {
      throw CommandFailure(
        damage.isEmpty
          ? "\(name) holds no iBeacon, AltBeacon or Eddystone-UID advert." : damage.joined(separator: " ")
      )
    }
    return (report.headline, html(report, name: name, damage: damage))
  }

  /// Keeps what a reader of captures remarks: damage, and datagrams that did not decode.
  private final class Remarks: OutputSink {
    private let text = Mutex("")

    func write(_ bytes: [UInt8]) { text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
    func flush() {}

    var lines: [String] {
      var seen: Set<Substring> = []
      return text.withLock { text in
        text.split(separator: "\n").filter { !$0.isEmpty && seen.insert($0).inserted }.map(String.init)
      }
    }
  }

  private static func html(_ report: ComparisonReport, name: String, damage: [String]) -> String {
    let notes = (damage + report.notes).map { "<li>\(EscapedText.markup($0))</li>" }.joined()
    var page = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(EscapedText.markup(name)): presence rules compared</title>
      <style>\(style)</style>
      </head>
      <body>
      <main>
      <h1>\(EscapedText.markup(report.headline))</h1>
      <p class="soft">\(EscapedText.markup(name)): \(EscapedText.markup(report.basis)).</p>
      """
    if report.hasExits || report.isLongEnough {
      // Within a page a picture has no declaration of its own.
      let picture = ComparisonPicture(report).svg
      page += "<figure>\(picture.firstRange(of: "<svg").map { picture[$0.lowerBound...] } ?? "")</figure>"
      page += presence(report)
      if !report.rooms.isEmpty { page += rooms(report) }
    }
    if !notes.isEmpty { page += "<h2>Notes</h2><ul>\(notes)</ul>" }
    return page + """
      <p class="soft">Made by Pharos \(PharosVersion.text). The same on your own machine:
      <code>pharos compare \(EscapedText.markup(name)) --timeout \(EscapedText.markup(report.options.timeout.written))</code></p>
      </main>
      </body>
      </html>

      """
  }

  private static func presence(_ report: ComparisonReport) -> String {
    let rows = report.presence.enumerated().map { index, rule in
      row(
        ComparisonReport.cells(rule),
        mark: index == 0 ? "ours" : index == report.yourIndex ? "yours" : ""
      )
    }
    return table(
      "Enters and exits by each rule",
      ["Rule", "Enters", "Exits", "Back in 1 min", "Back in 10 min", "Delay, median", "Delay, 95 %"],
      rows
    ) + #"<p class="soft">Back: exits that the rule took back. Delay: from the last advert to the exit.</p>"#
  }

  private static func rooms(_ report: ComparisonReport) -> String {
    let rows = report.rooms.enumerated().map { index, rule in
      row([rule.name, "\(rule.changes)", "\(rule.returns)"], mark: index == 0 ? "ours" : "")
    }
    return table("Changes of room by each rule", ["Rule", "Changes", "Back in 1 min"], rows)
  }

  private static func table(_ title: String, _ heads: [String], _ rows: [String]) -> String {
    let head = heads.map { "<th scope=\"col\">\(EscapedText.markup($0))</th>" }.joined()
    return """
      <h2>\(EscapedText.markup(title))</h2>
      <div class="wide"><table><thead><tr>\(head)</tr></thead><tbody>\(rows.joined())</tbody></table></div>
      """
  }

  private static func row(_ cells: [String], mark: String) -> String {
    let first = "<th scope=\"row\">\(EscapedText.markup(cells[0]))</th>"
    return
      "<tr class=\"\(mark)\">\(first)\(cells.dropFirst().map { "<td>\($0.isEmpty ? "–" : EscapedText.markup($0))</td>" }.joined())</tr>"
  }

  /// The picture has a white ground of its own, so it stays readable on a dark page.
  private static let style = """
    :root{color-scheme:light dark;--soft:light-dark(#5a6470,#a3adb8);--line:light-dark(#d8dde3,#39424c);\
    --ours:light-dark(#e3f4e8,#17351f);--yours:light-dark(#fff3d6,#3a2f12)}
    body{margin:0;font:16px/1.5 system-ui,sans-serif}
    main{max-width:1280px;margin:0 auto;padding:24px 16px}
    h1{font-size:1.35rem;line-height:1.35;margin:0 0 8px}h2{font-size:1.1rem;margin:32px 0 8px}
    .soft{color:var(--soft)}figure{margin:24px 0;background:#fff;border-radius:8px;overflow-x:auto}
    figure svg{display:block;width:100%;min-width:900px;height:auto}
    .wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
    th,td{padding:6px 12px;text-align:right;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums;\
    white-space:nowrap}
    th:first-child{text-align:left}tbody th{font-weight:600}
    .ours{background:var(--ours)}.yours{background:var(--yours)}code{overflow-wrap:anywhere}
    """
}
