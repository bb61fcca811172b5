extension PresencePolicy: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(Int64(enterSamples))
    writer.write(enterWithin)
    writer.write(enterRSSI)
    writer.write(exitRSSI)
    writer.write(enterDistance?.value)
    writer.write(exitDistance?.value)
    exitDwell.write(to: &writer)
    switch silence {
    case .adaptive: writer.write(0 as UInt8)
    case .fixed(let span):
      writer.write(1 as UInt8)
      span.write(to: &writer)
    case .never: writer.write(2 as UInt8)
    }
    silenceFloor.write(to: &writer)
    silenceCeiling.write(to: &writer)
    writer.write(falseExitsPerDay)
    writer.write(stillInterval)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(enterSamples: Int(try reader.number(Int64.self)))
    enterWithin = try reader.optional(TimeSpan.self)
    enterRSSI = try reader.optional(Double.self)
    exitRSSI = try reader.optional(Double.self)
    enterDistance = try reader.optional(Double.self).map { Meters($0) }
    exitDistance = try reader.optional(Double.self).map { Meters($0) }
    exitDwell = try TimeSpan(from: &reader)
    switch try reader.byte() {
    case 0: silence = .adaptive
    case 1: silence = .fixed(try TimeSpan(from: &reader))
    case 2: silence = .never
    case let tag: throw reader.failure(.unknownTag(field: "silence", tag: tag))
    }
    silenceFloor = try TimeSpan(from: &reader)
    silenceCeiling = try TimeSpan(from: &reader)
    falseExitsPerDay = try reader.double()
    guard falseExitsPerDay >= 0, falseExitsPerDay.isFinite else {
      throw reader.failure(.outOfRange(field: "a policy's budget"))
    }
    stillInterval = try reader.optional(TimeSpan.self)
  }
}

extension Region.Subject: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .observer: writer.write(0 as UInt8)
    case .beacon(let observers):
      writer.write(1 as UInt8)
      writer.write(observers.map { FieldList($0) })
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .observer
    case 1: self = .beacon(observers: try reader.optional(FieldList<ObserverID>.self)?.elements)
    case let tag: throw reader.failure(.unknownTag(field: "a region's subject", tag: tag))
    }
  }
}

extension Region: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(identifier)
    constraint.write(to: &writer)
    subject.write(to: &writer)
    writer.write(keyedByAddress)
    writer.write(notifyOnEntry)
    writer.write(notifyOnExit)
    writer.write(notifyEntryStateOnDisplay)
    presence.write(to: &writer)
    maximumHold.write(to: &writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let identifier = try reader.text()
    self.init(identifier: identifier, constraint: try BeaconConstraint(from: &reader))
    subject = try Subject(from: &reader)
    keyedByAddress = try reader.flag()
    notifyOnEntry = try reader.flag()
    notifyOnExit = try reader.flag()
    notifyEntryStateOnDisplay = try reader.flag()
    presence = try PresencePolicy(from: &reader)
    maximumHold = try TimeSpan(from: &reader)
  }
}

extension RegionNode: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    region.write(to: &writer)
    writer.write(children)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let region = try Region(from: &reader)
    let children = try reader.deeper { (reader: inout FieldReader) throws(FieldError) in
      try reader.list(RegionNode.self)
    }
    self.init(region: region, children: children)
  }
}

extension RangingRequest: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    constraint.write(to: &writer)
    writer.write(keyedByAddress)
    writer.write(whileInside)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init(constraint: try BeaconConstraint(from: &reader))
    keyedByAddress = try reader.flag()
    whileInside = try reader.flag()
  }
}

extension RegionChange: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .startMonitoring(let application, let region, let assuming):
      writer.write(0 as UInt8)
      writer.write(application)
      region.write(to: &writer)
      writer.write(assuming.rawValue)
    case .stopMonitoring(let application, let identifier):
      writer.write(1 as UInt8)
      writer.write(application)
      writer.write(identifier)
    case .setRotation(let application, let tree):
      writer.write(2 as UInt8)
      writer.write(application)
      writer.write(tree)
    case .startRanging(let application, let request):
      writer.write(3 as UInt8)
      writer.write(application)
      request.write(to: &writer)
    case .stopRanging(let application, let constraint):
      writer.write(4 as UInt8)
      writer.write(application)
      constraint.write(to: &writer)
    case .requestState(let application, let identifier, let subject):
      writer.write(5 as UInt8)
      writer.write(application)
      writer.write(identifier)
      subject.write(to: &writer)
    case .acceptObserver(let observer):
      writer.write(6 as UInt8)
      observer.write(to: &writer)
    case .forget(let traces):
      writer.write(7 as UInt8)
      traces.write(to: &writer)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let tag = try reader.byte()
    guard tag <= 7 else { throw reader.failure(.unknownTag(field: "a region change", tag: tag)) }
    guard tag < 6 else {
      self =
        tag == 6
        ? .acceptObserver(try ObserverID(from: &reader)) : .forget(try SubjectTraces(from: &reader))
      return
    }
    let application = try reader.text()
    switch tag {
    case 0:
      let region = try Region(from: &reader)
      let state = try reader.byte()
      guard let assuming = RegionState(rawValue: state) else {
        throw reader.failure(.unknownTag(field: "a region's state", tag: state))
      }
      self = .startMonitoring(application: application, region, assuming: assuming)
    case 1: self = .stopMonitoring(application: application, identifier: try reader.text())
    case 2: self = .setRotation(application: application, try reader.list(RegionNode.self))
    case 3: self = .startRanging(application: application, try RangingRequest(from: &reader))
    case 4: self = .stopRanging(application: application, try BeaconConstraint(from: &reader))
    default:
      let identifier = try reader.text()
      let subject = try SubjectID(from: &reader)
      self = .requestState(application: application, identifier: identifier, subject: subject)
    }
  }
}
