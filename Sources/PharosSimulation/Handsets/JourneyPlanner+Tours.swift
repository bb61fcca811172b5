package import PharosPlaces
package import PharosReports

extension JourneyPlanner {
  /// Plans a walk about the house by chance: to places of a floor, now and then to another floor.
  ///
  /// - Parameters:
  ///   - seed: the same seed gives the same tour.
  ///   - floor: the floor it begins on.
  ///   - length: how long it lasts at least.
  ///   - kinds: what one takes from floor to floor; none to stay on the floor.
  ///   - gait: how one walks.
  /// - Returns: the walk, which begins at a place drawn by chance.
  /// - Throws: ``InvalidScene`` where there is nothing to walk on.
  package func tour(
    seed: UInt64,
    on floor: FloorID,
    lasting length: TimeSpan,
    taking kinds: Set<Connector.Kind> = Set(Connector.Kind.allCases),
    gait: Gait = Gait()
  ) throws(InvalidScene) -> Journey {
    var random = RandomStream(seed: seed, 11)
    guard let start = ways[floor]?.place(&random) else {
      throw mistake("tour", "begins on floor \(floor), which has nothing to walk on")
    }
    var course = try self.course(on: floor, from: start, gait: gait)
    while course.time < length {
      let before = course.time
      if random.chance(0.25), let ride = way(from: course.here.floor, taking: kinds, &random) {
        try perform(.take(ride.name, to: ride.end.floor), number: 0, on: &course)
      } else if let target = ways[course.here.floor]?.place(&random) {
        stroll(to: target, on: &course)
      }
      if course.time == before || random.chance(0.3) { course.stay(.seconds(random.uniform(3, 20))) }
    }
    return course.journey
  }

  /// A walk over a floor as a surveyor makes it: straight lines through the house from corner to corner.
  ///
  /// - Parameters:
  ///   - seed: the same seed gives the same walk.
  ///   - floor: the floor.
  ///   - legs: how many places it leads to.
  ///   - gait: how one walks.
  /// - Returns: the walk; its ``Journey/waypoints`` are what a surveyor would mark.
  /// - Throws: ``InvalidScene`` where there is nothing to walk on.
  package func survey(
    seed: UInt64,
    of floor: FloorID,
    legs: Int,
    gait: Gait = Gait()
  ) throws(InvalidScene) -> Journey {
    var random = RandomStream(seed: seed, 12)
    guard let floorWays = ways[floor], let start = floorWays.place(&random) else {
      throw mistake("survey", "is of floor \(floor), which has nothing to walk on")
    }
    var course = try self.course(on: floor, from: start, gait: gait)
    for _ in 0..<max(0, legs) {
      guard let target = floorWays.place(&random) else { continue }
      stroll(to: target, on: &course)
      course.stay(.seconds(1))
    }
    return course.journey
  }

  /// Walks to a place where there is a way to it.
  private func stroll(to target: Point, on course: inout JourneyCourse) {
    guard let way = ways[course.here.floor]?.way(from: course.here.point, to: target) else { return }
    for corner in way.dropFirst() { course.walk(to: corner) }
  }

  private func way(
    from floor: FloorID,
    taking kinds: Set<Connector.Kind>,
    _ random: inout RandomStream
  ) -> (name: String, end: Connector.Stop)? {
    let choices = venue.connectors.filter { kinds.contains($0.kind) }.flatMap { connector in
      connector.stops.contains { $0.floor == floor }
        ? connector.stops.filter { $0.floor != floor }.map { (connector.identifier, $0) } : []
    }
    guard !choices.isEmpty else { return nil }
    return choices[Int(random.uniform() * Double(choices.count))]
  }
}

extension Journey {
  /// The places where the journey turns or stops and the times of them, while it walks on one floor: a survey's waypoints.
  package var waypoints: [(time: TimeSpan, place: Point)] {
    guard let first = stages.first else { return [] }
    return [(first.starts, first.from.point)]
      + stages.filter { $0.manner == .walking }.map { ($0.ends, $0.to.point) }
  }
}
