/**
 * Top-level labels that are reserved and not in the public DNS. All except `internal` come from the IANA Special-Use
 * Domain Names registry (https://www.iana.org/assignments/special-use-domain-names, RFC 6761). ICANN reserved
 * `internal` for private use on 2024-07-29 (board resolution 2024.07.29.06).
 *
 * `example.com`, `example.net` and `example.org` are left out on purpose: they resolve like any other name. `arpa`
 * stands for all names below it: those in the registry, such as `home.arpa`, and the rest of the infrastructure.
 */
export const specialUseTopLevels: ReadonlyMap<string, string> = new Map([
  ['alt', 'RFC 9476'],
  ['arpa', 'RFC 3172'],
  ['example', 'RFC 6761'],
  ['internal', 'ICANN, 2024'],
  ['invalid', 'RFC 6761'],
  ['local', 'RFC 6762'],
  ['localhost', 'RFC 6761'],
  ['onion', 'RFC 7686'],
  ['test', 'RFC 6761'],
])
