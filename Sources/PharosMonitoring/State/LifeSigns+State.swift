import PharosReports

extension LifeSigns {
  /// Writes what proves the observer's life; how it is judged, the site says.
  func write(to writer: inout FieldWriter) {
    lastProof.write(to: &writer)
    silentFrom.write(to: &writer)
    writer.write(isUnproven)
    reception.write(to: &writer)
    heartbeats.write(to: &writer)
    others.write(to: &writer)
    traffic.write(to: &writer)
    lastSign.write(to: &writer)
    longestPause.write(to: &writer)
    writer.write(ambient)
    writer.write(missed)
    writer.write(reported)
    writer.write(usualDrop)
    writer.write(doubt?.since)
    if let doubt { doubt.last.write(to: &writer) }
    writer.write(leader)
    writer.write(votes)
  }

  /// Reads what proves the observer's life.
  init(mode: ObserverEntry.Liveness, from reader: inout FieldReader) throws(FieldError) {
    self.init(mode: mode)
    lastProof = try Timestamp(from: &reader)
    silentFrom = try Timestamp(from: &reader)
    isUnproven = try reader.flag()
    reception = try Reception(from: &reader)
    heartbeats = try HeartbeatClock(from: &reader)
    others = try GapMemory(from: &reader)
    traffic = try GapMemory(from: &reader)
    lastSign = try Timestamp(from: &reader)
    longestPause = try TimeSpan(from: &reader)
    ambient = try reader.finite("adverts of others")
    missed = try reader.finite("adverts missed")
    reported = try reader.number(UInt32.self)
    usualDrop = try reader.finite("a share dropped")
    if let since = try reader.optional(Timestamp.self) { doubt = (since, try Timestamp(from: &reader)) }
    leader = try reader.number(UInt64.self)
    votes = try reader.small("votes", through: 64)
  }
}

extension GapMemory {
  fileprivate func write(to writer: inout FieldWriter) {
    latest.write(to: &writer)
    writer.write(widest)
    writer.write(count)
    writer.write(isBroken)
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    latest = try Timestamp(from: &reader)
    widest = try reader.finite("the greatest gap")
    count = try reader.number(UInt16.self)
    isBroken = try reader.flag()
  }
}

extension HeartbeatClock {
  fileprivate func write(to writer: inout FieldWriter) {
    gaps.write(to: &writer)
    writer.write(period)
    writer.write(UInt8(clamping: strangers))
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    gaps = try GapMemory(from: &reader)
    period = try reader.finite("a heartbeat's period")
    strangers = Int(try reader.byte())
  }
}
