package import PharosSpace

/// A rectangle of map points, whose sides are parallel to the map's.
package struct MapBox: Hashable, Sendable {
  /// The least x and y.
  package var low: MapPoint
  /// The greatest x and y.
  package var high: MapPoint

  /// Makes the rectangle from its north-western to its south-eastern corner.
  package init(_ low: MapPoint, _ high: MapPoint) {
    self.low = low
    self.high = high
  }

  /// The square around a point.
  package init(around point: MapPoint, reach: Double) {
    low = MapPoint(x: point.x - reach, y: point.y - reach)
    high = MapPoint(x: point.x + reach, y: point.y + reach)
  }

  /// Returns whether two rectangles have a point in common.
  package func meets(_ other: MapBox) -> Bool {
    low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y && other.low.y <= high.y
  }

  /// Returns whether another rectangle lies within.
  package func contains(_ other: MapBox) -> Bool {
    low.x <= other.low.x && other.high.x <= high.x && low.y <= other.low.y && other.high.y <= high.y
  }

  /// Grows the rectangle to hold another one.
  package mutating func add(_ other: MapBox) {
    low = MapPoint(x: min(low.x, other.low.x), y: min(low.y, other.low.y))
    high = MapPoint(x: max(high.x, other.high.x), y: max(high.y, other.high.y))
  }

  /// Returns the rectangle moved to the east.
  fileprivate func moved(by east: Double) -> MapBox {
    MapBox(MapPoint(x: low.x + east, y: low.y), MapPoint(x: high.x + east, y: high.y))
  }
}

/// A packed R-tree over the rectangles around geofences.
///
/// It is built at once, from the leaves up, with the rectangles in the order of a Z-shaped curve through their middles, and
/// never changed: 40 bytes for each geofence.
package struct GeofenceIndex: Sendable {
  private var boxes: [MapBox] = []
  private var items: [Int32] = []
  /// The place at which each level begins in ``boxes``; the first one holds the items.
  private var levels: [Int] = []

  /// The number of rectangles of a node.
  private static let width = 16
  /// The distance from the date line within which a search looks on its other side too: the largest radius at 60 degrees.
  private static let rim = 1_400_000.0

  /// Makes an index of nothing.
  package init() {}

  /// Makes an index of rectangles.
  package init(_ entries: [(box: MapBox, item: Int32)]) {
    let sorted = entries.map { (GeofenceIndex.code($0.box), $0) }
      .sorted { ($0.0, $0.1.item) < ($1.0, $1.1.item) }
    boxes = sorted.map(\.1.box)
    items = sorted.map(\.1.item)
    guard !boxes.isEmpty else { return }
    levels = [0]
    var start = 0
    while boxes.count - start > 1 {
      let end = boxes.count
      levels.append(end)
      for first in stride(from: start, to: end, by: GeofenceIndex.width) {
        var box = boxes[first]
        for place in first..<min(end, first + GeofenceIndex.width) { box.add(boxes[place]) }
        boxes.append(box)
      }
      start = end
    }
  }

  /// Appends the items whose rectangles meet a rectangle; the order is that of the index.
  package func search(_ box: MapBox, into found: inout [Int32]) {
    guard let top = levels.indices.last else { return }
    visit(boxes.count - 1, level: top, box, into: &found)
    if box.low.x < GeofenceIndex.rim {
      visit(boxes.count - 1, level: top, box.moved(by: MapPoint.worldSize), into: &found)
    }
    if box.high.x > MapPoint.worldSize - GeofenceIndex.rim {
      visit(boxes.count - 1, level: top, box.moved(by: -MapPoint.worldSize), into: &found)
    }
  }

  private func visit(_ place: Int, level: Int, _ box: MapBox, into found: inout [Int32]) {
    guard boxes[place].meets(box) else { return }
    guard level > 0 else { return found.append(items[place]) }
    let first = levels[level - 1] + (place - levels[level]) * GeofenceIndex.width
    for child in first..<min(levels[level], first + GeofenceIndex.width) {
      visit(child, level: level - 1, box, into: &found)
    }
  }

  /// The bits of the middle's x and y in turn.
  private static func code(_ box: MapBox) -> UInt64 {
    spread((box.low.x + box.high.x) / 2) | spread((box.low.y + box.high.y) / 2) << 1
  }

  private static func spread(_ number: Double) -> UInt64 {
    var bits = UInt64(min(4_294_967_295, max(0, (number + MapPoint.worldSize) * 4)))
    bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
    bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
    bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333
    return (bits | bits << 1) & 0x5555_5555_5555_5555
  }
}
