import PharosPositioning

extension PrometheusText {
  /// Writes what locating has counted.
  mutating func write(_ counted: LocatingCounters) {
    write(.fixes, counted.fixes)
    write(.locatedSubjects, counted.subjects)
    write(
      .passedOver,
      [
        (["late"], Double(counted.late)), (["unknown"], Double(counted.unknown)),
        (["repeated"], Double(counted.repeated)), (["crowded"], Double(counted.crowded)),
        (["senseless"], Double(counted.senseless)),
      ]
    )
    write(.recoveries, counted.recoveries)
    write(.subjectEvictions, counted.evictions)
  }
}
