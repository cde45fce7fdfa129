import tldts from 'tldts/package.json' with { type: 'json' }

/** The Public Suffix List of this process, from the installed `tldts`; `npm update tldts` updates it. */
export interface SuffixList {
  /** The version of `tldts`. */
  readonly version: string
  /**
   * When this version was published, such as `2026-11-15`; `null` for a version that this release of the package does
   * not know.
   */
  readonly published: string | null
}

/**
 * The list that this release of the package knows, because `tldts` does not have the date of its list. A test fails if
 * another version is installed in this repository.
 */
export const knownSuffixList = { version: '7.6.0', published: '2026-11-25' } as const satisfies SuffixList

/**
 * The Public Suffix List that this process uses for every response. Show its date to the operator: a top-level domain
 * that is newer than the list is rejected as `internal_domain`.
 *
 * @example
 * suffixList // { version: '7.6.0', published: '2026-11-25' }
 */
export const suffixList: SuffixList = {
  version: tldts.version,
  published: tldts.version === knownSuffixList.version ? knownSuffixList.published : null,
}
