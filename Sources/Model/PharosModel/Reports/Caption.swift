package import PharosDocuments

/// The words that people are shown about a place, a beacon or a region.
///
/// It decides nothing: a region that gets another caption stays the same region, and a recording, which holds what decides, leaves
/// captions out.
public struct Caption: Hashable, Sendable {
  /// The heading; at most 200 Unicode scalars on one line.
  public var title: String?
  /// The text below it: the commentary on an exhibit, the menu of a café; at most 4,000 Unicode scalars, of one or several lines.
  public var description: String?
  /// The postal address or another way to write the position for people; at most 500 Unicode scalars, of one or several lines.
  public var address: String?
  /// The address of a picture on the web, `https` or `http`; at most 2,000 bytes.
  public var picture: String?
  /// The address of a page on the web, `https` or `http`; at most 2,000 bytes.
  public var link: String?
  /// Other texts by their names, which Pharos hands on: at most 32, names of at most 128 bytes, texts of at most 1,000 Unicode
  /// scalars.
  public var properties: [String: String]

  /// The largest number of Unicode scalars of a title.
  public static let maximumTitle = 200
  /// The largest number of Unicode scalars of a description.
  public static let maximumDescription = 4_000
  /// The largest number of Unicode scalars of an address.
  public static let maximumAddress = 500
  /// The largest number of properties.
  public static let maximumProperties = 32
  /// The largest number of Unicode scalars of a property.
  public static let maximumProperty = 1_000

  /// Makes a caption; nothing is in it unless it is given.
  public init(
    title: String? = nil,
    description: String? = nil,
    address: String? = nil,
    picture: String? = nil,
    link: String? = nil,
    properties: [String: String] = [:]
  ) {
    self.title = title
    self.description = description
    self.address = address
    self.picture = picture
    self.link = link
    self.properties = properties
  }

  /// Indicates whether it says nothing.
  public var isEmpty: Bool { self == Caption() }

  /// The properties as documents have them: no key without any.
  private var writtenProperties: [String: String]? {
    get { properties.isEmpty ? nil : properties }
    set { properties = newValue ?? [:] }
  }

  /// The members of a caption, which stand in the object of what it belongs to.
  package static let members: [DocumentField<Caption>] = [
    DocumentField("title", \.title, .line(upTo: maximumTitle), "The heading that people are shown."),
    DocumentField(
      "description",
      \.description,
      .lines(upTo: maximumDescription),
      "The text that people are shown, of one or several lines."
    ),
    DocumentField(
      "address",
      \.address,
      .lines(upTo: maximumAddress),
      "The postal address, or another way to write the position for people."
    ),
    DocumentField("picture", \.picture, .webAddress, "The address of a picture on the web."),
    DocumentField("link", \.link, .webAddress, "The address of a page on the web."),
    DocumentField(
      "properties",
      \.writtenProperties,
      .texts(upTo: maximumProperties, ofLength: maximumProperty, "properties"),
      "Other texts by their names, which Pharos hands on."
    ),
  ]
}

extension Caption {
  /// Reads a caption that stands alone.
  ///
  /// - Parameters:
  ///   - json: an object with the members of a caption.
  ///   - place: the name of what it belongs to in messages.
  /// - Throws: every mistake, each with its field.
  package init(json: [UInt8], of place: String) throws(DocumentError) {
    self = try DocumentNode.read(json, name: place, limit: Caption.largest) { node, problems in
      let known = DocumentField.keys(Caption.members)
      guard let fields = DocumentFields(node, place: place, known: known, problems: problems) else {
        return nil
      }
      var caption = Caption()
      DocumentField.read(Caption.members, of: fields, into: &caption)
      return caption
    }
  }

  /// The largest size of a caption as JSON: 41,000 Unicode scalars of 12 bytes at most.
  ///
  /// - Units: bytes.
  private static let largest = 1 << 19

  /// The caption as JSON.
  package var json: String {
    var json = JSONText()
    json.openObject()
    DocumentField.write(Caption.members, of: self, to: &json)
    json.closeObject()
    return String(decoding: json.utf8, as: UTF8.self)
  }

  /// The texts of the caption by the names of their members, for formats without objects: the properties are JSON.
  package var texts: [(name: String, text: String)] {
    guard !isEmpty, case .object(let members)? = try? JSONValue(parsing: Array(json.utf8)) else { return [] }
    return members.map { member in
      if case .string(let text) = member.value { return (member.name, text) }
      var json = JSONText()
      json.element(member.value)
      return (member.name, json.text)
    }
  }
}
