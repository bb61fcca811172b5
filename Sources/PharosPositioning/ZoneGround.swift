/// The zone plan and the constants of the zone decision: the same for all beacons and all looks at their levels.
///
/// The constants take half a kilobyte, and each look at a beacon passes them through a dozen functions. They are shared
/// by reference, because passing a value of that size would copy it at each call.
package final class ZoneGround: Sendable {
  /// The zones, numbered.
  let plan: ZonePlan
  /// The constants.
  let rules: ZoneRules

  /// Puts the two together.
  package init(plan: ZonePlan, rules: ZoneRules) {
    self.plan = plan
    self.rules = rules
  }
}
