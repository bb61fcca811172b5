package import PharosPlaces
package import PharosReports

/// Where somebody goes in a venue, from floor to floor, and when.
///
/// Like a `Path` it is computed, not stepped: where one is depends on the time alone. A ``JourneyPlanner`` makes them.
package struct Journey: Hashable, Sendable {
  /// How one moves.
  package enum Manner: Hashable, Sendable {
    /// One stands.
    case standing
    /// One walks.
    case walking
    /// One walks up or down: stairs, a ramp.
    case climbing
    /// One stands on steps that move.
    case escalator
    /// One stands in a cabin that moves.
    case lift
  }

  /// Where somebody is at a time, and what they do.
  package struct Place: Hashable, Sendable {
    /// The floor whose plane ``point`` is measured on; outdoors that of the door one went through.
    package var floor: FloorID
    /// The place on that plane.
    package var point: Point
    /// Metres above the ground floor.
    package var height: Double
    /// Whether one is outdoors.
    package var isOutdoors: Bool
    /// How one moves.
    package var manner: Manner

    package init(floor: FloorID, point: Point, height: Double, isOutdoors: Bool, manner: Manner) {
      self.floor = floor
      self.point = point
      self.height = height
      self.isOutdoors = isOutdoors
      self.manner = manner
    }
    /// Whether one is between two floors.
    package var isBetweenFloors: Bool {
      switch manner {
      case .climbing, .escalator, .lift: true
      case .standing, .walking: false
      }
    }
  }

  /// A place in the house.
  struct Spot: Hashable, Sendable {
    var floor: FloorID
    var point: Point
    var height: Double
  }

  /// A straight piece of the journey, on the plane of one floor.
  struct Stage: Hashable, Sendable {
    /// How height is gained: steadily, or as the first or second half of a way that begins and ends gently.
    enum Rise: Hashable, Sendable {
      case steady, gentleStart, gentleEnd
    }

    let starts, ends: TimeSpan
    let from, to: Spot
    let manner: Manner
    let rise: Rise
    let isOutdoors: Bool
    /// How many steps were taken before, and how many are taken on it.
    let stepsBefore, steps: Double
  }

  /// How one walks.
  package let gait: Gait
  let stages: [Stage]
  let turns: JourneyTurns
  /// How long it takes; behind that one stays where one is.
  package let duration: TimeSpan

  /// Strings stages together; there is at least one.
  init(gait: Gait, stages: [Stage]) {
    self.gait = gait
    self.stages = stages
    turns = JourneyTurns(of: stages)
    duration = stages.last?.ends ?? .zero
  }

  /// When one steps off a stair, a lift or an escalator, and onto which floor.
  package var arrivals: [Arrival] {
    stages.indices.compactMap { index in
      let stage = stages[index]
      let isLast = index + 1 == stages.count || !stages[index + 1].isRide
      return stage.isRide && isLast
        ? Arrival(time: stage.ends, floor: stage.to.floor, manner: stage.manner) : nil
    }
  }

  /// The end of a way from floor to floor.
  package struct Arrival: Hashable, Sendable {
    /// When one steps off, since the journey began.
    package var time: TimeSpan
    /// The floor one steps onto.
    package var floor: FloorID
    /// What brought one there.
    package var manner: Manner
  }
}

extension Journey.Stage {
  /// Whether it leads from floor to floor.
  var isRide: Bool {
    switch manner {
    case .climbing, .escalator, .lift: true
    case .standing, .walking: false
    }
  }
}
