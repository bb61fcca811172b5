import FuzzSupport

@testable import FuzzBodies

FuzzProgram.run([BodiesTarget.self, WebhooksTarget.self, NotificationsTarget.self, QueriesTarget.self])
