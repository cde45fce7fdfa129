/**
 * Explains rejected hostnames in German: `npx tsx examples/messages-in-german.ts`. There is a text for each `reason`,
 * which `classifyHostname` and previews return in addition to `code`. The compiler checks that no reason is missing. At
 * run time, a newer, unknown reason gets the English message.
 */
import {
  classifyHostname,
  type HostnameDetails,
  type HostnameReason,
  type HostnameRejection,
  type InvalidCode,
  type InvalidHostname,
} from 'domain-registration'

type Sentence = string | ((details: HostnameDetails) => string)

/** Reasons that only a preview returns: the name overlaps with a registration. */
type ConflictReason = Exclude<InvalidCode, HostnameRejection | 'internal_error'>

/** Each text completes a sentence that begins with the quoted input. */
export const german: Readonly<Record<HostnameReason | ConflictReason, Sentence>> = {
  not_a_string: 'ist kein Text',
  empty: 'ist leer',
  name_too_long: 'ist zu lang; ein Hostname hat höchstens 253 Zeichen',
  label_too_long: ({ label }) => `hat einen Teil mit mehr als 63 Zeichen: „${label}“`,
  empty_label: 'hat zwei Punkte hintereinander oder einen am Anfang',
  outer_hyphen: ({ label }) => `hat einen Teil, der mit einem Bindestrich beginnt oder endet: „${label}“`,
  bidi: ({ label }) => `verletzt die Regel für Namen von rechts nach links (RFC 5893): „${label}“`,
  combining_mark_first: ({ label }) => `hat einen Teil, der mit einem kombinierenden Zeichen beginnt: „${label}“`,
  not_an_a_label: ({ label }) => `hat einen Teil, der mit „xn--“ beginnt und kein A-Label ist: „${label}“`,
  ignored_characters: 'hat einen Teil aus lauter Zeichen, die nicht zählen',
  character: ({ character }) => `enthält ${name(character)}, das kein Hostname hat`,
  punctuation: ({ character }) => `enthält ${name(character)}, das nur in einem A-Label erlaubt ist`,
  misplaced_character: ({ character }) => `enthält ${name(character)}, das nur neben bestimmten anderen stehen darf`,
  invisible_character: ({ character }) => `enthält ${name(character)}, das unsichtbar ist`,
  typographic_quote: ({ character }) => `enthält das Anführungszeichen ${name(character)}`,
  typographic_dash: ({ character }) => `enthält den Gedankenstrich ${name(character)}`,
  star_character: ({ character }) => `beginnt mit ${character ? name(character) : 'einem Code'} statt mit „*“`,
  dot_character: ({ character }) => `enthält ${name(character)} statt eines Punktes`,
  wildcard_dot: ({ character }) => `hat nach „*“ ${name(character)} statt eines Punktes`,
  underscore: 'enthält einen Unterstrich, den das DNS kennt, ein Hostname aber nicht haben darf',
  record_name: 'hat einen Teil, der mit einem Unterstrich beginnt, wie die Namen von DNS-Einträgen',
  percent_sign: 'enthält ein „%“; prozentkodierte Zeichen werden nicht umgewandelt',
  space: 'enthält ein Leerzeichen',
  space_beside_dot: 'enthält ein Leerzeichen neben einem Punkt',
  separator: 'enthält ein Trennzeichen',
  misplaced_star: 'enthält ein „*“, das nicht allein am Anfang steht',
  wildcard_alone: 'ist ein Platzhalter ohne Namen, gemeint ist etwa „*.example.com“',
  wildcard_too_long: 'ist so lang, dass kein Name darunter passt',
  wildcard_over_address: 'ist ein Platzhalter über IP-Adressen, unter denen es keine Namen gibt',
  url: 'ist eine URL und kein Hostname',
  at_sign: 'enthält ein „@“, wie eine E-Mail-Adresse',
  port: 'enthält einen Port',
  path: 'enthält einen Pfad',
  query: 'enthält eine Abfrage',
  fragment: 'enthält ein Fragment',
  trailing_colon: 'endet mit einem Doppelpunkt',
  trailing_punctuation: 'endet mit einem Satzzeichen',
  leading_separator: 'beginnt mit einem Trennzeichen',
  shortened: 'ist offenbar gekürzt; gebraucht wird der ganze Name',
  equals_sign: 'beginnt mit „=“',
  quote_or_bracket: 'hat ein Anführungszeichen oder eine Klammer am Anfang oder Ende',
  list_item: 'beginnt wie eine Aufzählung oder ein Kommentar',
  bullet: 'beginnt mit einem Aufzählungspunkt',
  remark: 'hat eine Bemerkung hinter dem Namen',
  field_name: 'beginnt mit dem Namen eines Feldes',
  defanged: 'ist so geschrieben, dass es kein Link ist',
  regular_expression: 'hat einen Rückstrich vor einem Punkt, wie ein regulärer Ausdruck',
  markdown_link: 'ist ein Link in Markdown',
  html_reference: 'enthält eine Zeichenreferenz von HTML, die nicht umgewandelt wird',
  json_object: 'ist ein JSON-Objekt',
  written_object: 'ist das, was JavaScript für ein Objekt schreibt',
  command: 'ist ein Befehl mit einer URL',
  hosts_file_line: 'ist eine Zeile einer hosts-Datei; gebraucht werden nur ihre Namen, jeder für sich',
  zone_file_line: 'ist eine Zeile einer Zonendatei; gebraucht werden nur ihre Namen, jeder für sich',
  setting: 'sieht aus wie eine Einstellung; gebraucht wird nur der Hostname darin',
  ad_blocker_rule: 'ist eine Regel eines Werbeblockers',
  several_hostnames: 'enthält mehrere Hostnamen; jeder braucht einen eigenen Eintrag',
  address_spelling: ({ address }) => `ist eine ungewöhnliche Schreibweise der IP-Adresse ${address}`,
  incomplete_address: 'hat weniger als die vier Zahlen einer IPv4-Adresse',
  reserved_address: ({ address }) => `ist die IP-Adresse ${address}, die keinem öffentlichen Server gehört`,
  address_prefix: 'ist das Präfix einer einzigen IP-Adresse',
  address_range: 'steht für mehrere IP-Adressen; jede braucht einen eigenen Eintrag',
  prefix_too_long: ({ length }) => `hat eine Präfixlänge von ${length}, mehr als die Adresse Bits hat`,
  address_with_dot: 'ist eine IPv6-Adresse mit einem Punkt dahinter',
  not_an_ipv6_address: 'enthält Doppelpunkte und ist keine IPv6-Adresse',
  numeric_top_level: 'endet mit einer Zahl und ist keine IP-Adresse',
  single_label: 'ist ein lokaler Name, gebraucht wird ein ganzer wie „www.example.com“',
  missing_value: 'ist das, was Programme schreiben, wenn ein Wert fehlt',
  reserved_name: ({ source }) => `ist reserviert und kein Name eines öffentlichen Servers (${source})`,
  reverse_dns_name: ({ address }) => `ist der Name der IP-Adresse ${address} für die Rückwärtssuche`,
  unknown_top_level: ({ topLevel }) => `endet mit „.${topLevel}“, was dieser Server nicht als Top-Level-Domain kennt`,
  public_suffix: 'ist ein öffentliches Suffix, unter dem die Namen vielen gehören',
  wildcard_over_public_suffix: ({ suffix }) => `ist ein Platzhalter über dem öffentlichen Suffix „${suffix}“`,
  wildcard_conflict: 'ist schon von einem Platzhalter abgedeckt, den dieses Team registriert hat',
  subdomain_conflict: 'würde Namen abdecken, die dieses Team registriert hat',
  domain_already_licensed: 'ist von jemand anderem registriert oder überschneidet sich mit so einem Namen',
}

/** Shows invisible characters as their code points. */
function name(character = ''): string {
  const codePoint = character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')
  return /[\p{C}\p{Z}\p{M}]/u.test(character) ? `U+${codePoint}` : `„${character}“ (U+${codePoint})`
}

/** The message contains `input` unchanged, so escape the message where you show it, such as in HTML. */
export function explainInGerman(input: string, refused: InvalidHostname): string {
  const sentence = (german as Partial<typeof german>)[refused.reason]
  if (sentence === undefined) return refused.message
  const problem = typeof sentence === 'string' ? sentence : sentence(refused)
  const suggestion = refused.suggestion === undefined ? '' : ` Gemeint ist wohl „${refused.suggestion}“.`
  const rest = refused.rest === undefined ? undefined : classifyHostname(refused.rest)
  const more = refused.rest === undefined || rest?.valid !== false ? '' : ` ${explainInGerman(refused.rest, rest)}`
  return `„${input}“ ${problem}.${suggestion}${more}`
}

for (const input of process.argv.slice(2)) {
  const hostname = classifyHostname(input)
  console.log(hostname.valid ? hostname.domain : explainInGerman(input, hostname))
}
