import PharosEvents
import PharosReports

/// What silence does to the levels: that of a live observer, and that of one which is down.
extension ZoneTrack {
  /// The level that counts, silence taken off.
  func heardLevel(_ index: Int, at instant: Timestamp, _ around: Surroundings) -> Double {
    if isMoving { return current(index, at: instant, around) }
    let level = levels[index]
    let fall = level.fall(at: around.through(instant, of: level.observer), around.ground)
    return fall > 0 ? max(level.slow - fall, min(around.ground.rules.sensitivity, level.slow)) : level.slow
  }

  /// By how much it has come nearer to a live observer since another went down, which is taken off that one's level.
  func approach(at instant: Timestamp, _ around: Surroundings) -> Double {
    var rise = 0.0
    guard levels.contains(where: \.isDark) else { return 0 }
    for index in levels.indices where !levels[index].isDark && levels[index].samples > 1 {
      guard let before = levels[index].levelAtOutage else { continue }
      rise = max(rise, current(index, at: instant, around) - before)
    }
    return max(0, rise - around.ground.rules.approachBand)
  }

  /// The level of the moment, silence taken off.
  func current(_ index: Int, at instant: Timestamp, _ around: Surroundings) -> Double {
    let through = around.through(instant, of: levels[index].observer)
    let fallen = levels[index].quick - levels[index].fall(at: through, around.ground)
    return levels[index].isDark
      ? fallen : max(fallen, min(around.ground.rules.sensitivity, levels[index].quick))
  }

  /// Drops what is silent, and what was frozen by an outage once the beacon has clearly moved.
  mutating func forget(at instant: Timestamp, _ around: Surroundings) {
    forgetSilent(at: instant, around)
    guard levels.contains(where: \.isDark) else {
      for index in levels.indices where levels[index].levelAtOutage != nil {
        levels[index].levelAtOutage = nil
      }
      return
    }
    var loudest: Int?
    for index in levels.indices where !levels[index].isDark && levels[index].samples > 1 {
      let level = current(index, at: instant, around)
      if loudest.map({ current($0, at: instant, around) < level }) ?? true { loudest = index }
    }
    guard let loudest, let before = levels[loudest].levelAtOutage else { return }
    let hasMoved = current(loudest, at: instant, around) - before >= around.ground.rules.releaseRise
    if hasMoved { levels.removeAll(where: \.isDark) }
  }

  /// Drops the observers that no longer hear it: where all are silent their chances multiply.
  private mutating func forgetSilent(at instant: Timestamp, _ around: Surroundings) {
    let shortest = around.ground.rules.shortestPresence
    var (silent, live, together) = (0, 0, 0.0)
    for level in levels where !level.isDark {
      live += 1
      let through = around.through(instant, of: level.observer)
      guard through - level.toldAt >= shortest else { continue }
      silent += 1
      together += level.surprise(at: through)
    }
    guard silent > 0 else { return }
    let areGone = silent == live && together >= around.ground.rules.silentSurprise
    levels.removeAll { level in
      let through = around.through(instant, of: level.observer)
      let surprise = areGone ? .infinity : level.surprise(at: through)
      return level.isGone(at: through, surprise: surprise, around.ground)
    }
  }
}
