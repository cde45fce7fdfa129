import type { CallError } from '../client/errors.ts'
import type { HostnameReason } from '../hostname/mistakes/mistake.ts'
import type { ConflictCode } from '../rules/submitted.ts'
import type { InvalidPreview } from '../wire/response.ts'

/** A sentence, or a function that makes it from the details of a rejected name. */
export type ReasonSentence = string | ((details: InvalidPreview) => string)

const digits = (count: number) => count.toLocaleString('en')
const names = (count: number) => `${digits(count)} ${count === 1 ? 'name' : 'names'}`

/** For customers, who know neither suffix lists nor RFCs. Rarer mistakes are explained by the service's message. */
const reasons = {
  url: 'is a web address; only the hostname in it is needed',
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
  defanged: 'is written so that it is no link',
  shortened: 'looks shortened; the whole name is needed',
  space: 'has a blank in it',
  space_beside_dot: 'has a blank beside a dot',
  separator: 'has a separator in it',
  several_hostnames: 'has several hostnames; each needs a row of its own',
  empty_label: 'has two dots in a row, or begins with one',
  outer_hyphen: 'has a part that begins or ends with a hyphen',
  underscore: 'has an underscore, which hostnames cannot have',
  record_name: 'is the name of a DNS record, not of a host',
  misplaced_star: 'has a “*” that is not alone at the start; “*.example.com” is right',
  wildcard_alone: 'is a “*” without a name; “*.example.com” is right',
  single_label: 'is not complete; a whole name such as “www.example.com” is needed',
  missing_value: 'is what programs write if there is no value',
  reserved_name: 'is not a public name, so it cannot be registered',
  reserved_address: 'is not a public IP address, so it cannot be registered',
  address_spelling: 'is an unusual way to write an IP address',
  address_range: 'stands for many IP addresses; each needs a row of its own',
  address_prefix: 'is the prefix of an IP address',
  numeric_top_level: 'ends with a number, but is no IP address',
  unknown_top_level: ({ topLevel }) => `ends with “.${topLevel}”, which does not exist`,
  public_suffix: 'is an ending that belongs to many; add the name before it',
  wildcard_over_public_suffix: 'would cover the names of many others',
  name_too_long: 'is too long; a hostname has at most 253 characters',
  label_too_long: 'has a part with more than 63 characters',
  domain_already_licensed: 'is registered by somebody else, or overlaps with such a name',
  wildcard_conflict: 'is covered already by a wildcard that you have registered',
  subdomain_conflict: 'would cover names that you have registered; delete these first',
} as const satisfies Partial<Record<HostnameReason | ConflictCode, ReasonSentence>>

const signInAgain = 'You are not signed in, or your session has ended. Sign in again, then continue.'
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

/** The English words, which apply where the option `words` has none. */
export const english = {
  addTitle: 'Add names',
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
  all: (count: number) => `All ${digits(count)}`,
  toCorrect: (count: number) => `To correct ${digits(count)}`,
  useAll: (count: number) => (count === 1 ? 'Use the correction' : `Use all ${digits(count)} corrections`),
  use: (domain: string) => `Use ${domain}`,
  edit: (input: string) => `Edit ${input}`,
  editShort: 'Edit',
  save: 'Check',
  remove: (input: string) => `Remove ${input} from the list`,
  removeShort: 'Remove',
  clear: 'Clear the list',
  register: (count: number) => `Register ${names(count)}`,
  goOn: 'Continue',
  stop: 'Stop',
  checking: (done: number, total: number) => `Checked ${digits(done)} of ${names(total)}`,
  registering: (done: number, total: number) => `Registered ${digits(done)} of ${names(total)}`,
  checked: (ready: number, wrong: number, repeated: number) =>
    [
      `${names(ready)} can be registered`,
      ...(wrong > 0 ? [`${digits(wrong)} ${wrong === 1 ? 'needs' : 'need'} a correction`] : []),
      ...(repeated > 0 ? [`${digits(repeated)} repeated ${repeated === 1 ? 'row' : 'rows'} left out`] : []),
    ].join(', '),
  registered: (count: number, left: number) =>
    `Done: ${names(count)} registered${left > 0 ? `, ${digits(left)} still to correct` : ''}.`,
  stopped: (left: number) => `Stopped. ${names(left)} ${left === 1 ? 'is' : 'are'} left: continue whenever you like.`,
  sentFrom: (input: string) => `from ${input}`,
  stateUnchecked: 'Not checked yet',
  stateReady: 'Ready',
  stateExisting: 'Already registered',
  stateWrong: 'To correct',
  stateRegistered: 'Registered',
  list: 'Names in your list',
  namesTitle: (shown: number, isAll: boolean) => `Registered names (${digits(shown)}${isAll ? '' : '+'})`,
  search: 'Search your registered names',
  searchButton: 'Search',
  noNames: 'No names yet. Paste some above.',
  notFound: 'No registered name matches.',
  more: 'Show more',
  selectAll: 'Select all',
  selectNone: 'Select none',
  deleteSelected: (count: number) => `Delete ${names(count)}`,
  askDelete: (count: number) => `Delete ${names(count)}? ${count === 1 ? 'It' : 'They'} will no longer be monitored.`,
  confirmDelete: 'Delete',
  cancel: 'Keep',
  deleted: (count: number) => `${names(count)} deleted.`,
  retry: 'Try again',
  noRoom: 'Your limit leaves no room for this name.',
  reasons: reasons as Readonly<Record<string, ReasonSentence>>,
  quote: (input: string) => `“${input}”`,
  failures,
}

type EnglishWords = typeof english

/**
 * All words of the element. Functions get numbers, so that languages can form their plurals.
 *
 * `reasons` has, for each `reason` of a preview, the end of a sentence that begins with the quoted name, without its
 * full stop. A reason that is missing gets the service's message. `failures` has the sentence for each code of an
 * error; a code that is missing gets the error's message.
 */
export interface ElementWords extends EnglishWords {}
