import type { CallError } from '../client/errors.ts'
import type { HostnameReason } from '../hostname/mistakes/mistake.ts'
import type { ConflictCode } from '../rules/submitted.ts'
import type { InvalidPreview } from '../wire/results.ts'

/** A sentence, or a function that makes it from the details of a rejected name. */
export type ReasonSentence = string | ((details: InvalidPreview) => string)

const digits = (count: number) => count.toLocaleString('en')
const names = (count: number) => `${digits(count)} ${count === 1 ? 'name' : 'names'}`

/**
 * For customers, who know neither suffix lists nor RFCs. Each stands below the name, and need not be a sentence.
 * Rarer mistakes are explained by the service's message.
 */
const reasons = {
  url: 'a web address; only the hostname in it is needed',
  path: 'has a path; only the hostname is needed',
  query: 'has a query; only the hostname is needed',
  fragment: 'has a fragment; only the hostname is needed',
  port: 'has a port; only the hostname is needed',
  trailing_colon: 'ends with a colon',
  trailing_punctuation: 'ends with a punctuation mark',
  leading_separator: 'begins with a separator',
  at_sign: 'looks like an e-mail address; only a hostname can be registered',
  quote_or_bracket: 'has quotes or brackets around it',
  list_item: 'begins like an item of a list',
  bullet: 'begins with a bullet',
  remark: 'has a remark behind the name',
  defanged: 'written so that it is no link',
  shortened: 'looks shortened; the whole name is needed',
  space: 'has a blank in it',
  space_beside_dot: 'has a blank beside a dot',
  separator: 'has a separator in it',
  several_hostnames: 'has several hostnames; each needs a row of its own',
  empty_label: 'has two dots in a row, or begins with one',
  outer_hyphen: 'has a part that begins or ends with a hyphen',
  underscore: 'has an underscore, which hostnames cannot have',
  record_name: 'the name of a DNS record, not of a host',
  misplaced_star: 'has a “*” that is not alone at the start; “*.example.com” is right',
  wildcard_alone: 'a “*” without a name; “*.example.com” is right',
  single_label: 'not complete; a whole name such as “www.example.com” is needed',
  missing_value: 'what programs write if there is no value',
  reserved_name: 'not a public name, so it cannot be registered',
  reserved_address: 'not a public IP address, so it cannot be registered',
  address_spelling: 'an unusual way to write an IP address',
  address_range: 'stands for many IP addresses; each needs a row of its own',
  address_prefix: 'the prefix of an IP address',
  numeric_top_level: 'ends with a number, but is no IP address',
  unknown_top_level: ({ topLevel }) => `ends with “.${topLevel}”, which does not exist`,
  public_suffix: 'an ending that belongs to many; add the name before it',
  wildcard_over_public_suffix: 'would cover the names of many others',
  name_too_long: 'too long; a hostname has at most 253 characters',
  label_too_long: 'has a part with more than 63 characters',
  domain_already_licensed: 'registered by somebody else, or overlaps with such a name',
  wildcard_conflict: 'already covered by a wildcard that you have registered',
  subdomain_conflict: 'would cover names that you have registered; delete these first',
} as const satisfies Partial<Record<HostnameReason | ConflictCode, ReasonSentence>>

const signInAgain =
  'You are not signed in, or your session has ended. Sign in again in another tab, then continue here.'
const ourFault = 'Something went wrong on our side. Try again in a minute.'

/** For each code of an error, the sentence to show. Without one, its message is shown. */
const failures: Readonly<Record<string, string | ((error: CallError) => string)>> = {
  unauthorized: signInAgain,
  redirected: signInAgain,
  not_from_service: signInAgain,
  domain_limit_reached: error => `Your limit is reached, so the rest was not registered. ${error.message}`,
  team_suspended: 'Your account is suspended, so no names can be registered.',
  insufficient_scope: 'You are not allowed to do this.',
  too_many_requests: 'Too many requests at once. Wait a minute, then continue.',
  domain_registration_unavailable:
    'Your names are saved, but monitoring has not begun for some of them. Continue in a minute.',
  internal_error: ourFault,
  unavailable: ourFault,
  unreachable: 'The service cannot be reached. Check your connection, then continue.',
}

/** How many names of the pasted list are in each state. */
export interface Counts {
  readonly ready: number
  readonly registered: number
  readonly correctable: number
  /** Cannot be registered, and nobody knows what was meant. */
  readonly hopeless: number
  /** Cannot be registered yet. */
  readonly waiting: number
  /** The team's limit leaves no room. */
  readonly full: number
  /** Left out, because another row has the same name. */
  readonly repeated: number
}

/** The parts of a sentence, without those of which there are none. */
const join = (first: string, ...others: readonly (readonly [count: number, part: string])[]) =>
  [first, ...others.flatMap(([count, part]) => (count > 0 ? [part] : []))].join(', ')

/** The English words, which apply where the option `words` has none. */
export const english = {
  missingUrl: 'The attribute "url" is missing, or is no URL.',
  addTitle: 'Add names',
  addMore: 'Add more names',
  paste: 'Hostnames: one per line, or cells copied from a spreadsheet',
  placeholder: 'www.example.com\n*.example.org',
  check: 'Check names',
  chooseFile: 'Choose a file',
  dropHint: 'or drop a text or CSV file here',
  notText: 'This file is not text. Save the sheet as CSV, or copy its cells and paste them here.',
  column: 'Column with the hostnames',
  cancelColumn: 'Cancel',
  columnNumber: (number: number) => `Column ${number}`,
  nothingFound: 'There is no name in it.',
  tooLarge: (bytes: number) =>
    `This is more than ${digits(bytes / 1e6)} MB. Copy only the column with the hostnames, and paste it here.`,
  reading: 'Reading…',
  openQuote: (line: number) =>
    `Line ${digits(line)} has a quote that is not closed, so each line was read on its own. Check its names.`,
  all: (count: number) => `All ${digits(count)}`,
  problems: (count: number) => `With a problem ${digits(count)}`,
  useAll: (count: number) => (count === 1 ? 'Use the correction' : `Use all ${digits(count)} corrections`),
  use: (domain: string) => `Use ${domain}`,
  /** For a row whose text names several hostnames. */
  addAll: (count: number) => (count === 2 ? 'Add both' : `Add all ${digits(count)}`),
  edit: (input: string) => `Edit ${input}`,
  editShort: 'Edit',
  save: 'Check',
  remove: (input: string) => `Remove ${input} from the list`,
  removeShort: 'Remove',
  removeHopeless: (count: number) =>
    count === 1 ? 'Remove the one that cannot be registered' : `Remove all ${digits(count)} that cannot be registered`,
  checkAgain: 'Check again',
  clear: 'Clear the list',
  register: (count: number) => `Register ${names(count)}`,
  /** For names that cannot be registered yet, but are kept by the service, which tries again by itself. */
  registerAndKeep: (ready: number, waiting: number) =>
    ready === 0 ? `Keep ${names(waiting)} until registered` : `Register ${names(ready)}, keep ${digits(waiting)}`,
  goOn: 'Continue',
  stop: 'Stop',
  checking: (done: number, total: number) => `Checked ${digits(done)} of ${names(total)}`,
  registering: (done: number, total: number) => `Registered ${digits(done)} of ${names(total)}`,
  deleting: (done: number, total: number) => `Deleted ${digits(done)} of ${names(total)}`,
  exporting: (done: number) => `Read ${names(done)}`,
  retrying: 'No answer yet. Trying again…',
  checked: ({ ready, correctable, hopeless, waiting, full, repeated }: Counts) =>
    join(
      `${names(ready)} can be registered`,
      [correctable, `${digits(correctable)} ${correctable === 1 ? 'needs' : 'need'} a correction`],
      [hopeless, `${digits(hopeless)} cannot be registered`],
      [waiting, `${digits(waiting)} cannot be registered yet`],
      [full, `your limit leaves no room for ${digits(full)}`],
      [repeated, `${digits(repeated)} repeated ${repeated === 1 ? 'row' : 'rows'} left out`],
    ),
  registered: ({ registered, correctable, hopeless, waiting, full }: Counts) =>
    `${join(
      `Done: ${names(registered)} registered`,
      [correctable, `${digits(correctable)} still to correct`],
      [waiting, `${digits(waiting)} still ${waiting === 1 ? 'waits' : 'wait'}`],
      [hopeless, `${digits(hopeless)} cannot be registered`],
      [full, `no room for ${digits(full)}`],
    )}.`,
  /** Follows `registered` if the registered names are listed. */
  whereRegistered: 'You find them in the list of registered names below.',
  stopped: (left: number) => `Stopped. ${names(left)} ${left === 1 ? 'is' : 'are'} left: continue whenever you like.`,
  sentFrom: (input: string) => `from ${input}`,
  stateUnchecked: 'Not checked yet',
  stateReady: 'Ready',
  stateExisting: 'Already registered',
  stateCorrectable: 'To correct',
  stateHopeless: 'Cannot be registered',
  stateUnproven: 'Needs a DNS record',
  stateWaits: 'Not possible yet',
  stateKept: 'Waits',
  stateFailed: 'No longer waits',
  stateFull: 'No room in your limit',
  stateRegistered: 'Registered',
  list: 'Names in your list',
  recordTitle: (zone: string, count: number) =>
    `${zone}: ${names(count)} ${count === 1 ? 'waits' : 'wait'} for this DNS record`,
  recordHint: (zone: string) => `Add this record where ${zone} is managed, and leave it there. It may take an hour.`,
  looked: (last: string, next: string) => `Looked ${last}, looks again ${next}.`,
  recordType: 'Type',
  recordName: 'Name',
  fullName: (name: string) => `In full: ${name}`,
  recordValue: 'Value',
  copy: 'Copy',
  copyName: 'Copy the name',
  copyValue: 'Copy the value',
  copyAll: 'Copy all',
  copied: 'Copied',
  copiedName: 'Copied the name',
  copiedValue: 'Copied the value',
  copiedAll: 'Copied the record',
  copyYourself: 'Selected; copy it with the keyboard',
  date: (at: Date) => at.toLocaleDateString('en', { dateStyle: 'medium' }),
  time: (at: Date) => at.toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' }),
  recordMissing: (zone: string) => `The DNS record of ${zone} was not found yet`,
  recordFound: (zone: string, ready: number) =>
    `The DNS record of ${zone} was found; ${names(ready)} can be registered`,
  recordsAsCsv: (count: number) => (count === 1 ? 'The record as CSV' : `All ${digits(count)} records as CSV`),
  moreRecords: (count: number) => `${digits(count)} more are in this file.`,
  waitsFor: (name: string) => `It needs the DNS record ${name}.`,
  /** Of names that waited: those that are registered now, and those that no longer wait. */
  settled: (registered: readonly string[], failed: readonly string[]) => {
    const [one, more] = ['no longer waits, and is not registered.', 'no longer wait, and are not registered.']
    const say = (all: readonly string[], single: string, plural: string) =>
      all.length === 0 ? [] : all.length === 1 ? `${all[0]} ${single}` : `${names(all.length)} ${plural}`
    return [say(registered, 'is registered now.', 'are registered now.'), say(failed, one, more)].flat().join(' ')
  },
  /** `all`: how many names have been loaded; `isAll`: whether there are no more. */
  namesTitle: (shown: number, all: number, isAll: boolean, waiting: number) =>
    `Registered names (${shown === all ? '' : `${digits(shown)} of `}${digits(all)}${isAll ? '' : '+'})${
      waiting === 0 ? '' : `, ${digits(waiting)} waiting`
    }`,
  /** While nobody knows how many there are. */
  namesTitleUnknown: 'Registered names',
  search: 'Search your registered names',
  searchButton: 'Search',
  loading: 'Loading…',
  searching: 'Searching…',
  noNames: 'No names yet. Paste some above.',
  notFound: 'No registered name matches.',
  more: 'Show more',
  export: 'Export all as CSV',
  selectAll: 'Select all',
  selectNone: 'Select none',
  deleteOne: (domain: string) => `Delete ${domain}`,
  deleteSelected: (count: number) => `Delete ${names(count)}`,
  askDelete: (count: number) => `Delete ${names(count)}? ${count === 1 ? 'It' : 'They'} will no longer be monitored.`,
  andMore: (count: number) => `and ${digits(count)} more`,
  confirmDelete: 'Delete',
  cancel: 'Keep',
  deleted: (count: number) => `${names(count)} deleted.`,
  retry: 'Try again',
  reasons: reasons as Readonly<Record<string, ReasonSentence>>,
  failures,
}

/** The words that apply: the English ones, except where an application has its own. */
export function completeWords(own: Partial<ElementWords> | null | undefined): ElementWords {
  return merge({ ...english, failures: merge(english.failures, own?.failures) }, { ...own, failures: undefined })
}
const merge = <Words extends object>(words: Words, own: object = {}): Words => ({
  ...words,
  ...Object.fromEntries(Object.entries(own).filter(([, value]) => value != null)),
})

type EnglishWords = typeof english

/**
 * All words of the element. Functions get numbers, so that languages can form their plurals.
 *
 * `reasons` has, for each `reason` of a preview, what is wrong with the name, without a full stop. It stands below the
 * name, so it does not repeat it. A reason that is missing gets the service's message. `failures` has the sentence for
 * each code of an error; a code that is missing gets the error's message.
 */
export interface ElementWords extends EnglishWords {}
