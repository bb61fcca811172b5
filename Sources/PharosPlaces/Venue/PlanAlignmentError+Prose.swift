extension PlanAlignmentError: CustomStringConvertible {
  /// What is wrong with which anchors, counted from 1, and what to do.
  public var description: String {
    switch self {
    case .count(let count):
      let bounds = "\(PlanAlignment.fewestAnchors) to \(PlanAlignment.mostAnchors)"
      return "\(count) anchors: an image is aligned by \(bounds) of them"
    case .notAPixel(let index):
      return "anchor \(index + 1): the pixel is no place on an image"
    case .beyondTheMap(let index, let latitude):
      return "anchor \(index + 1): latitude \(latitude) is beyond the edge of the map, "
        + "\(MapPoint.largestLatitude)"
    case .samePixel(let first, let second):
      return "anchors \(first + 1) and \(second + 1) are one spot of the image: take places far apart"
    case .sameCoordinate(let first, let second):
      return "anchors \(first + 1) and \(second + 1) are one spot on the Earth: take places far apart"
    case .tooFarApart(let first, let second, let meters):
      return
        "anchors \(first + 1) and \(second + 1) are \(PlanAlignmentError.round(meters / 1_000)) km from each "
        + "other: look for swapped numbers (latitude comes first here, longitude in GeoJSON)"
    case .mirrored(let found, let mirrored):
      return "the anchors fit to \(PlanAlignmentError.round(found)) m, and to "
        + "\(PlanAlignmentError.round(mirrored)) m if the image is mirrored: count pixels downwards from its upper edge"
    case .senseless(let worst, let residual, let extent):
      return "anchor \(worst + 1) is \(PlanAlignmentError.round(residual)) m off, and the anchors reach "
        + "\(PlanAlignmentError.round(extent)) m: no turning and scaling of the image brings them together"
    case .scale(let metersPerPixel):
      return "a pixel would be \(metersPerPixel) m long: look for swapped numbers"
    }
  }

  /// A number with three decimals at most.
  private static func round(_ number: Double) -> Double { (number * 1_000).rounded() / 1_000 }
}
