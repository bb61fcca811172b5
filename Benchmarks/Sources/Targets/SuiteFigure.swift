/// What one benchmark of a suite took.
struct SuiteFigure: Codable {
  /// The median of its samples.
  ///
  /// - Units: nanoseconds of CPU time an item.
  var median: Double
  /// Nine samples in ten are quicker.
  var p90: Double
  /// Ninety-nine samples in a hundred are quicker.
  var p99: Double
  /// Calls of the allocator, the median.
  ///
  /// - Units: an item.
  var allocations: Double
  /// The median in steps of its own suite's computing reference.
  var perComputingStep: Double
  /// The median in steps of its own suite's memory reference.
  var perMemoryStep: Double
}
