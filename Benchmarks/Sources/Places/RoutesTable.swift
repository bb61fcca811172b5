import CScaleMeter
import Foundation
import Glibc
import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosSite
import PharosSpace
import PharosWays

/// Measures routes.
///
/// The rows compare lengths with a grid on real floors and on a simulated airport, and give the time of a query and the time
/// and the memory of a graph. All times are processor times of one thread.
func measureRoutes(_ input: PlacesInput) throws -> [PlacesRow] {
  var rows: [PlacesRow] = []
  if let data = input.data {
    for path in RouteMeasurement.floors {
      let floor = try RouteMeasurement.floor(path, in: data)
      rows.append(RouteMeasurement.lengths(of: floor, path, pairs: 1_000, seed: input.seed))
    }
  } else {
    print("  real floors are left out: give --data")
  }
  let before = scale_resident_bytes()
  let airport = SimulatedAirport(seed: input.seed)
  let drawn = scale_resident_bytes()
  let clock = ProcessorClock()
  var built: WalkableGraph?
  let building = clock.measure { built = WalkableGraph(airport.venue) }
  guard let graph = built else { return rows }
  let after = scale_resident_bytes()
  let megabytes = Double(after - drawn) / 1e6
  rows.append(
    PlacesRow(
      quantity:
        "airport of 20 floors × 50,000 m²: graph built (\(graph.size.corners) corners, \(graph.size.lines) lines)",
      target: "≤ 5 s",
      seen: building.text,
      isMet: building <= .seconds(5)
    )
  )
  rows.append(
    PlacesRow(
      quantity: "airport: memory of the graph (the plan takes \((drawn - before) / 1_000_000) MB)",
      target: "≤ 100 MB",
      seen: "\(Int(megabytes.rounded())) MB",
      isMet: megabytes <= 100
    )
  )
  var bytes: [UInt8] = []
  let encoding = clock.measure { bytes = graph.encoded() }
  let decoding = try clock.measure { _ = try WalkableGraph(decoding: bytes) }
  rows.append(
    PlacesRow(
      quantity: "airport: graph of \(bytes.count / 1_000) kB encoded and decoded",
      target: "-",
      seen: "\(encoding.text), \(decoding.text)",
      isMet: nil
    )
  )
  rows += try RouteMeasurement.queries(graph, airport.venue, seed: input.seed)
  if let floor = airport.venue.floors.dropFirst(7).first?.floor {
    rows.append(
      RouteMeasurement.lengths(of: floor, "one floor of the airport", pairs: 1_000, seed: input.seed)
    )
  }
  return rows
}

/// The measurements of routes.
enum RouteMeasurement {
  static let floors = [
    "site1/B1", "site1/F1", "site1/F2", "site1/F3", "site1/F4", "site2/B1", "site2/F7", "site2/F8",
  ]

  /// Reads a floor of the public data.
  static func floor(_ path: String, in data: String) throws -> Floor {
    let folder = URL(filePath: data).appending(path: "indoor/floors")
    let yaml = "id: mall\nbuildings: [{ id: b, floors: [{ level: 0, name: F, surveyFolder: \(path) }] }]"
    let files = VenueFiles { name, limit throws(VenueFiles.Failure) in
      if name == VenueFolder.mainFile { return Array(yaml.utf8.prefix(limit)) }
      guard let bytes = try? Data(contentsOf: folder.appending(path: name)) else { throw .missing }
      return Array(bytes.prefix(limit))
    }
    let venue = try VenueFolder.read(data, files: files).venue
    guard let floor = venue.floor(FloorID(building: "b", level: 0)) else { throw CocoaError(.fileNoSuchFile) }
    return floor
  }

  /// Compares lengths with the grid for pairs of places: 25 starts with 40 goals each.
  static func lengths(of floor: Floor, _ name: String, pairs: Int, seed: UInt64) -> PlacesRow {
    let venue = Venue(identifier: "v", buildings: [Building(identifier: "b", floors: [floor])])
    let clock = ProcessorClock()
    var built: WalkableGraph?
    let building = clock.measure { built = WalkableGraph(venue) }
    guard let graph = built else { preconditionFailure("no graph") }
    let router = Router(graph)
    let grid = GridRoutes(floor)
    let check = RouteCheck(floor)
    var random = RandomStream(seed: seed)
    var ratios: [Double] = []
    var (none, onlyGrid, onlyRoute, unwalkable) = (0, 0, 0, 0)
    var times: [Duration] = []
    let starts = 25
    for _ in 0..<starts {
      guard let start = grid.freePlace(random.uniform()) else { continue }
      let ends = (0..<pairs / starts).compactMap { _ in grid.freePlace(random.uniform()) }
      for (end, length) in zip(ends, grid.lengths(from: start, to: ends)) {
        guard let from = floor.plane.coordinate(of: start), let to = floor.plane.coordinate(of: end) else {
          continue
        }
        var route: WalkingRoute?
        times.append(
          clock.measure {
            route = try? router.routes(
              from: .coordinate(from, level: floor.level),
              to: .coordinate(to, level: floor.level)
            ).first
          }
        )
        switch (length, route) {
        case (nil, nil): none += 1
        case (.some, nil): onlyGrid += 1
        case (nil, .some): onlyRoute += 1
        case (let length?, let route?):
          // Two places in one cell have no length to compare.
          guard length > 1 else { continue }
          ratios.append(route.distance / length)
          if !check.isWalkable(route) { unwalkable += 1 }
        }
      }
    }
    ratios.sort()
    times.sort()
    func text(_ share: Double) -> String {
      String(format: "%.4f", ratios[Int(Double(ratios.count - 1) * share)])
    }
    let within = ratios.count { $0 <= 1.01 && $0 >= 0.99 }
    let longer = ratios.count { $0 > 1.01 }
    return PlacesRow(
      quantity: "\(name): \(ratios.count) lengths ÷ grid of 25 cm pulled taut (graph \(building.text), "
        + "\(graph.size.corners) corners, \(graph.size.lines) lines)",
      target: "none above 1.01, every way walkable",
      seen:
        "min \(text(0)), p1 \(text(0.01)), median \(text(0.5)), p99 \(text(0.99)), max \(text(1)); within 1 % "
        + "\(within), longer \(longer), not walkable \(unwalkable); without a way \(none), by the grid only \(onlyGrid), "
        + "by the route only \(onlyRoute); query p50 \(times[times.count / 2].text), p99 "
        + "\(times[times.count * 99 / 100].text)",
      isMet: longer == 0 && unwalkable == 0 && onlyGrid == 0
    )
  }

  /// Times queries between random places of all floors.
  static func queries(_ graph: WalkableGraph, _ venue: Venue, seed: UInt64) throws -> [PlacesRow] {
    let router = Router(graph)
    var random = RandomStream(seed: seed, 2)
    let floors = venue.floors
    let spaces = floors.map { FloorSpace($0.floor) }
    func waypoint() -> Waypoint? {
      for _ in 0..<100 {
        let number = Int(random.uniform() * Double(floors.count))
        let point = Point(
          x: random.uniform() * SimulatedAirport.size.length,
          y: random.uniform() * SimulatedAirport.size.width
        )
        guard spaces[number].isWalkable(point),
          let coordinate = floors[number].floor.plane.coordinate(of: point)
        else { continue }
        return .coordinate(coordinate, level: floors[number].id.level)
      }
      return nil
    }
    let clock = ProcessorClock()
    var rows: [PlacesRow] = []
    for (name, options) in [
      ("fastest way", RouteOptions()), ("without steps", RouteOptions(isAccessible: true)),
      ("with 3 alternatives", RouteOptions(alternatives: 3)),
    ] {
      var times: [Duration] = []
      var (none, alternatives) = (0, 0)
      for _ in 0..<2_000 {
        guard let from = waypoint(), let to = waypoint() else { continue }
        times.append(
          clock.measure {
            if let routes = try? router.routes(from: from, to: to, options: options) {
              alternatives += routes.count - 1
            } else {
              none += 1
            }
          }
        )
      }
      times.sort()
      let (median, high) = (times[times.count / 2], times[times.count * 99 / 100])
      rows.append(
        PlacesRow(
          quantity: "airport: \(times.count) queries, \(name)",
          target: options.alternatives == 0 ? "p50 ≤ 2 ms, p99 ≤ 10 ms" : "-",
          seen: "p50 \(median.text), p99 \(high.text), without a way \(none)"
            + (options.alternatives > 0
              ? ", alternatives a query \(Double(alternatives) / Double(times.count))" : ""),
          isMet: options.alternatives == 0 ? median <= .milliseconds(2) && high <= .milliseconds(10) : nil
        )
      )
    }
    if let from = waypoint() {
      var count = 0
      let nearest = clock.measure {
        count = (try? router.nearest(category: "restroom", from: from, limit: 3))?.count ?? 0
      }
      rows.append(
        PlacesRow(
          quantity: "airport: nearest restrooms (\(count))",
          target: "-",
          seen: nearest.text,
          isMet: nil
        )
      )
    }
    let ends = (0..<20).compactMap { _ in waypoint() }
    let matrix = try clock.measure { _ = try router.matrix(from: ends, to: ends) }
    rows.append(PlacesRow(quantity: "airport: matrix of 20 × 20", target: "-", seen: matrix.text, isMet: nil))
    return rows
  }
}

/// Measures the processor time of the calling thread: the time on an idle machine, whatever else runs on this one.
struct ProcessorClock {
  func measure(_ work: () throws -> Void) rethrows -> Duration {
    let start = ProcessorClock.now
    try work()
    return ProcessorClock.now - start
  }

  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}

extension Duration {
  /// The time in milliseconds.
  fileprivate var text: String {
    let (seconds, attoseconds) = components
    return String(format: "%.2f ms", Double(seconds) * 1e3 + Double(attoseconds) / 1e15)
  }
}
