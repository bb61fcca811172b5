/// The targets, in the order of the table; their reasons stand in the README.
extension Target {
  /// All of them.
  static let all: [Target] = path + engine + fixes + answers

  /// From the socket.
  private static let path = [
    Target(
      name: "wholePathShare",
      title: "whole path / bare C loop, 1 advert a datagram",
      source: .throughput,
      figure: "wholePathShareAt1",
      unit: "",
      aim: .atLeast(0.85),
      kind: .plain
    ),
    Target(
      name: "advertsPerSecond",
      title: "whole path, 24 adverts a datagram, 20 k tracks, a core",
      source: .throughput,
      figure: "advertsPerSecondAt24",
      unit: "M/s",
      scale: 1e6,
      aim: .atLeast(15e6),
      kind: .rate
    ),
    Target(
      name: "cores",
      title: "two loops on two cores / one",
      source: .throughput,
      figure: "coresRatio",
      unit: "",
      aim: .atLeast(1.8),
      kind: .plain
    ),
  ]

  /// The engine by itself.
  private static let engine = [
    Target(
      name: "engine",
      title: "engine, 1 k to 100 k tracks, the slowest size",
      source: .scale,
      figure: "engine",
      unit: "ns/advert",
      aim: .atMost(36),
      kind: .time
    ),
    Target(
      name: "engineLarge",
      title: "engine, 1 M tracks",
      source: .scale,
      figure: "engineLarge",
      unit: "ns/advert",
      aim: .atMost(45),
      kind: .time
    ),
    Target(
      name: "yardstick",
      title: "engine with wire decoding / yardstick, the worst size",
      source: .scale,
      figure: "yardstickRatio",
      unit: "",
      aim: .atMost(1.25),
      kind: .plain
    ),
    Target(
      name: "bytesPerTrack",
      title: "bytes a track, all in, from 100 k tracks",
      source: .scale,
      figure: "bytesPerTrack",
      unit: "bytes",
      aim: .atMost(220),
      kind: .plain
    ),
    Target(
      name: "allocations",
      title: "allocations an advert, steady state",
      source: .scale,
      figure: "allocations",
      unit: "",
      aim: .atMost(noAllocation),
      kind: .plain
    ),
    Target(
      name: "regionChange",
      title: "longest pause when 20 regions change, 1 M tracks",
      source: .scale,
      figure: "regionChangePauseLarge",
      unit: "ms",
      aim: .atMost(0.5),
      kind: .tail
    ),
  ]

  /// Positions.
  private static let fixes = [
    Target(
      name: "fixUpdate",
      title: "one fix update at 1 Hz, default particles",
      source: .fixes,
      figure: "updateNanoseconds",
      unit: "µs",
      scale: 1e3,
      aim: .atMost(200e3),
      kind: .time
    ),
    Target(
      name: "fixSubjects",
      title: "subjects at 1 Hz, whole pipeline, a core",
      source: .fixes,
      figure: "subjectsACore",
      unit: "",
      aim: .atLeast(5_000),
      kind: .rate
    ),
    Target(
      name: "fixBytes",
      title: "memory a subject, all in",
      source: .fixes,
      figure: "bytesASubject",
      unit: "KiB",
      scale: 1_024,
      aim: .atMost(65_536),
      kind: .plain
    ),
  ]

  /// What users wait for.
  private static let answers = [
    Target(
      name: "publisherP99",
      title: "socket to OpenCombine at half load, p99",
      source: .latency,
      figure: "publisherP99AtHalf",
      unit: "ms",
      aim: .atMost(1),
      kind: .tail
    ),
    Target(
      name: "publisherP999",
      title: "socket to OpenCombine at half load, p99.9",
      source: .latency,
      figure: "publisherP999AtHalf",
      unit: "ms",
      aim: .atMost(2),
      kind: .tail
    ),
    Target(
      name: "sequenceP99",
      title: "socket to AsyncSequence at half load, p99",
      source: .latency,
      figure: "sequenceP99AtHalf",
      unit: "ms",
      aim: .atMost(1),
      kind: .tail
    ),
    Target(
      name: "sequenceP999",
      title: "socket to AsyncSequence at half load, p99.9",
      source: .latency,
      figure: "sequenceP999AtHalf",
      unit: "ms",
      aim: .atMost(2),
      kind: .tail
    ),
    Target(
      name: "publisherHighLoad",
      title: "socket to OpenCombine at 80 % load, p99",
      source: .latency,
      figure: "publisherP99AtHighLoad",
      unit: "ms",
      aim: .atMost(5),
      kind: .tail
    ),
    Target(
      name: "process",
      title: "process, capture in the page cache, a core",
      source: .process,
      figure: "advertsPerSecond",
      unit: "M/s",
      scale: 1e6,
      aim: .atLeast(20e6),
      kind: .rate
    ),
    Target(
      name: "processMemory",
      title: "process, memory at 4 times the file / at once",
      source: .process,
      figure: "memoryRatio",
      unit: "",
      aim: .atMost(1.1),
      kind: .plain
    ),
  ]
}
