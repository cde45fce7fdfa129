import { kindOf, kinds } from './characters.ts'
import { ownMappings } from './tables.ts'

/**
 * Maps a character by UTS #46 (section 4, step 1): to itself, to another string, or to the empty string. Returns `null`
 * if the character is disallowed.
 */
export function mapCharacter(character: string): string | null {
  const kind = kindOf(character.codePointAt(0) as number)
  if (kind === kinds.DISALLOWED) return null
  if (kind === kinds.IGNORED) return ''
  return kind === kinds.MAPPED ? findMapping(character) : character
}

/** The mappings found so far, at most one for each character that UTS #46 maps. */
let mappings: Map<string, string> | undefined

/** Most mappings follow from Unicode's own foldings. The table contains all other mappings. */
function findMapping(character: string): string {
  mappings ??= readOwnMappings()
  const known = mappings.get(character)
  if (known !== undefined) return known
  const mapping = character.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
  mappings.set(character, mapping)
  return mapping
}

function readOwnMappings(): Map<string, string> {
  const own = new Map<string, string>()
  for (const run of ownMappings.split(' ')) {
    const [from = '', to = ''] = run.split(':')
    const [first = 0, last = first] = from.split('-').map(digits => Number.parseInt(digits, 16))
    const mapping = to.split('+').map(digits => Number.parseInt(digits, 16))
    for (let codePoint = first; codePoint <= last; codePoint += 1) {
      own.set(String.fromCodePoint(codePoint), String.fromCodePoint(...mapping.map(each => each + codePoint - first)))
    }
  }
  return own
}
