/**
 * Generates `src/hostname/idna/tables.ts`. Run it with `npm run make:tables`. `code-point-runs.ts` reads the tables, and
 * `characters.ts` defines their kinds. The sources are packages that `package.json` beside this file names: the Unicode
 * Character Database (`@unicode/unicode-*`), the mapping table of UTS #46 (`tr46`), both of the same version of Unicode,
 * and the usual script of each country (`cldr-core`). UTS #39 is in no package, so a file of this repository has it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const require = createRequire(import.meta.url)

/** The version of the tables. */
const VERSION = require('tr46/package.json').unicodeVersion
/** The oldest version of Unicode that a supported runtime may have: of Node 20.19. */
const OLDEST = '15.1.0'

const tables = new URL('../src/hostname/idna/tables.ts', import.meta.url)

const { STATUS_MAPPING } = require('tr46/lib/statusMapping.js')
const { combiningClassVirama } = require('tr46/lib/regexes.js')

/** Characters that RFC 5892 allows under conditions, and U+0F0B, which it always allows. */
const contextual = [0xb7, 0x375, 0x5f3, 0x5f4, 0xf0b, 0x30fb]

/** The needed parts of UTS #39, which may be of an older version of Unicode: newer characters are not shown. */
const uts39 = JSON.parse(readFileSync(new URL('../test/vectors/uts39.json', import.meta.url), 'utf8'))

/**
 * The scripts that UAX #31, table 5, recommends for identifiers, each with its letter. Only these scripts may be shown.
 * Thaana and Tibetan are omitted, because the other scripts use up the letters. Hiragana and Katakana share a letter,
 * because they are always used together.
 */
const shownScripts = [
  ...['Arabic:A', 'Bengali:B', 'Cyrillic:C', 'Devanagari:D', 'Ethiopic:E', 'Armenian:F', 'Greek:G', 'Han:H'],
  ...['Georgian:I', 'Gujarati:J', 'Hiragana:K', 'Katakana:K', 'Latin:L', 'Malayalam:M', 'Kannada:N', 'Oriya:O'],
  ...['Bopomofo:P', 'Gurmukhi:Q', 'Hangul:R', 'Sinhala:S', 'Tamil:T', 'Telugu:U', 'Khmer:V', 'Hebrew:W'],
  ...['Lao:X', 'Myanmar:Y', 'Thai:Z'],
]

/** The status and the mapping of each code point in UTS #46. */
const uts46 = require('tr46/lib/mappingTable.json').flatMap(([range, status, mapping]) => {
  const [first, last] = typeof range === 'number' ? [range, range] : range
  return Array.from({ length: last - first + 1 }, (_, index) => ({ codePoint: first + index, status, mapping }))
})

const readProperty = async (version, property) =>
  (await import(`@unicode/unicode-${version}/${property}/code-points.mjs`)).default

/** @param {...string} properties */
async function readCodePoints(...properties) {
  const sets = await Promise.all(properties.map(property => readProperty(VERSION, property)))
  return new Set(sets.flat())
}

const categories = (...names) => readCodePoints(...names.map(name => `General_Category/${name}`))

/** @param rows `[property, kind]`. A code point gets the kind of the first row whose property it has. */
async function createKinds(...rows) {
  const sets = await Promise.all(rows.map(async ([property, kind]) => [await readCodePoints(property), kind]))
  return codePoint => sets.find(([codePoints]) => codePoints.has(codePoint))?.[1] ?? ''
}

/** Characters that UTS #46 allows but IDNA2008 disallows, except the hyphen, emoji and their skin tones. */
async function readPunctuation() {
  const punctuation = await categories('Punctuation', 'Math_Symbol', 'Currency_Symbol', 'Modifier_Symbol')
  for (const codePoint of [0x2d, ...contextual, ...(await readCodePoints('Binary_Property/Emoji'))]) {
    punctuation.delete(codePoint)
  }
  return punctuation
}

/** The kinds of punctuation. The key is the kind that the character would have if it were not punctuation. */
const punctuationKinds = { L: 'B', N: 'Q', R: 'H', A: 'G' }

async function createKindOf() {
  const punctuation = await readPunctuation()
  const marks = await categories('Mark')
  const directionOf = await createKinds(
    ['Bidi_Class/Left_To_Right', 'L'],
    ['Bidi_Class/Right_To_Left', 'R'],
    ['Bidi_Class/Arabic_Letter', 'R'],
    ['Bidi_Class/Arabic_Number', 'A'],
    ['Bidi_Class/European_Number', 'E'],
  )
  const byCodePoint = new Map(uts46.map(entry => [entry.codePoint, entry]))
  const isAllowed = codePoint => {
    if (codePoint < 0x80) return /[a-z0-9-]/.test(String.fromCodePoint(codePoint))
    return [STATUS_MAPPING.valid, STATUS_MAPPING.deviation].includes(byCodePoint.get(codePoint)?.status)
  }
  const isDotOrAllowed = part => part === '.' || isAllowed(part.codePointAt(0))
  return codePoint => {
    const { status, mapping = '' } = byCodePoint.get(codePoint) ?? {}
    if (status === STATUS_MAPPING.ignored) return 'I'
    if (status === STATUS_MAPPING.mapped) return Array.from(mapping).every(isDotOrAllowed) ? 'X' : ''
    if (!isAllowed(codePoint)) return ''
    if (codePoint === 0x200c || codePoint === 0x200d) return 'J'
    const direction = directionOf(codePoint)
    if (punctuation.has(codePoint)) return toPunctuationKind(direction || 'N', codePoint)
    if (!marks.has(codePoint)) return direction || 'N'
    const isSpacing = direction === 'L'
    if (combiningClassVirama.test(String.fromCodePoint(codePoint))) return isSpacing ? 'W' : 'V'
    return isSpacing ? 'M' : 'S'
  }
}

/** @returns A function that returns the letter of a code point's script, if the character may be shown (UTS #39). */
async function createShownScriptOf(isKept) {
  const allowed = new Set(
    uts39.allowed
      .flatMap(line => line.split(' '))
      .flatMap(range => {
        const [first, last = first] = range.split('-').map(digits => Number.parseInt(digits, 16))
        return Array.from({ length: last - first + 1 }, (_, index) => first + index)
      }),
  )
  const scriptOf = await createKinds(
    ...shownScripts.map(each => each.split(':')).map(([name, kind]) => [`Script/${name}`, kind]),
  )
  return codePoint => {
    // The mark of a long vowel is used with both kinds of Kana.
    if (codePoint === 0x30fc) return 'K'
    const script = isKept(codePoint) ? scriptOf(codePoint) : ''
    // Chinese characters are shown regardless of their status, which only separates rare ones from common ones. A table
    // of the status of each Chinese character would be as long as all other tables together.
    return script === 'H' || allowed.has(codePoint) ? script : ''
  }
}

/**
 * Letters that read as l, s, u and w in common fonts, but are missing from Unicode's data: `հսլս` as hulu, `พรบ` as wsu.
 * Chromium hides such names as well (`idn_spoof_checker.cc`).
 */
const readAsAscii = Array.from('լรบพ', letter => letter.codePointAt(0))

/**
 * Characters that may be shown and look like an ASCII string, including the digits of all scripts. For the Greek and the
 * Cyrillic k, which look like U+0138, the file has that letter. A Latin letter is listed only if it looks like a single
 * letter: nobody mistakes `æ` for `ae`. The Turkish `ı` is not listed: everyday words such as `kadın` need it, and
 * browsers show it.
 */
async function listLookAlikes(shownScriptOf) {
  const isLookAlike = (codePoint, shown) =>
    codePoint !== 0x131 && (shownScriptOf(codePoint) !== 'L' || /^[a-z]$/.test(shown))
  const lookAlikes = uts39.lookAlikes
    .map(([hex, shown]) => [Number.parseInt(hex, 16), shown])
    .filter(([codePoint, shown]) => isLookAlike(codePoint, shown))
    .map(([codePoint]) => codePoint)
  const digits = await categories('Decimal_Number')
  return new Set(
    [...lookAlikes, ...readAsAscii, ...digits].filter(codePoint => codePoint > 0x7f && shownScriptOf(codePoint)),
  )
}

/** The letters of the scripts in which a country's languages are written, by the code of that script in CLDR. */
const scriptsOfCountries = {
  ...{ Arab: 'A', Armn: 'F', Beng: 'B', Cyrl: 'C', Deva: 'D', Ethi: 'E', Geor: 'I', Grek: 'G', Hebr: 'W' },
  ...{ Hans: 'HP', Hant: 'HP', Jpan: 'HK', Khmr: 'V', Kore: 'HR', Laoo: 'X', Mymr: 'Y', Sinh: 'S', Thai: 'Z' },
}

/** Lists the top-level domains of countries with such a script, each as `ru:C`. */
function listTopLevelScripts() {
  const { likelySubtags } = require('cldr-core/supplemental/likelySubtags.json').supplemental
  return Object.entries(likelySubtags)
    .map(([from, to]) => [/^und-([A-Z]{2})$/.exec(from)?.[1], scriptsOfCountries[to.split('-')[1]]])
    .filter(([country, scripts]) => country && scripts)
    .map(([country, scripts]) => `${country.toLowerCase()}:${scripts}`)
    .sort()
    .join(' ')
}

function toPunctuationKind(kind, codePoint) {
  const punctuationKind = punctuationKinds[kind]
  if (!punctuationKind) throw new Error(`U+${codePoint.toString(16)} is punctuation of a new kind, ${kind}`)
  return punctuationKind
}

/** Joins alternating capital and small letters of the basic plane into one run, of kind `P`. */
function joinPairs(table) {
  let next = 0
  return table.replace(/((?:XL(?![0-9a-z])){2,})|[A-Z_]([0-9a-z]*)/g, (run, pairs, more) => {
    next += pairs ? pairs.length : 1 + (more ? Number.parseInt(more, 36) : 0)
    return pairs && next <= 0x10000 ? `P${(pairs.length - 1).toString(36)}` : run
  })
}

/**
 * @param isAsked Returns whether the kind of a code point is ever read. A run may extend over a code point whose kind
 *   is never read.
 */
function toRuns(kindOf, isAsked = () => true) {
  const runs = []
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += 1) {
    const run = runs.at(-1)
    const kind = isAsked(codePoint) ? kindOf(codePoint) || '_' : (run?.kind ?? '_')
    if (run?.kind === kind) run.length += 1
    else runs.push({ kind, length: 1 })
  }
  if (runs.at(-1)?.kind === '_') runs.pop()
  return runs.map(({ kind, length }) => kind + (length === 1 ? '' : (length - 1).toString(36))).join('')
}

/**
 * Lists the mappings that the rule in `mapping.ts` does not produce on every runtime, each as `first-last:mapping of
 * the first`, or as `character:mapping+mapping`. A runtime may not know the characters of newer versions of Unicode.
 */
async function listMappings() {
  const fold = character => character.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
  const unknown = new Set(await readProperty(OLDEST, 'General_Category/Unassigned'))
  const hex = character => character.codePointAt(0).toString(16)
  const runs = []
  for (const { codePoint, status, mapping = '' } of uts46) {
    if (status !== STATUS_MAPPING.mapped) continue
    if (fold(String.fromCodePoint(codePoint)) === mapping && !unknown.has(codePoint)) continue
    const [first, ...more] = mapping
    const run = runs.at(-1)
    const isNext = run && run.last === codePoint - 1 && first.codePointAt(0) - codePoint === run.distance
    if (isNext && more.length === 0) run.last = codePoint
    else {
      // Nothing can continue a run whose mapping has several characters.
      const distance = more.length === 0 ? first.codePointAt(0) - codePoint : undefined
      runs.push({ first: codePoint, last: codePoint, distance, to: Array.from(mapping, hex).join('+') })
    }
  }
  return runs
    .map(({ first, last, to }) => `${first.toString(16)}${last === first ? '' : `-${last.toString(16)}`}:${to}`)
    .join(' ')
}

/** Returns a TypeScript constant, broken into lines of at most 120 columns. */
function toConstant(name, comment, table) {
  const lines = table.match(/.{1,112}/g).map(line => `'${line}'`)
  // A table stays on the first line only if it is ASCII, because the formatter counts some other characters twice.
  const fitsBeside = lines.length === 1 && /^[ -~]*$/.test(table)
  const text = fitsBeside ? ` ${lines}` : `\n  ${lines.join(' +\n  ')}`
  return `/** ${comment} */\nexport const ${name} =${text}\n`
}

/** @returns {Promise<string>} The text of `tables.ts`. */
export async function makeTables() {
  const kindOf = await createKindOf()
  const isKept = codePoint => !['', 'X', 'I'].includes(kindOf(codePoint))
  const scriptOf = await createKinds(
    ['Script/Greek', 'G'],
    ['Script/Hebrew', 'H'],
    ['Script/Hiragana', 'K'],
    ['Script/Katakana', 'K'],
    ['Script/Han', 'K'],
  )
  const shownScriptOf = await createShownScriptOf(isKept)
  const lookAlikes = await listLookAlikes(shownScriptOf)
  const joiningTypeOf = await createKinds(
    ['Joining_Type/Dual_Joining', 'D'],
    ['Joining_Type/Left_Joining', 'L'],
    ['Joining_Type/Right_Joining', 'R'],
    ['Joining_Type/Transparent', 'T'],
  )
  const isJoining = codePoint => isKept(codePoint) && !'SV'.includes(kindOf(codePoint))
  const hidden = await categories('Control', 'Format', 'Surrogate', 'Private_Use', 'Separator')
  const ignorable = await readCodePoints('Binary_Property/Default_Ignorable_Code_Point')
  return [
    '/** Generated by `npm run make:tables` in the repository. Do not edit. */\n',
    toConstant('unicode', 'The version of the Unicode Character Database and of UTS #46.', VERSION),
    toConstant(
      'nameCharacters',
      'The characters that a name may contain, with their kinds from `characters.ts`.',
      joinPairs(toRuns(kindOf)),
    ),
    toConstant(
      'ownMappings',
      'The mappings of UTS #46 that differ from the rule in `mapping.ts`.',
      await listMappings(),
    ),
    toConstant(
      'joiningTypes',
      'Characters of Joining_Type D, L, R or T. Nonspacing marks all have type T, and are left out.',
      toRuns(joiningTypeOf, isJoining),
    ),
    toConstant('scripts', 'Script=Greek (G), Hebrew (H), and Hiragana, Katakana or Han (K).', toRuns(scriptOf, isKept)),
    toConstant(
      'shownScripts',
      `The script of each character that may be shown (UTS #39, Unicode ${uts39.version}), by the list in \`make-tables.mjs\`.`,
      toRuns(shownScriptOf, isKept),
    ),
    toConstant(
      'lookAlikes',
      `The characters that are shown and confusable with ASCII (UTS #39, Unicode ${uts39.version}), and digits.`,
      toRuns(codePoint => (lookAlikes.has(codePoint) ? 'Y' : ''), shownScriptOf),
    ),
    toConstant(
      'topLevelScripts',
      'The scripts in which the languages of a country are usually written (CLDR), by its top-level domain.',
      listTopLevelScripts(),
    ),
    toConstant(
      'invisible',
      'Characters that are invisible or could be mistaken for others: Cc, Cf, Cs, Co, Z, Default_Ignorable_Code_Point.',
      toRuns(codePoint => (hidden.has(codePoint) || ignorable.has(codePoint) ? 'Y' : '')),
    ),
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(tables, await makeTables())
}
