import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel

/// The webhooks of clients.
struct WebhookResource: Resource {
  let webhooks: Webhooks
  let registrar: Registrar

  var routes: [Route] {
    let path = "/v1/webhooks"
    return [
      Route(.get, path, access: .anyToken) { request in
        let webhooks = self.webhooks.list(application: request.principal.application)
        return .json { $0.objects("webhooks", webhooks) { $1.write(to: &$0) } }
      },
      Route(.post, path, access: .anyToken, body: .json) { request in
        let made = try webhooks.create(json: request.body, application: request.principal.application)
        return APIAnswer.put(isNew: true, at: "webhooks", made.standing.definition.id) { made.write(to: &$0) }
          .unkept()
      },
      Route(.get, path + "/{id}", access: .anyToken) { request in
        let id = request.parameter("id")
        let standing = try webhooks.standing(id, application: request.principal.application)
        return .json { standing.write(to: &$0) }
      },
      Route(.put, path + "/{id}", access: .anyToken, body: .json) { request in
        let own = request.principal.application
        let made = try webhooks.replace(request.parameter("id"), json: request.body, application: own)
        return APIAnswer.json { made.write(to: &$0) }.unkept()
      },
      Route(.delete, path + "/{id}", access: .anyToken) { request in
        let own = request.principal.application
        try webhooks.delete(request.parameter("id"), application: own)
        return .noContent
      },
      Route(.get, path + "/{id}/dead", access: .anyToken, query: ["before", "limit"], handler: deadLetters),
      Route(.post, path + "/{id}/dead/replay", access: .anyToken, body: .json, handler: replay),
      Route(.post, path + "/{id}/test", access: .anyToken) { request in
        let own = request.principal.application
        let trial = try await webhooks.test(request.parameter("id"), application: own)
        return .json { trial.write(to: &$0) }
      },
    ]
  }

  private func deadLetters(_ request: APIRequest) throws -> APIAnswer {
    var query = request.query
    let limit = query.limit()
    let before = query.integer("before", in: 1...Int64.max)
    try query.finish()
    let letters = try webhooks.dead(
      request.parameter("id"),
      before: before,
      limit: limit,
      application: request.principal.application
    )
    let stream = registrar.site.stream
    return .json(names: registrar.names) { json in
      json.objects("dead", letters) { $1.write(to: &$0, stream: stream) }
      json.next(letters.count == limit ? letters.last?.sequence : nil)
    }
  }

  /// The maximum number of dead letters that one request names.
  private static let maximumReplayed = 1_000

  private func replay(_ request: APIRequest) throws -> APIAnswer {
    let known = ["sequences"]
    let sequences = try BodyDocument.read(request.body, name: "replay", known: known, mayBeEmpty: true) {
      fields in
      let numbers = fields.values("sequences", of: "whole numbers", .integer(in: Int64.min...Int64.max))
      if numbers.count > WebhookResource.maximumReplayed {
        let most = "at most \(WebhookResource.maximumReplayed)"
        fields.mistake("sequences", "sequences has \(numbers.count) numbers", expected: most)
      }
      return .some(fields.has("sequences") ? numbers : nil)
    }
    let count = try webhooks.replay(
      request.parameter("id"),
      sequences: sequences,
      application: request.principal.application
    )
    return .json(status: .accepted) { $0.member("replayed", count) }
  }
}

/// The rules of an application that make texts of events.
struct NotificationResource: Resource {
  let notifications: Notifications
  let registrar: Registrar

  var routes: [Route] {
    let path = "/v1/applications/{app}/notifications"
    return [
      Route(.get, path, access: .application) { request in
        let application = try registrar.registered(request.parameter("app"))
        let rules = notifications.list(application: application.identifier)
        return .json { $0.objects("notifications", rules) { $1.write(to: &$0) } }
      },
      Route(.get, path + "/{id}", access: .application) { request in
        let application = try registrar.registered(request.parameter("app")).identifier
        let rule = try notifications.rule(request.parameter("id"), application: application)
        return .json { rule.write(to: &$0) }
      },
      Route(.put, path + "/{id}", access: .application, body: .json) { request in
        let application = try registrar.registered(request.parameter("app")).identifier
        let id = request.parameter("id")
        let (rule, isNew) = try notifications.put(
          id,
          json: request.body,
          application: application,
          mayNameZones: request.principal.application == nil
        )
        return .put(isNew: isNew, at: "applications", application, "notifications", id) {
          rule.write(to: &$0)
        }
      },
      Route(.delete, path + "/{id}", access: .application) { request in
        let application = try registrar.registered(request.parameter("app")).identifier
        let isOperator = request.principal.application == nil
        try notifications.delete(request.parameter("id"), application: application, mayNameZones: isOperator)
        return .noContent
      },
    ]
  }
}
