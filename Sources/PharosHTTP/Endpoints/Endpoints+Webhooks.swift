import PharosDelivery
import PharosJournal
import PharosModel

extension Endpoints {
  var webhookRoutes: [Route] {
    [
      Route(.get, "/v1/webhooks", access: .anyToken) { request in
        .json { json in
          json.openObject()
          json.openArray("webhooks")
          for standing in backend.webhooks.list(application: request.principal.application) {
            json.openObject()
            standing.write(to: &json)
            json.closeObject()
          }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.post, "/v1/webhooks", access: .anyToken, body: .json) { request in
        let made = try backend.webhooks.create(
          json: request.body,
          application: request.principal.application
        )
        var answer = Endpoints.answer(made, status: 201)
        let id = PercentCoding.encode(segment: made.standing.definition.id)
        answer.setHeader("Location", "/v1/webhooks/\(id)")
        return answer
      },
      Route(.get, "/v1/webhooks/{id}", access: .anyToken) { request in
        let id = request.parameter("id")
        let standing = try backend.webhooks.standing(id, application: request.principal.application)
        return .json { json in
          json.openObject()
          standing.write(to: &json)
          json.closeObject()
        }
      },
      Route(.put, "/v1/webhooks/{id}", access: .anyToken, body: .json) { request in
        let own = request.principal.application
        let id = request.parameter("id")
        return Endpoints.answer(
          try backend.webhooks.replace(id, json: request.body, application: own),
          status: 200
        )
      },
      Route(.delete, "/v1/webhooks/{id}", access: .anyToken) { request in
        try backend.webhooks.delete(
          request.parameter("id"),
          application: request.principal.application
        )
        return .noContent
      },
      Route(.get, "/v1/webhooks/{id}/dead", access: .anyToken, query: ["before", "limit"]) {
        request in
        try deadLetters(request)
      },
      Route(.post, "/v1/webhooks/{id}/dead/replay", access: .anyToken, body: .json) { request in
        try replay(request)
      },
      Route(.post, "/v1/webhooks/{id}/test", access: .anyToken) { request in
        let own = request.principal.application
        let trial = try await backend.webhooks.test(request.parameter("id"), application: own)
        return .json { json in
          json.openObject()
          trial.write(to: &json)
          json.closeObject()
        }
      },
    ]
  }

  private static func answer(_ made: WebhookMade, status: Int) -> APIAnswer {
    var answer = APIAnswer.json(status: status) { json in
      json.openObject()
      made.write(to: &json)
      json.closeObject()
    }
    answer.setHeader("Cache-Control", "no-store")
    return answer
  }

  private func deadLetters(_ request: APIRequest) throws -> APIAnswer {
    var query = QueryReading(request)
    let limit = query.limit()
    let before = query.integer("before", in: 1...Int64.max)
    try query.finish()
    let letters = try backend.webhooks.dead(
      request.parameter("id"),
      before: before,
      limit: limit,
      application: request.principal.application
    )
    let stream = backend.registrar.site.stream
    return .json { json in
      json.openObject()
      json.openArray("dead")
      for letter in letters {
        json.openObject()
        letter.write(to: &json, stream: stream)
        json.closeObject()
      }
      json.closeArray()
      if letters.count == limit, let last = letters.last {
        json.member("next", last.sequence)
      } else {
        json.null("next")
      }
      json.closeObject()
    }
  }

  private func replay(_ request: APIRequest) throws -> APIAnswer {
    var fields = try BodyFields(request.body, emptyIsObject: true)
    let sequences = fields.integers("sequences")
    try fields.finish()
    let count = try backend.webhooks.replay(
      request.parameter("id"),
      sequences: sequences,
      application: request.principal.application
    )
    return .json(status: 202) { json in
      json.openObject()
      json.member("replayed", count)
      json.closeObject()
    }
  }
}

extension Endpoints {
  var notificationRoutes: [Route] {
    let path = "/v1/applications/{app}/notifications"
    return [
      Route(.get, path, access: .application) { request in
        let application = try application(request)
        let rules = backend.notifications.list(application: application.identifier)
        return .json { json in
          json.openObject()
          json.openArray("notifications")
          for rule in rules { Endpoints.write(rule, to: &json) }
          json.closeArray()
          json.closeObject()
        }
      },
      Route(.get, path + "/{id}", access: .application) { request in
        let application = try application(request).identifier
        let rule = try backend.notifications.rule(request.parameter("id"), application: application)
        return .json { json in Endpoints.write(rule, to: &json) }
      },
      Route(.put, path + "/{id}", access: .application, body: .json) { request in
        let application = try application(request).identifier
        let id = request.parameter("id")
        let (rule, isNew) = try backend.notifications.put(
          id,
          json: request.body,
          application: application
        )
        var answer = APIAnswer.json(status: isNew ? 201 : 200) { json in
          Endpoints.write(rule, to: &json)
        }
        if isNew {
          let place = [application, "notifications", id].map(PercentCoding.encode).joined(
            separator: "/"
          )
          answer.setHeader("Location", "/v1/applications/\(place)")
        }
        return answer
      },
      Route(.delete, path + "/{id}", access: .application) { request in
        let application = try application(request).identifier
        try backend.notifications.delete(request.parameter("id"), application: application)
        return .noContent
      },
    ]
  }

  private static func write(_ rule: NotificationRule, to json: inout JSONText) {
    json.openObject()
    rule.write(to: &json)
    json.closeObject()
  }
}
