import PharosDelivery
import PharosFiles
import PharosMaps
import PharosSpace
import Synchronization

/// The tiles of served venues, drawn when they are asked for and kept within a limit.
final class VenueMaps: Sendable {
  /// What a tile is asked for as.
  enum Form: Hashable, Sendable {
    /// A PNG with so many pixels on a side.
    case picture(size: Int)
    /// A Mapbox vector tile, maybe packed with gzip.
    case vector(isPacked: Bool)
  }

  private struct FloorKey: Hashable, Sendable {
    let venue: String
    let floor: FloorID
  }

  private struct TileKey: Hashable, Sendable {
    let venue: String
    /// The floor; nil for all.
    let floor: FloorID?
    let tile: MapTile
    let form: Form
  }

  /// A floor that was laid on the map, and the venue of which it was.
  private struct Prepared: Sendable {
    let venue: Venue
    let floor: MappedFloor?
    /// Draws it; nil until a picture is asked for.
    var renderer: FloorRenderer?
  }

  private struct State: Sendable {
    var floors = RecentValues<FloorKey, Prepared>(limit: VenueMaps.floorCapacity)
    var tiles = RecentValues<TileKey, [UInt8]>(limit: VenueMaps.maximumTileBytes)
  }

  private let state = Mutex(State())
  /// Held while the image of a plan is unpacked.
  private let loading = Mutex(())

  /// The bytes of floors that are kept ready, each with the image of its plan.
  private static let floorCapacity = 128 << 20
  /// The bytes of a pixel of an unpacked image, with its copies of half the size.
  private static let pixelBytes = 4 + 2
  /// What a floor costs beside the image of its plan.
  private static let floorOverhead = 256 << 10
  /// The bytes of tiles that are kept.
  private static let maximumTileBytes = 32 << 20
  /// What a tile costs beside its own bytes.
  private static let tileOverhead = 256

  /// Returns a tile of a floor, or a vector tile of all floors; empty where nothing is on it.
  ///
  /// - Throws: a `MapFailure` if the plan's image cannot be drawn, or what its reader throws.
  func tile(_ tile: MapTile, of id: FloorID?, _ form: Form, in served: ServedVenue) async throws -> [UInt8] {
    try await BackgroundExecutor.requests.run { [self] in try draw(tile, of: id, form, in: served) }
  }

  /// Returns bytes packed with gzip.
  ///
  /// - Throws: a ``Problem`` if there is no memory.
  static func packed(_ bytes: [UInt8]) throws(Problem) -> [UInt8] {
    guard let packed = Gzip.packed(bytes) else {
      throw Problem.unavailable("A map cannot be packed: zlib has no memory.")
    }
    return packed
  }

  private func draw(_ tile: MapTile, of id: FloorID?, _ form: Form, in served: ServedVenue) throws -> [UInt8]
  {
    let venue = served.venue
    let key = TileKey(venue: venue.identifier, floor: id, tile: tile, form: form)
    let floors = id.map { [$0] } ?? venue.floors.map(\.id)
    let prepared = floors.map { prepare(FloorKey(venue: venue.identifier, floor: $0), venue) }
    if let known = state.withLock({ $0.tiles[key] }) { return known }
    var bytes: [UInt8] = []
    switch form {
    case .vector(let isPacked):
      let mapped = prepared.compactMap(\.floor)
      bytes =
        id == nil
        ? VectorTile(tile, of: mapped).bytes : mapped.first.map { VectorTile(tile, of: $0).bytes } ?? []
      if isPacked, !bytes.isEmpty { bytes = try VenueMaps.packed(bytes) }
    case .picture(let size):
      guard let prepared = prepared.first, let floor = prepared.floor, let id else { return [] }
      let renderer =
        try prepared.renderer
        ?? loadRenderer(of: floor, for: FloorKey(venue: venue.identifier, floor: id), in: served)
      bytes = try renderer.png(tile, size: size) ?? []
    }
    state.withLock { $0.tiles.insert(bytes, for: key, cost: bytes.count + VenueMaps.tileOverhead) }
    return bytes
  }

  /// Loads the image of a floor's plan, unless another request has just done so.
  ///
  /// One image is unpacked at a time, and kept images leave room for it first: requests for many floors together take no
  /// more memory than one of them.
  private func loadRenderer(
    of floor: MappedFloor,
    for key: FloorKey,
    in served: ServedVenue
  ) throws -> FloorRenderer {
    try loading.withLock { _ in
      let cost = floor.picture.map { $0.plan.width * $0.plan.height * VenueMaps.pixelBytes } ?? 0
      let known = state.withLock { state in
        let known = state.floors[key]
        if known?.renderer == nil { state.floors.makeRoom(for: cost) }
        return known
      }
      if let known, known.venue == served.venue, let renderer = known.renderer { return renderer }
      let renderer = try FloorRenderer(
        floor,
        image: try floor.picture.map { try served.image($0.plan.image) }
      )
      let prepared = Prepared(venue: served.venue, floor: floor, renderer: renderer)
      state.withLock {
        $0.floors.insert(prepared, for: key, cost: renderer.bytes + VenueMaps.floorOverhead)
      }
      return renderer
    }
  }

  /// The floor on the map; tiles of a venue that has changed since are forgotten.
  private func prepare(_ key: FloorKey, _ venue: Venue) -> Prepared {
    state.withLock { state in
      if let known = state.floors[key] {
        if known.venue == venue { return known }
        state.tiles = RecentValues(limit: VenueMaps.maximumTileBytes)
      }
      let prepared = Prepared(venue: venue, floor: MappedFloor(key.floor, of: venue), renderer: nil)
      state.floors.insert(prepared, for: key, cost: VenueMaps.floorOverhead)
      return prepared
    }
  }
}

/// The glyphs by which clients write names on maps, drawn when they are asked for and kept within a limit.
final class MapGlyphs: Sendable {
  private struct Key: Hashable {
    let first: UInt32
    let isPacked: Bool
  }

  /// The ranges that are kept, of the 8 MB that all of a large font take.
  private let known = Mutex(RecentValues<Key, [UInt8]>(limit: 8 << 20))
  /// Held while a range is drawn: many requests for the same one draw it once.
  private let drawing = Mutex(())

  /// Returns the range of characters from `first` on, packed with gzip or not.
  ///
  /// - Throws: a `MapFailure` or a ``Problem`` if there is no memory.
  func range(from first: UInt32, isPacked: Bool) async throws -> [UInt8] {
    let key = Key(first: first, isPacked: isPacked)
    if let known = known.withLock({ $0[key] }) { return known }
    return try await BackgroundExecutor.requests.run { [self] in
      try drawing.withLock { _ in
        if let known = known.withLock({ $0[key] }) { return known }
        var bytes = try GlyphRange(from: first, font: MapStyle.ownFont).bytes
        if isPacked { bytes = try VenueMaps.packed(bytes) }
        known.withLock { $0.insert(bytes, for: key, cost: bytes.count) }
        return bytes
      }
    }
  }
}

extension RecentValues: Sendable where Key: Sendable, Value: Sendable {}

/// Values by their keys, of which those used least recently go once all of them cost more than a limit.
///
/// Kept in two generations: a value that is used moves into the young one, and once that holds half the limit, the old one
/// goes. A value that costs more than half the limit is kept alone.
struct RecentValues<Key: Hashable, Value> {
  private var young: [Key: (value: Value, cost: Int)] = [:]
  private var old: [Key: (value: Value, cost: Int)] = [:]
  private var cost = 0
  private let half: Int

  /// Makes an empty store whose values together cost at most `limit`.
  init(limit: Int) { half = limit / 2 }

  /// The value of a key, which is thereby used.
  subscript(key: Key) -> Value? {
    mutating get {
      if let found = young[key] { return found.value }
      guard let found = old.removeValue(forKey: key) else { return nil }
      insert(found.value, for: key, cost: found.cost)
      return found.value
    }
  }

  /// Drops the values that would go when one of such a cost is inserted.
  mutating func makeRoom(for added: Int) {
    guard cost + added > half else { return }
    old = added > half ? [:] : young
    young = [:]
    cost = 0
  }

  /// Keeps a value in place of the one that the key has.
  mutating func insert(_ value: Value, for key: Key, cost: Int) {
    old[key] = nil
    self.cost += cost - (young.updateValue((value, cost), forKey: key)?.cost ?? 0)
    guard self.cost > half else { return }
    old = cost > half ? [key: (value, cost)] : young
    young = [:]
    self.cost = 0
  }
}
