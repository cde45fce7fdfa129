/** Makes the text of `test/vectors/wpt-*.json` from two files of web-platform-tests. `update.mjs` downloads them. */

const toAscii = text => text.replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
const toRow = row => `[${row.map(part => toAscii(JSON.stringify(part))).join(', ')}]`

function toText(source, fields, cases) {
  const about = {
    source: `https://github.com/web-platform-tests/wpt, url/resources/${source}`,
    licence: 'BSD-3-Clause',
    fields,
  }
  const head = Object.entries(about).map(
    ([key, value]) => ` "${key}": ${Array.isArray(value) ? toRow(value) : JSON.stringify(value)},\n`,
  )
  return `{\n${head.join('')} "cases": [\n  ${[...new Set(cases.map(toRow))].join(',\n  ')}\n ]\n}\n`
}

/**
 * @param toasciiEntries The parsed `toascii.json`, in which a string is a comment, as in the other file.
 * @param urlEntries The parsed `urltestdata.json`.
 * @param from The copy that was read: its commit and date.
 * @returns The text of each file, by its name.
 */
export function makeVectors(toasciiEntries, urlEntries, from) {
  const isCase = entry => typeof entry === 'object'
  const names = toasciiEntries.filter(isCase).map(({ input, output }) => [input, output])
  const hosts = urlEntries.filter(isCase).flatMap(({ input, hostname, failure }) => {
    const [, authority] = /^https?:\/\/([^/?#\\]*)/i.exec(input) ?? []
    if (authority === undefined || authority.includes('@')) return []
    return [[failure ? authority : authority.replace(/:\d*$/, ''), failure ? null : hostname]]
  })
  return {
    'wpt-toascii.json': toText(`toascii.json, ${from}`, ['input', 'output of the URL parser or null'], names),
    'wpt-url-hosts.json': toText(`urltestdata.json, ${from}`, ['host', 'hostname by the URL parser or null'], hosts),
  }
}
