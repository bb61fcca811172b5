import PharosPlaces

/// A radio map in the making: emitters in any order, each with its patches.
struct RadioMapDraft {
  /// One emitter.
  struct Entry {
    var emitter: Emitter
    /// A number that emitters of one box share.
    var group: UInt64
    /// How far a single reading scatters, in dB.
    var noise: Float
    /// Its patches, each on a floor of its own.
    var pieces: [Piece]
    /// Where it hangs, if that is known: the floor's place, the point, and how far it may be off in metres.
    var anchor: (floor: Int, point: Point, deviation: Float)?
  }

  /// What is told of an emitter on a floor.
  struct Piece {
    var floor: Int
    var column: Int
    var row: Int
    var columns: Int
    var rows: Int
    /// Bytes of levels, row by row.
    var levels: [UInt8]
    /// Bytes of deviations, row by row.
    var deviations: [UInt8]
  }

  var floors: [FloorID]
  var grids: [RadioGrid]
  var walked: [[UInt8]]
  var entries: [Entry] = []

  /// The map; of an emitter that comes twice, the first entry counts.
  func map() -> RadioMap {
    let sorted = entries.enumerated()
      .sorted { ($0.element.emitter, $0.offset) < ($1.element.emitter, $1.offset) }
      .map(\.element)
    var emitters: [Emitter] = []
    var noises: [Float] = []
    var groups: [Int32] = []
    var groupNumbers: [UInt64: Int32] = [:]
    var patches: [RadioPatch] = []
    var levels: [UInt8] = []
    var deviations: [UInt8] = []
    var anchors: [RadioAnchor] = []
    for entry in sorted where emitters.last != entry.emitter {
      let number = Int32(emitters.count)
      emitters.append(entry.emitter)
      noises.append(entry.noise)
      let group = groupNumbers[entry.group] ?? Int32(groupNumbers.count)
      groupNumbers[entry.group] = group
      groups.append(group)
      for piece in entry.pieces.sorted(by: { $0.floor < $1.floor }) {
        patches.append(
          RadioPatch(
            emitter: number,
            floor: Int32(piece.floor),
            column: Int32(piece.column),
            row: Int32(piece.row),
            columns: Int32(piece.columns),
            rows: Int32(piece.rows),
            offset: Int32(levels.count)
          )
        )
        levels += piece.levels
        deviations += piece.deviations
      }
      if let anchor = entry.anchor {
        anchors.append(
          RadioAnchor(
            emitter: number,
            floor: Int32(anchor.floor),
            point: anchor.point,
            deviation: anchor.deviation
          )
        )
      }
    }
    return RadioMap(
      floors: floors,
      grids: grids,
      emitters: emitters,
      groups: groups,
      noises: noises,
      patches: patches,
      levels: levels,
      deviations: deviations,
      walked: walked,
      anchors: anchors
    )
  }
}

extension RadioMap {
  /// Puts a map together from parts that fit each other.
  init(
    floors: [FloorID],
    grids: [RadioGrid],
    emitters: [Emitter],
    groups: [Int32],
    noises: [Float],
    patches: [RadioPatch],
    levels: [UInt8],
    deviations: [UInt8],
    walked: [[UInt8]],
    anchors: [RadioAnchor]
  ) {
    self.floors = floors
    self.grids = grids
    self.emitters = emitters
    self.groups = groups
    self.noises = noises
    self.patches = patches
    self.levels = levels
    self.deviations = deviations
    self.walked = walked
    self.anchors = anchors
    var firstPatches = [Int32](repeating: 0, count: emitters.count + 1)
    for patch in patches { firstPatches[Int(patch.emitter) + 1] += 1 }
    for number in emitters.indices { firstPatches[number + 1] += firstPatches[number] }
    self.firstPatches = firstPatches
    var numbers: [Emitter: Int32] = [:]
    numbers.reserveCapacity(emitters.count)
    for (number, emitter) in emitters.enumerated() { numbers[emitter] = Int32(number) }
    self.numbers = numbers
  }
}
