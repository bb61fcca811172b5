import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
import PharosSite

/// The webhooks of clients.
struct WebhookResource: Resource {
  let webhooks: Webhooks
  let owner: SiteOwner

  var routes: [Route] {
    let path = "/v1/webhooks"
    return [
      Route(
        .get,
        path,
        Operation("listWebhooks", .webhooks, "The webhooks and how they fare")
          .answering(.list("webhooks", of: .webhook)),
        access: .anyToken
      ) { request in
        let webhooks = self.webhooks.list(application: request.principal.application)
        return .json { $0.objects("webhooks", webhooks) { $1.write(to: &$0) } }
      },
      Route(
        .post,
        path,
        Operation(
          "createWebhook",
          .webhooks,
          "Create a webhook; it receives events that are published from now on"
        )
        .receiving(.webhookDocument)
        .answering(.made(.webhook))
        .failing(.conflict),
        access: .anyToken
      ) { request in
        let made = try webhooks.create(json: request.body, application: request.principal.application)
        return APIAnswer.put(isNew: true, at: "webhooks", made.standing.definition.id) { made.write(to: &$0) }
          .unkept()
      },
      Route(
        .get,
        "/v1/push",
        Operation("getPushKey", .webhooks, "The key with which a browser subscribes to notifications")
          .answering(.object([.required("publicKey", .text, "65 bytes in base64url.")])),
        access: .anyToken
      ) { _ in
        let key = try webhooks.publicPushKey()
        return .json { $0.member("publicKey", key) }
      },
      Route(
        .get,
        path + "/{id}",
        Operation("getWebhook", .webhooks, "One webhook")
          .with(.webhook)
          .answering(.webhook),
        access: .anyToken
      ) { request in
        let id = request.parameter("id")
        let standing = try webhooks.standing(id, application: request.principal.application)
        return .json { standing.write(to: &$0) }
      },
      Route(
        .put,
        path + "/{id}",
        Operation("putWebhook", .webhooks, "Replace what a webhook is")
          .with(.webhook)
          .receiving(.webhookDocument)
          .answering(.webhook),
        access: .anyToken
      ) { request in
        let own = request.principal.application
        let made = try webhooks.replace(request.parameter("id"), json: request.body, application: own)
        return APIAnswer.json { made.write(to: &$0) }.unkept()
      },
      Route(
        .delete,
        path + "/{id}",
        Operation("deleteWebhook", .webhooks, "Remove a webhook, with its dead letters")
          .with(.webhook)
          .answering(.nothing()),
        access: .anyToken
      ) { request in
        let own = request.principal.application
        try webhooks.delete(request.parameter("id"), application: own)
        return .noContent
      },
      Route(
        .get,
        path + "/{id}/dead",
        Operation("listDeadLetters", .webhooks, "Events that were given up, the newest first")
          .with(.webhook, .query("before", .integer(1...), "Before this sequence number."), .limit)
          .answering(
            .object([
              .required("dead", .list(.deadLetter)),
              .required("next", .integer.orNull, "The value for `before` of the next page; null at the end."),
            ])
          )
          .failing(.unavailable),
        access: .anyToken,
        handler: deadLetters
      ),
      Route(
        .post,
        path + "/{id}/dead/replay",
        Operation("replayDeadLetters", .webhooks, "Deliver dead letters once more")
          .with(.webhook)
          .receiving(
            .closed([
              .optional("sequences", .list(.integer, 0...1_000), "Which; left out, all.")
            ]),
            isRequired: false
          )
          .answering(
            .accepted(
              .object([
                .required("replayed", .count)
              ])
            )
          ),
        access: .anyToken,
        handler: replay
      ),
      Route(
        .post,
        path + "/{id}/test",
        Operation(
          "testWebhook",
          .webhooks,
          "Send a `pharos.webhook.test` event at once and say how that went"
        )
        .with(.webhook)
        .answering(.webhookTrial),
        access: .anyToken
      ) { request in
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
    let stream = owner.site.stream
    return .json(names: owner.names) { json in
      json.objects("dead", letters) { $1.write(to: &$0, stream: stream) }
      json.next(letters.count == limit ? letters.last?.sequence : nil)
    }
  }

  /// The maximum number of dead letters that one request names.
  private static let maximumReplayed = 1_000

  private func replay(_ request: APIRequest) throws -> APIAnswer {
    let known = ["sequences"]
    let sequences = try BodyDocument.read(request.body, name: "replay", known: known) {
      fields in
      let numbers = fields.values("sequences", of: "whole numbers", .integer(in: Int64.min...Int64.max))
      if numbers.count > WebhookResource.maximumReplayed {
        let maximum = "at most \(WebhookResource.maximumReplayed)"
        fields.mistake("sequences", "sequences has \(numbers.count) numbers", expected: maximum)
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
  let owner: SiteOwner

  var routes: [Route] {
    let path = "/v1/applications/{app}/notifications"
    return [
      Route(
        .get,
        path,
        Operation("listNotifications", .notifications, "An application's notification rules")
          .with(.app)
          .answering(.list("notifications", of: .notification)),
        access: .application
      ) { request in
        let application = try owner.registered(request.parameter("app"))
        let rules = notifications.list(application: application.identifier)
        return .json { $0.objects("notifications", rules) { $1.write(to: &$0) } }
      },
      Route(
        .get,
        path + "/{id}",
        Operation("getNotification", .notifications, "One rule")
          .with(.app, .rule)
          .answering(.notification),
        access: .application
      ) { request in
        let application = try owner.registered(request.parameter("app")).identifier
        let rule = try notifications.rule(request.parameter("id"), application: application)
        return .json { rule.write(to: &$0) }
      },
      Route(
        .put,
        path + "/{id}",
        Operation(
          "putNotification",
          .notifications,
          "Make or replace a rule: what to say on an occasion"
        )
        .with(.app, .rule)
        .receiving(.notificationDocument)
        .answering(put: .notification)
        .failing(.conflict),
        access: .application
      ) { request in
        let application = try owner.registered(request.parameter("app")).identifier
        let id = request.parameter("id")
        let (rule, isNew) = try notifications.put(
          id,
          json: request.body,
          application: application,
          isOperator: request.principal.application == nil
        )
        return .put(isNew: isNew, at: "applications", application, "notifications", id) {
          rule.write(to: &$0)
        }
      },
      Route(
        .delete,
        path + "/{id}",
        Operation("deleteNotification", .notifications, "Remove a rule")
          .with(.app, .rule)
          .answering(.nothing()),
        access: .application
      ) { request in
        let application = try owner.registered(request.parameter("app")).identifier
        let isOperator = request.principal.application == nil
        try notifications.delete(request.parameter("id"), application: application, isOperator: isOperator)
        return .noContent
      },
    ]
  }
}

extension Operation.Parameter {
  fileprivate static let webhook = path("id", "The webhook.")
  fileprivate static let rule = path("id", "The rule.")
}
