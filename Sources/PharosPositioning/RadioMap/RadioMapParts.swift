import PharosPlaces

/// The parts of a radio map, emitter by emitter, before they are put together.
///
/// The code that fills them ensures ascending order: ``RadioMapDraft`` sorts, and ``RadioMapReading`` rejects unsorted
/// input.
struct RadioMapParts {
  var floors: [FloorID] = []
  var grids: [RadioGrid] = []
  var walked: [[UInt8]] = []
  var emitters: [Emitter] = []
  var groups: [Int32] = []
  var noises: [Float] = []
  var patches: [RadioPatch] = []
  var levels: [UInt8] = []
  var deviations: [UInt8] = []
  var anchors: [RadioAnchor] = []

  /// Adds the next emitter.
  ///
  /// - Returns: its number.
  mutating func add(_ emitter: Emitter, group: Int32, noise: Float) -> Int32 {
    emitters.append(emitter)
    groups.append(group)
    noises.append(noise)
    return Int32(emitters.count - 1)
  }
}

extension RadioMap {
  /// Puts a map together from parts that fit each other.
  init(_ parts: RadioMapParts) {
    floors = parts.floors
    grids = parts.grids
    emitters = parts.emitters
    groups = parts.groups
    noises = parts.noises
    patches = parts.patches
    levels = parts.levels
    deviations = parts.deviations
    walked = parts.walked
    anchors = parts.anchors
    var firstPatches = [Int32](repeating: 0, count: parts.emitters.count + 1)
    for patch in parts.patches { firstPatches[Int(patch.emitter) + 1] += 1 }
    for number in parts.emitters.indices { firstPatches[number + 1] += firstPatches[number] }
    self.firstPatches = firstPatches
    var numbers: [Emitter: Int32] = [:]
    numbers.reserveCapacity(parts.emitters.count)
    for (number, emitter) in parts.emitters.enumerated() { numbers[emitter] = Int32(number) }
    self.numbers = numbers
  }
}
