/** A mistake in a text that is no hostname. */
export interface Mistake {
  /** Continues a sentence that begins with the quoted text. */
  readonly problem: string
  /** The text without the mistake, if the sender certainly meant that. It may have another mistake. */
  readonly meant?: string | undefined
}
