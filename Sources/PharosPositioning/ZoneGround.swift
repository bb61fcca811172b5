/// The zones and the constants by which they are told apart: the same for all beacons and all looks.
///
/// Half a kilobyte of constants that every look at a beacon hands down through a dozen functions: shared by reference, as
/// handing down values of that size means to copy them.
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
