/// What locating does.
extension MetricFamily {
  static let sensings = counter(
    "pharos_locating_sensings_total",
    "What handsets sensed and was passed on to locate them by"
  )
  static let fixes = counter("pharos_locating_fixes_total", "Fixes decided")
  static let locatedSubjects = gauge("pharos_locating_subjects", "Subjects that are looked for now")
  static let passedOver = counter(
    "pharos_locating_readings_passed_over_total",
    "Readings and samples of motion that count for nothing: late, unknown (of no map), repeated, crowded, senseless",
    by: "reason"
  )
  static let recoveries = counter(
    "pharos_locating_recoveries_total",
    "Times that a locator moved part of a subject's estimate to a place that explained the readings much better"
  )
  static let subjectEvictions = counter(
    "pharos_locating_evictions_total",
    "Subjects forgotten because there were too many"
  )

  static let locating = [sensings, fixes, locatedSubjects, passedOver, recoveries, subjectEvictions]
}
