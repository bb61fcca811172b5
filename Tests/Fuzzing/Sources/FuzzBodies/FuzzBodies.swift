package import FuzzSupport

/// The fuzz targets of HTTP bodies, heads and queries.
package let bodyTargets: [any FuzzTarget.Type] = [
  BodiesTarget.self,
  WebhooksTarget.self,
  NotificationsTarget.self,
  QueriesTarget.self,
  HeadersTarget.self,
]
