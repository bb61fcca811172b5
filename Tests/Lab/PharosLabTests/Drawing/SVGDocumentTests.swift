import Foundation
import FoundationXML
import PharosLab
import Testing

#if canImport(FoundationXML)
#endif

/// Reads a picture as any XML reader does, and keeps what was in it.
final class PictureReader: NSObject, XMLParserDelegate {
  private(set) var elements: [String: Int] = [:]
  private(set) var texts: [String] = []
  private(set) var attributes: [[String: String]] = []
  private var open: [Int] = []

  /// Reads; nil if it is no well-formed XML.
  init?(_ text: String) {
    super.init()
    let parser = XMLParser(data: Data(text.utf8))
    parser.delegate = self
    guard parser.parse() else { return nil }
  }

  func parser(
    _ parser: XMLParser,
    didStartElement name: String,
    namespaceURI: String?,
    qualifiedName: String?,
    attributes: [String: String]
  ) {
    elements[name, default: 0] += 1
    self.attributes.append(attributes)
    open.append(texts.count)
    texts.append("")
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    guard let element = open.last else { return }
    texts[element] += text
  }

  func parser(
    _ parser: XMLParser,
    didEndElement name: String,
    namespaceURI: String?,
    qualifiedName: String?
  ) {
    open.removeLast()
  }
}

@Suite("A picture")
struct SVGDocumentTests {
  private static func picture(title: String = "A door", _ draw: (inout SVGDocument) -> Void) -> SVGDocument {
    var picture = SVGDocument(width: 200, height: 100, title: title, summary: "Who came and went.")
    draw(&picture)
    return picture
  }

  @Test("is well-formed XML whatever text it is given, and the text comes back")
  func escaping() throws {
    let hostile = #"<b onload="x">'&amp;' ]]> é 漢 🚪</b>"#
    let picture = Self.picture(title: hostile) { picture in
      picture.text(hostile, at: SVGPoint(1, 2), TextStyle())
      picture.rect(SVGRect(x: 0, y: 0, width: 5, height: 5), fill: hostile, tooltip: hostile)
    }
    let reader = try #require(PictureReader(picture.text))
    #expect(reader.texts.filter { $0 == hostile }.count == 3)
    #expect(reader.attributes.contains { $0["fill"] == hostile })
    #expect(reader.elements["b"] == nil)
  }

  @Test("writes a middle dot for what XML forbids")
  func forbidden() throws {
    let picture = Self.picture { picture in
      picture.text("a\u{0}b\u{1B}[31mc\u{FFFE}d\te", at: SVGPoint(0, 0), TextStyle())
    }
    let reader = try #require(PictureReader(picture.text))
    #expect(reader.texts.contains("a·b·[31mc·d·e"))
  }

  @Test("has a title and a summary for screen readers")
  func accessibility() throws {
    let reader = try #require(PictureReader(Self.picture { _ in }.text))
    #expect(reader.attributes.first?["role"] == "img")
    #expect(reader.attributes.first?["aria-labelledby"] == "title summary")
    #expect(reader.texts.contains("A door"))
    #expect(reader.texts.contains("Who came and went."))
  }

  @Test(
    "writes numbers short and never in a way that SVG does not know",
    arguments: [
      (0.0, "0"), (-0.001, "0"), (1, "1"), (1.5, "1.5"), (-1.25, "-1.25"), (0.05, "0.05"), (-0.05, "-0.05"),
      (12.345, "12.35"), (99.999, "100"), (.nan, "0"), (.infinity, "0"), (1e12, "0"),
    ]
  )
  func numbers(value: Double, text: String) {
    #expect(SVGDocument.number(value) == text)
  }

  @Test("holds every shape")
  func shapes() throws {
    let picture = Self.picture { picture in
      picture.group("a group") { picture in
        picture.line(from: SVGPoint(0, 0), to: SVGPoint(9, 9), Stroke(Palette.exit, dashes: [4, 2]))
      }
      picture.clipped(to: SVGRect(x: 0, y: 0, width: 10, height: 10)) { picture in
        picture.polyline([SVGPoint(0, 0), SVGPoint(50, 50)], Stroke(Palette.level))
        picture.band(
          upper: [SVGPoint(0, 1), SVGPoint(5, 1)],
          lower: [SVGPoint(0, 3), SVGPoint(5, 3)],
          fill: Palette.level
        )
      }
      picture.dots([SVGPoint(1, 1), SVGPoint(7, 7)], radius: 1.5, fill: Palette.advert)
      picture.ticks(at: [1, 5], top: 0, bottom: 4, Stroke(Palette.advert))
      picture.cross(at: SVGPoint(5, 5))
      picture.rect(SVGRect(x: 0, y: 0, width: 5, height: 5), fill: Palette.exit, tooltip: "here")
    }
    let reader = try #require(PictureReader(picture.text))
    #expect(reader.elements["g"] == 2)
    #expect(reader.elements["clipPath"] == 1)
    #expect(reader.elements["polyline"] == 1)
    #expect(reader.elements["polygon"] == 1)
    #expect(reader.elements["path"] == 4)
    #expect(reader.attributes.contains { $0["stroke-dasharray"] == "4 2" })
    #expect(reader.attributes.contains { $0["clip-path"] == "url(#clip1)" })
    #expect(reader.attributes.contains { $0["d"] == "M1 1h0M7 7h0" })
    #expect(reader.attributes.contains { $0["d"] == "M1 0v4M5 0v4" })
    #expect(reader.texts.contains("a group"))
    #expect(reader.texts.contains("here"))
  }

  @Test("draws nothing for what has no extent")
  func nothing() throws {
    let picture = Self.picture { picture in
      picture.rect(SVGRect(x: 1, y: 1, width: 0, height: 5), fill: Palette.ink)
      picture.rect(SVGRect(x: 1, y: 1, width: 5, height: -1), fill: Palette.ink)
      picture.polyline([SVGPoint(1, 1)], Stroke(Palette.ink))
      picture.dots([], radius: 1, fill: Palette.ink)
      picture.ticks(at: [], top: 0, bottom: 1, Stroke(Palette.ink))
    }
    #expect(picture.text == Self.picture { _ in }.text)
  }
}
