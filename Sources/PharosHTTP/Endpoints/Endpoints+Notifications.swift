import PharosReports
import PharosWebhooks

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
