package import ServiceLifecycle

/// A service that describes itself by the name of its type.
///
/// A `ServiceGroup` reads the description of each service when it is created. The default description of a structure
/// lists all stored values by reflection: with a surveyed venue, this takes half a minute before the server listens.
package struct NamedService: Service, CustomStringConvertible {
  private let service: any Service

  package init(_ service: any Service) { self.service = service }

  package var description: String { "\(type(of: service))" }

  package func run() async throws { try await service.run() }
}
