/**
 * Generates `tables.ts`. Run it with `npm run make:tables`. The sources are the Unicode Character Database (the
 * development dependency `@unicode/unicode-*`) and the mapping table of UTS #46 (in `tr46`). The two sources must be
 * for the same version of Unicode. `code-point-runs.ts` reads the tables, and `characters.ts` defines their kinds.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

/** The version that this script supports. To support a newer version, also update the date and {@link newlyMapped}. */
const VERSION = '17.0.0'
const RELEASED = '2025-09-09'

const require = createRequire(import.meta.url)
const { devDependencies } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
const installed = Object.keys(devDependencies).filter(name => name.startsWith('@unicode/unicode-'))
const versions = [
  ...installed.map(name => name.replace('@unicode/unicode-', '')),
  require('tr46/package.json').unicodeVersion,
]
if (installed.length !== 1 || versions.some(version => version !== VERSION)) {
  throw new Error(
    `This script supports Unicode ${VERSION}, but the installed packages are ${installed}, and tr46, ` +
      `which uses Unicode ${versions.at(-1)}`,
  )
}

const { STATUS_MAPPING } = require('tr46/lib/statusMapping.js')
const { combiningClassVirama } = require('tr46/lib/regexes.js')

/** Mapped characters that a runtime may not know yet: those added in Unicode 16 or later (DerivedAge.txt). */
const newlyMapped = new Set(
  [
    [0x1c89, 0x1c89],
    [0xa7cb, 0xa7cc],
    [0xa7ce, 0xa7ce],
    [0xa7d2, 0xa7d2],
    [0xa7d4, 0xa7d4],
    [0xa7da, 0xa7da],
    [0xa7dc, 0xa7dc],
    [0xa7f1, 0xa7f1],
    [0x10d50, 0x10d65],
    [0x16ea0, 0x16eb8],
    [0x1ccd6, 0x1ccf9],
  ].flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index)),
)

/** Characters that RFC 5892 allows under conditions, and U+0F0B, which it always allows. */
const contextual = [0xb7, 0x375, 0x5f3, 0x5f4, 0xf0b, 0x30fb]

/** The needed parts of UTS #39, from a file of this repository, because no package contains them. */
const uts39 = JSON.parse(readFileSync(new URL('../../../test/vectors/uts39.json', import.meta.url), 'utf8'))
if (uts39.version !== VERSION) throw new Error(`test/vectors/uts39.json has Unicode ${uts39.version}`)

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

/** @param {...string} properties */
async function readCodePoints(...properties) {
  const sets = await Promise.all(properties.map(property => import(`${installed[0]}/${property}/code-points.mjs`)))
  return new Set(sets.flatMap(({ default: codePoints }) => codePoints))
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
 * Characters that may be shown and look like an ASCII string. A Latin letter is listed only if it looks like a single
 * letter: nobody mistakes `æ` for `ae`.
 */
function listLookAlikes(shownScriptOf) {
  const isLookAlike = (codePoint, shown) => shownScriptOf(codePoint) !== 'L' || /^[a-z]$/.test(shown)
  const lookAlikes = uts39.lookAlikes
    .map(([hex, shown]) => [Number.parseInt(hex, 16), shown])
    .filter(([codePoint, shown]) => shownScriptOf(codePoint) && isLookAlike(codePoint, shown))
  return new Set(lookAlikes.map(([codePoint]) => codePoint))
}

function toPunctuationKind(kind, codePoint) {
  const punctuationKind = punctuationKinds[kind]
  if (!punctuationKind) throw new Error(`U+${codePoint.toString(16)} is punctuation of a new kind, ${kind}`)
  return punctuationKind
}

/** Joins alternating capital and small letters into one run, of kind `P`. */
const joinPairs = table => table.replace(/(?:XL(?![0-9a-z])){2,}/g, pairs => `P${(pairs.length - 1).toString(36)}`)

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
 * the first`.
 */
function listMappings() {
  const fold = character => character.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
  const runs = []
  for (const { codePoint, status, mapping = '' } of uts46) {
    if (status !== STATUS_MAPPING.mapped) continue
    if (fold(String.fromCodePoint(codePoint)) === mapping && !newlyMapped.has(codePoint)) continue
    const to = mapping.codePointAt(0)
    if (mapping !== String.fromCodePoint(to)) throw new Error(`U+${codePoint.toString(16)} is mapped to ${mapping}`)
    const run = runs.at(-1)
    if (run && run.last === codePoint - 1 && to - codePoint === run.to - run.first) run.last = codePoint
    else runs.push({ first: codePoint, last: codePoint, to })
  }
  const hex = number => number.toString(16)
  return runs.map(({ first, last, to }) => `${hex(first)}${last === first ? '' : `-${hex(last)}`}:${hex(to)}`).join(' ')
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
  const lookAlikes = listLookAlikes(shownScriptOf)
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
    toConstant('unicode', 'The version of the Unicode Character Database and of UTS #46.', `${VERSION} (${RELEASED})`),
    toConstant(
      'nameCharacters',
      'The characters that a name may contain, with their kinds from `characters.ts`.',
      joinPairs(toRuns(kindOf)),
    ),
    toConstant('ownMappings', 'The mappings of UTS #46 that differ from the rule in `mapping.ts`.', listMappings()),
    toConstant(
      'joiningTypes',
      'Characters of Joining_Type D, L, R or T. Nonspacing marks all have type T, and are left out.',
      toRuns(joiningTypeOf, isJoining),
    ),
    toConstant('scripts', 'Script=Greek (G), Hebrew (H), and Hiragana, Katakana or Han (K).', toRuns(scriptOf, isKept)),
    toConstant(
      'shownScripts',
      'The script of each character that may be shown (UTS #39), as a letter from the list in `make-tables.mjs`.',
      toRuns(shownScriptOf, isKept),
    ),
    toConstant(
      'lookAlikes',
      'The characters that are shown and confusable with ASCII (UTS #39).',
      toRuns(codePoint => (lookAlikes.has(codePoint) ? 'Y' : ''), shownScriptOf),
    ),
    toConstant(
      'invisible',
      'Characters that are invisible or could be mistaken for others: Cc, Cf, Cs, Co, Z, Default_Ignorable_Code_Point.',
      toRuns(codePoint => (hidden.has(codePoint) || ignorable.has(codePoint) ? 'Y' : '')),
    ),
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(new URL('tables.ts', import.meta.url), await makeTables())
}
