package import PharosHTTP

/// What the HTTP interface does.
extension MetricFamily {
  static let httpConnections = gauge("pharos_http_connections", "HTTP connections open")
  static let httpConnected = counter("pharos_http_connections_total", "HTTP connections opened")
  static let httpAnswers = counter(
    "pharos_http_answers_total",
    "HTTP requests answered, by status",
    by: "status"
  )
  static let httpMalformed = counter(
    "pharos_http_malformed_total",
    "Connections on which something came that is no HTTP"
  )
  static let httpLimits = counter(
    "pharos_http_limits_reached_total",
    "Times that a limit of the HTTP interface refused something, by limit",
    by: "limit"
  )

  /// The statuses that the interface answers with.
  static let statuses = [200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 409, 413, 415, 422, 431, 500, 503]

  static let http = [httpConnections, httpConnected, httpAnswers, httpMalformed, httpLimits]
}

extension PrometheusText {
  /// Writes what the HTTP interface has counted.
  package mutating func write(_ http: HTTPStatistics) {
    write(.httpConnections, http.connections)
    write(.httpConnected, http.connected)
    // Every status that the interface gives; an unheard-of one would be a mistake of ours, and is counted as such.
    let known = MetricFamily.statuses
    let others = http.answers.filter { !known.contains($0.key) }.values.reduce(0, +)
    write(
      .httpAnswers,
      known.map { (["\($0)"], Double(http.answers[$0] ?? 0)) } + [(["other"], Double(others))]
    )
    write(.httpMalformed, http.malformed)
    let limits = HTTPLimit.allCases
    write(.httpLimits, limits.map { ([$0.rawValue], Double(http.reached[$0] ?? 0)) })
  }
}
