const MAX_QUOTED = 60

/** Everything that does not show as itself: controls, formats (bidi marks, zero widths), lone surrogates, odd spaces. */
const unprintable = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/**
 * Quotes a caller's text for a message: cut to {@link MAX_QUOTED} characters, and with every character that could
 * hide, reorder or break a line written as its code point. An ASCII space stays a space.
 */
export function quote(text: string): string {
  const cut = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED - 1)}…` : text
  const printable = cut.replace(unprintable, character =>
    character === ' ' ? character : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
  return `"${printable}"`
}
