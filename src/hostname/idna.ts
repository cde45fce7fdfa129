import { encodeULabels, isAscii } from './a-labels.ts'
import { kindOf, kinds } from './characters.ts'
import { findOutOfContext } from './idna-2008.ts'
import { isLdhName } from './ldh-name.ts'
import { toULabels } from './uts46.ts'

/** A dot in every spelling of UTS #46. */
export const dots = /[.\u3002\uff0e\uff61]/

/**
 * Maps a name to its A-labels by UTS #46 and IDNA2008. It uses tables of one version of Unicode, so that the answer
 * does not depend on the runtime.
 *
 * @returns `null` for a name that is not allowed.
 */
export function toALabels(name: string): string | null {
  const unicode = toULabels(name)
  const mapped = unicode === null ? null : encodeULabels(unicode)
  return mapped !== null && isLdhName(mapped) ? mapped : null
}

/**
 * Finds the submitted character for which a name is not allowed. Returns `undefined` if no single one is the reason.
 */
export function findRefusedCharacter(name: string): string | undefined {
  const refused = Array.from(name).find(
    character => !isAscii(character) && kindOf(character.codePointAt(0) as number) === kinds.REFUSED,
  )
  return refused ?? findOutOfContext(name)
}
