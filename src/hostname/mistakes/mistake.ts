/**
 * Why an input cannot be registered as a hostname: one stable word for each rule and for each mistake that is
 * recognized. Within a major version, a word keeps its meaning, and new words may be added. `docs/reasons-list.md`
 * lists them all, with their additional fields.
 */
export type HostnameReason = ListedReason | NotationReason | CharacterReason | LabelReason

/** The input is a hostname or could be one, but a list or a maximum length excludes it. */
type ListedReason =
  | 'not_a_string'
  | 'empty'
  | 'name_too_long'
  | 'public_suffix'
  | 'wildcard_over_public_suffix'
  | 'reserved_name'
  | 'reverse_dns_name'
  | 'single_label'
  | 'missing_value'
  | 'unknown_top_level'
  | 'numeric_top_level'
  | 'reserved_address'
  | 'address_spelling'
  | 'incomplete_address'
  | 'wildcard_over_address'
  | 'wildcard_too_long'

/** The input is a hostname or an address in another notation, or with something else around it. */
type NotationReason =
  | 'address_prefix'
  | 'address_range'
  | 'prefix_too_long'
  | 'several_hostnames'
  | 'shortened'
  | 'hosts_file_line'
  | 'zone_file_line'
  | 'ad_blocker_rule'
  | 'setting'
  | 'command'
  | 'json_object'
  | 'written_object'
  | 'html_reference'
  | 'markdown_link'
  | 'list_item'
  | 'bullet'
  | 'remark'
  | 'equals_sign'
  | 'leading_separator'
  | 'trailing_punctuation'
  | 'quote_or_bracket'
  | 'field_name'
  | 'defanged'
  | 'url'
  | 'at_sign'
  | 'regular_expression'
  | 'port'
  | 'path'
  | 'query'
  | 'fragment'
  | 'address_with_dot'
  | 'trailing_colon'
  | 'not_an_ipv6_address'
  | 'record_name'

/** The input has a character that is not allowed, or not in that position. */
type CharacterReason =
  | 'invisible_character'
  | 'typographic_quote'
  | 'typographic_dash'
  | 'star_character'
  | 'dot_character'
  | 'space_beside_dot'
  | 'space'
  | 'separator'
  | 'wildcard_alone'
  | 'misplaced_star'
  | 'wildcard_dot'
  | 'underscore'
  | 'percent_sign'
  | 'character'
  | 'punctuation'
  | 'misplaced_character'

/** The input has a label that breaks a rule. */
type LabelReason =
  | 'empty_label'
  | 'ignored_characters'
  | 'outer_hyphen'
  | 'combining_mark_first'
  | 'bidi'
  | 'label_too_long'
  | 'not_an_a_label'

/** The details that differ between inputs with the same {@link HostnameReason}. */
export interface HostnameDetails {
  /** The invalid character as it was sent; in an A-label, the character that the label encodes. */
  readonly character?: string | undefined
  /** The invalid label as it was sent. */
  readonly label?: string | undefined
  /** The number of characters in the part that is too long, or of bits in a prefix. */
  readonly length?: number | undefined
  /** The top-level label, as it was sent. */
  readonly topLevel?: string | undefined
  /** The public suffix after the `*.` of a wildcard, as it was sent. */
  readonly suffix?: string | undefined
  /** The canonical form of the address that the input stands for. */
  readonly address?: string | undefined
  /** Why an address is not public, as an English phrase to follow "is": `in 127.0.0.0/8, Loopback (RFC 1122)`. */
  readonly block?: string | undefined
  /** The document or list with the rule that the input breaks: `RFC 6761`, `Public Suffix List of tldts 7.5.4`. */
  readonly source?: string | undefined
}

/** What to do if nothing in the input is a hostname. */
export const FULL_NAME = 'Enter a full name such as "www.example.com"'

/** A mistake in an input that is not a hostname. */
export interface Mistake {
  readonly reason: HostnameReason
  /** The rest of a sentence that begins with the quoted input. */
  readonly problem: string
  /** What to do, if it is not clear what was {@link meant}: a sentence without its full stop. */
  readonly advice?: string | undefined
  readonly details?: HostnameDetails | undefined
  /** The name or address that a well-formed one stands for. */
  readonly meant?: string | undefined
  /** Whether a person must confirm what was {@link meant}. */
  readonly isGuess?: boolean | undefined
  /** Whether the input is a line of a file, of which only the sender knows which names are meant. */
  readonly isLine?: boolean | undefined
}
