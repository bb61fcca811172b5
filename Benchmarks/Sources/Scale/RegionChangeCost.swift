/// What changing the twenty regions of one application cost.
///
/// - Units: milliseconds of CPU time.
struct RegionChangeCost: Codable {
  /// All changes of the set together, handed over in one go.
  var set: Double
  /// The longest of them alone.
  var call: Double
  /// The slowest batch of 64 datagrams in the seconds after.
  var batchAfter: Double
  /// The slowest batch in as many seconds before: what the machine does by itself.
  var batchBefore: Double
  /// The median batch before.
  var usualBatch: Double

  /// The longest for which anything waits: the set itself, or what a later batch takes beyond the usual one.
  var pause: Double { max(set, batchAfter - usualBatch) }

  /// The costlier of two, figure by figure.
  func worst(_ other: RegionChangeCost) -> RegionChangeCost {
    RegionChangeCost(
      set: max(set, other.set),
      call: max(call, other.call),
      batchAfter: max(batchAfter, other.batchAfter),
      batchBefore: batchBefore,
      usualBatch: usualBatch
    )
  }
}
