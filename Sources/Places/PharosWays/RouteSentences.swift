import PharosSpace

/// The languages of instructions.
public enum RouteLanguage: String, CaseIterable, Hashable, Sendable {
  /// English.
  case english = "en"
  /// German.
  case german = "de"
  /// French.
  case french = "fr"
}

extension RouteStep {
  /// The instruction of the step as one sentence.
  public func instruction(in language: RouteLanguage) -> String {
    let phrase = RoutePhrase(maneuver)
    let sentence =
      switch language {
      case .english: phrase.english
      case .german: phrase.german
      case .french: phrase.french
      }
    let instruction = sentence.replacing("{level}", with: "\(maneuver.targetLevel ?? maneuver.level)")
      .replacing("{name}", with: maneuver.name)
    return maneuver.access.note(in: language).map { "\(instruction) (\($0))" } ?? instruction
  }
}

extension Access {
  /// The note on a manoeuvre through something that is not meant for everyone.
  fileprivate func note(in language: RouteLanguage) -> String? {
    switch (self, language) {
    case (.everyone, _): nil
    case (.restricted, .english): "with a key or a pass"
    case (.restricted, .german): "mit Schlüssel oder Ausweis"
    case (.restricted, .french): "avec une clé ou un badge"
    case (.staff, .english): "staff only"
    case (.staff, .german): "nur für Personal"
    case (.staff, .french): "réservé au personnel"
    case (.vehicles, .english): "meant for vehicles"
    case (.vehicles, .german): "für Fahrzeuge bestimmt"
    case (.vehicles, .french): "prévu pour les véhicules"
    case (.emergencies, .english): "emergency exit"
    case (.emergencies, .german): "Notausgang"
    case (.emergencies, .french): "sortie de secours"
    case (.outOfService, .english): "out of service"
    case (.outOfService, .german): "außer Betrieb"
    case (.outOfService, .french): "hors service"
    }
  }
}

/// The sentences of instructions: one table for each language.
///
/// `{name}` is the name of a place, a door or a building, and `{level}` the number of a level.
enum RoutePhrase: Hashable {
  case depart
  case turn(Maneuver.Modifier)
  case stairs(isUp: Bool)
  case escalator(isUp: Bool)
  case ramp(isUp: Bool)
  case lift
  case resume
  case enter
  case enterBuilding
  case leave
  case door
  case namedDoor
  case arrive
  case arriveAt
  case arriveBeside(Maneuver.Modifier)

  /// The phrase of a manoeuvre.
  init(_ maneuver: Maneuver) {
    let isUp = maneuver.targetLevel ?? maneuver.level >= maneuver.level
    switch maneuver.kind {
    case .depart: self = .depart
    case .turn: self = .turn(maneuver.modifier ?? .straight)
    case .stairs: self = .stairs(isUp: isUp)
    case .escalator: self = .escalator(isUp: isUp)
    case .ramp: self = .ramp(isUp: isUp)
    case .lift: self = .lift
    case .resume: self = .resume
    case .enter: self = maneuver.name.isEmpty ? .enterBuilding : .enter
    case .leave: self = .leave
    case .door: self = maneuver.name.isEmpty ? .door : .namedDoor
    case .arrive:
      guard !maneuver.name.isEmpty else {
        self = .arrive
        return
      }
      self = maneuver.modifier.map { .arriveBeside($0) } ?? .arriveAt
    }
  }

  /// English.
  var english: String {
    switch self {
    case .depart: "Start walking"
    case .turn(.straight): "Go straight on"
    case .turn(.slightLeft): "Bear left"
    case .turn(.left): "Turn left"
    case .turn(.sharpLeft): "Turn sharp left"
    case .turn(.slightRight): "Bear right"
    case .turn(.right): "Turn right"
    case .turn(.sharpRight): "Turn sharp right"
    case .turn(.turnAround): "Turn around"
    case .stairs(isUp: true): "Take the stairs up to level {level}"
    case .stairs(isUp: false): "Take the stairs down to level {level}"
    case .escalator(isUp: true): "Take the escalator up to level {level}"
    case .escalator(isUp: false): "Take the escalator down to level {level}"
    case .ramp(isUp: true): "Take the ramp up to level {level}"
    case .ramp(isUp: false): "Take the ramp down to level {level}"
    case .lift: "Take the lift to level {level}"
    case .resume: "Continue on level {level}"
    case .enter: "Enter {name}"
    case .enterBuilding: "Enter the building"
    case .leave: "Leave {name}"
    case .door: "Go through the door"
    case .namedDoor: "Go through {name}"
    case .arrive: "You have arrived"
    case .arriveAt, .arriveBeside(.turnAround): "You have arrived at {name}"
    case .arriveBeside(.straight): "{name} is ahead of you"
    case .arriveBeside(.left), .arriveBeside(.slightLeft), .arriveBeside(.sharpLeft): "{name} is on your left"
    case .arriveBeside(.right), .arriveBeside(.slightRight), .arriveBeside(.sharpRight):
      "{name} is on your right"
    }
  }

  /// German.
  var german: String {
    switch self {
    case .depart: "Gehen Sie los"
    case .turn(.straight): "Gehen Sie geradeaus"
    case .turn(.slightLeft): "Halten Sie sich links"
    case .turn(.left): "Biegen Sie links ab"
    case .turn(.sharpLeft): "Biegen Sie scharf links ab"
    case .turn(.slightRight): "Halten Sie sich rechts"
    case .turn(.right): "Biegen Sie rechts ab"
    case .turn(.sharpRight): "Biegen Sie scharf rechts ab"
    case .turn(.turnAround): "Kehren Sie um"
    case .stairs(isUp: true): "Nehmen Sie die Treppe hinauf auf Ebene {level}"
    case .stairs(isUp: false): "Nehmen Sie die Treppe hinunter auf Ebene {level}"
    case .escalator(isUp: true): "Nehmen Sie die Rolltreppe hinauf auf Ebene {level}"
    case .escalator(isUp: false): "Nehmen Sie die Rolltreppe hinunter auf Ebene {level}"
    case .ramp(isUp: true): "Nehmen Sie die Rampe hinauf auf Ebene {level}"
    case .ramp(isUp: false): "Nehmen Sie die Rampe hinunter auf Ebene {level}"
    case .lift: "Nehmen Sie den Aufzug auf Ebene {level}"
    case .resume: "Gehen Sie auf Ebene {level} weiter"
    case .enter: "Betreten Sie {name}"
    case .enterBuilding: "Betreten Sie das Gebäude"
    case .leave: "Verlassen Sie {name}"
    case .door: "Gehen Sie durch die Tür"
    case .namedDoor: "Gehen Sie durch {name}"
    case .arrive: "Sie haben Ihr Ziel erreicht"
    case .arriveAt, .arriveBeside(.turnAround): "Sie haben {name} erreicht"
    case .arriveBeside(.straight): "{name} liegt vor Ihnen"
    case .arriveBeside(.left), .arriveBeside(.slightLeft), .arriveBeside(.sharpLeft):
      "{name} liegt auf der linken Seite"
    case .arriveBeside(.right), .arriveBeside(.slightRight), .arriveBeside(.sharpRight):
      "{name} liegt auf der rechten Seite"
    }
  }

  /// French.
  var french: String {
    switch self {
    case .depart: "Commencez à marcher"
    case .turn(.straight): "Continuez tout droit"
    case .turn(.slightLeft): "Serrez à gauche"
    case .turn(.left): "Tournez à gauche"
    case .turn(.sharpLeft): "Tournez franchement à gauche"
    case .turn(.slightRight): "Serrez à droite"
    case .turn(.right): "Tournez à droite"
    case .turn(.sharpRight): "Tournez franchement à droite"
    case .turn(.turnAround): "Faites demi-tour"
    case .stairs(isUp: true): "Montez l'escalier jusqu'au niveau {level}"
    case .stairs(isUp: false): "Descendez l'escalier jusqu'au niveau {level}"
    case .escalator(isUp: true): "Prenez l'escalator montant jusqu'au niveau {level}"
    case .escalator(isUp: false): "Prenez l'escalator descendant jusqu'au niveau {level}"
    case .ramp(isUp: true): "Montez la rampe jusqu'au niveau {level}"
    case .ramp(isUp: false): "Descendez la rampe jusqu'au niveau {level}"
    case .lift: "Prenez l'ascenseur jusqu'au niveau {level}"
    case .resume: "Continuez au niveau {level}"
    case .enter: "Entrez : {name}"
    case .enterBuilding: "Entrez dans le bâtiment"
    case .leave: "Quittez : {name}"
    case .door: "Passez la porte"
    case .namedDoor: "Passez par : {name}"
    case .arrive: "Vous êtes arrivé"
    case .arriveAt, .arriveBeside(.turnAround): "Vous êtes arrivé : {name}"
    case .arriveBeside(.straight): "Devant vous : {name}"
    case .arriveBeside(.left), .arriveBeside(.slightLeft), .arriveBeside(.sharpLeft):
      "Sur votre gauche : {name}"
    case .arriveBeside(.right), .arriveBeside(.slightRight), .arriveBeside(.sharpRight):
      "Sur votre droite : {name}"
    }
  }
}
