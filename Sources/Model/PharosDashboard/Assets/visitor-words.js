// What the page of a venue says, in the languages of the directions, and how texts are compared in a search.

const english = {
  language: "Language",
  nearMe: "Near me",
  print: "Print",
  search: "Search",
  hint: "Name, category or description",
  found: (count) => (count === 1 ? "1 place found" : `${count} places found`),
  map: "Map",
  mapOf: (floor) => `Map of ${floor}`,
  floor: "Floor",
  directory: "Directory",
  directions: "Directions",
  from: "From",
  to: "To",
  stepFree: "Without steps",
  go: "Show the way",
  way: (metres, minutes) => `${metres} m, about ${minutes} min`,
  open: "More about it",
  picture: "Picture",
  noSteps: "not step-free",
  entrance: "Entrance",
  other: "Other places",
  offline: "There is no connection. Ways that were shown before are still here; others need the network.",
  unknown: "There is no such way.",
  gone: "This page is not available.",
  categories: {
    restroom: "Restrooms",
    foodservice: "Food and drink",
    shopping: "Shops",
    elevator: "Lifts",
    exhibit: "Exhibits",
    information: "Information",
  },
};

const german = {
  language: "Sprache",
  nearMe: "In meiner Nähe",
  print: "Drucken",
  search: "Suche",
  hint: "Name, Art oder Beschreibung",
  found: (count) => (count === 1 ? "1 Ort gefunden" : `${count} Orte gefunden`),
  map: "Karte",
  mapOf: (floor) => `Karte von ${floor}`,
  floor: "Ebene",
  directory: "Verzeichnis",
  directions: "Wegbeschreibung",
  from: "Von",
  to: "Nach",
  stepFree: "Ohne Stufen",
  go: "Weg zeigen",
  way: (metres, minutes) => `${metres} m, etwa ${minutes} min`,
  open: "Mehr darüber",
  picture: "Bild",
  noSteps: "nicht stufenlos",
  entrance: "Eingang",
  other: "Weitere Orte",
  offline: "Keine Verbindung. Wege, die schon gezeigt wurden, sind noch da; andere brauchen das Netz.",
  unknown: "Diesen Weg gibt es nicht.",
  gone: "Diese Seite ist nicht verfügbar.",
  categories: {
    restroom: "Toiletten",
    foodservice: "Essen und Trinken",
    shopping: "Geschäfte",
    elevator: "Aufzüge",
    exhibit: "Exponate",
    information: "Information",
  },
};

const french = {
  language: "Langue",
  nearMe: "Près de moi",
  print: "Imprimer",
  search: "Recherche",
  hint: "Nom, catégorie ou description",
  found: (count) => (count === 1 ? "1 lieu trouvé" : `${count} lieux trouvés`),
  map: "Plan",
  mapOf: (floor) => `Plan : ${floor}`,
  floor: "Étage",
  directory: "Répertoire",
  directions: "Itinéraire",
  from: "De",
  to: "À",
  stepFree: "Sans marches",
  go: "Montrer le chemin",
  way: (metres, minutes) => `${metres} m, environ ${minutes} min`,
  open: "En savoir plus",
  picture: "Image",
  noSteps: "avec marches",
  entrance: "Entrée",
  other: "Autres lieux",
  offline: "Pas de connexion. Les chemins déjà montrés restent là ; les autres demandent le réseau.",
  unknown: "Ce chemin n’existe pas.",
  gone: "Cette page n’est pas disponible.",
  categories: {
    restroom: "Toilettes",
    foodservice: "Restauration",
    shopping: "Boutiques",
    elevator: "Ascenseurs",
    exhibit: "Œuvres",
    information: "Information",
  },
};

/** The words by language. */
export const words = { en: english, de: german, fr: french };
/** The names of the languages, each in itself. */
export const languages = { en: "English", de: "Deutsch", fr: "Français" };

const ligatures = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i", ς: "σ" };

/** The words of a text as a search compares them: in lower case, without accents. */
export function folded(text) {
  const plain = text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  return plain.replace(/[ßæœøłđðþıς]/gu, (letter) => ligatures[letter]).match(/[\p{L}\p{N}]+/gu) ?? [];
}
