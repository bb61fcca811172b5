import PharosDashboard
import PharosDocuments
import PharosModel
import PharosSpace

/// A floor with something drawn on it, as a ``FloorPage`` shows it.
struct FloorPicture {
  /// What a layer consists of, and the numbers of each of its values in metres.
  enum Shape: String {
    /// Lines: x and y of each corner.
    case lines
    /// Dots: x and y.
    case dots
    /// Circles: x, y and the radius.
    case circles
    /// Rectangles on the ground: x and y of the south-western corner, width and height.
    case cells
  }

  /// Shapes of one kind and colour; one with a name has an entry in the legend.
  struct Layer {
    let name: String
    let shape: Shape
    let color: String
    let width: Double
    let isDashed: Bool
    let values: [[Double]]

    /// Makes a layer; the width is that of a line or a dot in pixels.
    init(
      _ name: String,
      _ shape: Shape,
      _ color: String,
      width: Double = 1.6,
      isDashed: Bool = false,
      _ values: [[Double]]
    ) {
      (self.name, self.shape, self.color) = (name, shape, color)
      (self.width, self.isDashed, self.values) = (width, isDashed, values)
    }
  }

  /// A numbered dot, which a list below the plan explains.
  struct Mark {
    let number: Int
    let point: Point
    let color: String
    let text: String
  }

  let floor: FloorID
  let title: String
  let figures: String
  /// The part of the floor that is shown; nil for the floor's own extent, or that of the layers where it has none.
  var extent: Extent?
  var layers: [Layer] = []
  var labels: [(text: String, point: Point)] = []
  var marks: [Mark] = []
}

extension [Point] {
  /// The coordinates, as a value of a layer.
  var coordinates: [Double] { flatMap { [$0.x, $0.y] } }
}

/// A page of HTML with pictures of floors, which needs no other file.
struct FloorPage {
  let title: String
  let venue: Venue
  var pictures: [FloorPicture] = []

  /// The page as it is written to a file.
  var html: String {
    let shown = venue.floors.filter { floor in pictures.contains { $0.floor == floor.id } }
    let indices = Dictionary(uniqueKeysWithValues: shown.enumerated().map { ($1.id, $0) })
    let data = JSONText.object { json in
      json.member("title", title)
      json.objects("floors", shown) { json, shown in
        json.areas("walkable", shown.floor.walkable)
        json.areas("obstacles", shown.floor.obstacles)
        json.lists("walls", shown.floor.walls.all.map { [$0.segment.start, $0.segment.end].coordinates })
      }
      json.objects("pictures", pictures) { json, picture in
        guard let index = indices[picture.floor] else { return }
        json.member("floor", index)
        FloorPage.write(picture, on: shown[index].floor, to: &json)
      }
    }
    return Dashboard.standalone("pictures.html", data: data)
  }

  private static func write(_ picture: FloorPicture, on floor: Floor, to json: inout JSONText) {
    json.member("title", picture.title)
    json.member("figures", picture.figures)
    let drawn = picture.layers.flatMap(\.values).map { Point(x: $0[0], y: $0[1]) }
    let extent = picture.extent ?? floor.extent ?? Extent(around: drawn)
    json.list("extent", extent.map { [$0.southWest, $0.northEast].coordinates } ?? [0, 0, 1, 1])
    json.objects("layers", picture.layers) { json, layer in
      json.member("name", layer.name)
      json.member("kind", layer.shape.rawValue)
      json.member("color", layer.color)
      json.member("width", layer.width)
      json.member("dash", layer.isDashed)
      json.lists("values", layer.values)
    }
    json.objects("labels", picture.labels) { json, label in
      json.member("text", label.text)
      json.place(label.point)
    }
    json.objects("marks", picture.marks) { json, mark in
      json.member("number", mark.number)
      json.member("color", mark.color)
      json.member("text", mark.text)
      json.place(mark.point)
    }
  }
}

extension JSONText {
  fileprivate mutating func place(_ point: Point) {
    member("x", point.x, decimals: 2)
    member("y", point.y, decimals: 2)
  }

  fileprivate mutating func list(_ key: StaticString?, _ numbers: [Double]) {
    openArray(key)
    for number in numbers { element(number, decimals: 2) }
    closeArray()
  }

  fileprivate mutating func lists(_ key: StaticString?, _ lists: [[Double]]) {
    openArray(key)
    for numbers in lists { list(nil, numbers) }
    closeArray()
  }

  fileprivate mutating func areas(_ key: StaticString, _ areas: [Area]) {
    openArray(key)
    for area in areas { lists(nil, ([area.outline] + area.holes).map(\.corners.coordinates)) }
    closeArray()
  }
}
