/**
 * Makes `test/vectors/wpt-*.json` from a copy of https://github.com/web-platform-tests/wpt:
 *
 *     node updates/make-vectors.mjs <the folder url/resources of that copy> "<its commit and date>"
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [folder = '', commit = ''] = process.argv.slice(2)
if (folder === '' || commit === '') throw new Error('Name the folder url/resources, and the commit with its date')

/** The cases of a file; the other entries are comments. */
const read = file => JSON.parse(readFileSync(join(folder, file), 'utf8')).filter(entry => typeof entry === 'object')

function write(file, source, fields, cases) {
  const toAscii = text => text.replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const toRow = row => `[${row.map(part => toAscii(JSON.stringify(part))).join(', ')}]`
  const rows = [...new Set(cases.map(toRow))]
  const about = {
    source: `https://github.com/web-platform-tests/wpt, url/resources/${source}, ${commit}`,
    licence: 'BSD-3-Clause',
    fields,
  }
  const head = Object.entries(about).map(
    ([key, value]) => ` "${key}": ${Array.isArray(value) ? toRow(value) : JSON.stringify(value)},\n`,
  )
  const text = `{\n${head.join('')} "cases": [\n  ${rows.join(',\n  ')}\n ]\n}\n`
  writeFileSync(new URL(`../test/vectors/${file}`, import.meta.url), text)
}

const toAscii = read('toascii.json').map(({ input, output }) => [input, output])
write('wpt-toascii.json', 'toascii.json', ['input', 'output of the URL parser or null'], toAscii)

const hosts = read('urltestdata.json').flatMap(({ input, hostname, failure }) => {
  const [, authority] = /^https?:\/\/([^/?#\\]*)/i.exec(input) ?? []
  if (authority === undefined || authority.includes('@')) return []
  return [[failure ? authority : authority.replace(/:\d*$/, ''), failure ? null : hostname]]
})
write('wpt-url-hosts.json', 'urltestdata.json', ['host', 'hostname by the URL parser or null'], hosts)
