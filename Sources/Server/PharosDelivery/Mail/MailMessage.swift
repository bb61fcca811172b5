import Foundation
package import PharosModel

/// A notification as an e-mail.
///
/// Its `Message-ID` is the id of the event, the same in every attempt, by which mailboxes recognise a repetition.
///
/// - Source: RFC 5322 (the format), RFC 2045 and RFC 2047 (texts that are not ASCII), RFC 3834 (mail that no person wrote).
package struct MailMessage: Hashable, Sendable {
  /// The address of the sender.
  package let sender: String
  /// The address of the receiver.
  package let receiver: String
  /// The lines, each with CR and LF at its end.
  package let content: [UInt8]

  /// Makes the mail of an event.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - sender: the address of the sender.
  ///   - receiver: the address of the receiver.
  ///   - now: the time of the attempt.
  package init(of event: Event, from sender: String, to receiver: String, at now: Timestamp) {
    var (title, text) = (event.kind.word, event.detail.summary(of: event))
    if case .notification(let notification) = event.detail {
      title = notification.title ?? notification.text
      text = ([notification.text] + [notification.link, notification.picture].compactMap { $0 }).joined(
        separator: "\n\n"
      )
    }
    self.init(id: event.id.description, title: title, text: text, from: sender, to: receiver, at: now)
  }

  /// Makes a mail of a title and a text.
  package init(
    id: String,
    title: String,
    text: String,
    from sender: String,
    to receiver: String,
    at now: Timestamp
  ) {
    self.sender = sender
    self.receiver = receiver
    let domain = sender.split(separator: "@").last ?? "localhost"
    var lines = [
      "From: Pharos <\(sender)>",
      "To: <\(receiver)>",
      "Subject: \(MailMessage.encodedWords(title))",
      "Date: \(MailMessage.date(now))",
      "Message-ID: <\(id)@\(domain)>",
      "Auto-Submitted: auto-generated",
      "MIME-Version: 1.0",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: base64",
      "",
    ]
    let body = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n") + "\r\n"
    let base64 = Array(Data(body.utf8).base64EncodedString().utf8)
    for start in stride(from: 0, to: base64.count, by: 76) {
      lines.append(String(decoding: base64[start..<min(start + 76, base64.count)], as: UTF8.self))
    }
    content = lines.flatMap { Array($0.utf8) + [0x0D, 0x0A] }
  }

  /// Returns a text as encoded words of at most 75 characters, folded onto lines.
  private static func encodedWords(_ text: String) -> String {
    var words: [[UInt8]] = [[]]
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar).utf8)
      // 39 bytes are 52 digits of base64: with what is around them and the name of the header, less than a line.
      if words[words.count - 1].count + bytes.count > 39 { words.append([]) }
      words[words.count - 1] += bytes
    }
    return words.map { "=?utf-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\r\n ")
  }

  /// Returns a time as RFC 5322 writes it, in UTC.
  private static func date(_ time: Timestamp) -> String {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
    return format.string(from: Date(timeIntervalSince1970: Double(time.nanoseconds / 1_000_000_000)))
  }
}
