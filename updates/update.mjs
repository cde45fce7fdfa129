/**
 * Brings everything that this repository copies from elsewhere up to date, and prints what is new:
 *
 *     npm run update                   with Node 22 or newer
 *     npm run update -- <folder>       reads the downloads from a folder, by their file names, in place of the network
 *
 * Each source is tried although others fail; if one fails, this is among what is printed, and the exit status is 1. It
 * changes files and commits nothing. Run `npm test` and `npm run test:tables` afterwards: what fails is what a person
 * has to decide, such as a new block of addresses in `src/hostname/special-purpose-blocks.ts`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [folder] = process.argv.slice(2)
const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)

const run = (command, ...parameters) =>
  execFileSync(command, parameters, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()
const view = (...parameters) => JSON.parse(run('npm', 'view', '--json', ...parameters))

async function download(url) {
  if (folder !== undefined) return readFileSync(join(folder, basename(url)), 'utf8')
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return await response.text()
}

/** Writes a file of vectors, unless only its source or date would change. */
function write(file, text, news) {
  const path = join(root, file)
  const dataOf = ({ source: _source, retrieved: _retrieved, about: _about, ...data }) => JSON.stringify(data)
  if (dataOf(JSON.parse(readFileSync(path, 'utf8'))) === dataOf(JSON.parse(text))) return
  writeFileSync(path, text)
  console.log(`- ${file}: ${news}`)
}

const today = new Date().toISOString().slice(0, 10)

/** The Unicode Character Database, UTS #46 in tr46, and CLDR. Installs the next version once both packages have it. */
function updateUnicode() {
  const before = require('tr46/package.json').unicodeVersion
  run('npm', 'install', '--ignore-scripts', '--prefix', 'updates', '--save-dev', 'tr46@latest', 'cldr-core@latest')
  const { unicodeVersion } = JSON.parse(readFileSync(join(root, 'updates/node_modules/tr46/package.json'), 'utf8'))
  if (unicodeVersion !== before) {
    const packageOf = version => `@unicode/unicode-${version}`
    run(
      'npm',
      'install',
      '--ignore-scripts',
      '--prefix',
      'updates',
      '--save-dev',
      `${packageOf(unicodeVersion)}@latest`,
    )
    run('npm', 'uninstall', '--ignore-scripts', '--prefix', 'updates', packageOf(before))
    console.log(`- Unicode ${unicodeVersion}: it was ${before}`)
  }
}

/** The parts of UTS #39 that the tables need. */
async function updateSecurity() {
  const version = require('tr46/package.json').unicodeVersion
  const source = `https://www.unicode.org/Public/${version}/security/`
  const [status, confusables] = await Promise.all(
    ['IdentifierStatus.txt', 'confusables.txt'].map(file => download(source + file)),
  )
  const dateOf = text => /^# Date: ([\d-]+)/m.exec(text)?.[1]
  const rowsOf = text =>
    text
      .replace(/^\ufeff/, '')
      .split('\n')
      .map(line => line.replace(/#.*/, '').split(';'))
      .filter(([first, second]) => first?.trim() && second?.trim())
      .map(row => row.map(field => field.trim()))
  const ranges = rowsOf(status)
    .map(([range]) => range.split('..').map(hex => Number.parseInt(hex, 16)))
    .map(([first, last = first]) => ({ first, last }))
    .sort((a, b) => a.first - b.first)
  const joined = []
  for (const { first, last } of ranges) {
    if (joined.at(-1)?.last === first - 1) joined.at(-1).last = last
    else joined.push({ first, last })
  }
  const isAllowed = codePoint => joined.some(({ first, last }) => first <= codePoint && codePoint <= last)
  const hex = codePoint => codePoint.toString(16).toUpperCase()
  const lookAlikes = rowsOf(confusables)
    .map(([from, to]) => ({
      from: Number.parseInt(from, 16),
      to: String.fromCodePoint(...to.split(' ').map(digits => Number.parseInt(digits, 16))),
    }))
    // U+0138 is what confusables.txt has for the Greek and the Cyrillic k.
    .filter(({ from, to }) => from > 0x7f && isAllowed(from) && /^(?:[ -~]+|\u0138)$/.test(to))
    .sort((a, b) => (a.to === b.to ? a.from - b.from : a.to < b.to ? -1 : 1))
  const lines = joined
    .map(({ first, last }) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`))
    .join(' ')
    .match(/.{1,105}(?= |$)/g)
  const files = `IdentifierStatus.txt (${dateOf(status)}) and confusables.txt (${dateOf(confusables)})`
  const data = {
    source: `${source}${files}, UTS #39; Copyright Unicode, Inc., under the Unicode License V3 (https://www.unicode.org/license.txt)`,
    version,
    about:
      'The code points with Identifier_Status=Allowed, and those of them that look like ASCII or like U+0138, a small K',
    allowed: lines.map(line => line.trim()),
    lookAlikes: lookAlikes.map(({ from, to }) => [hex(from), to]),
  }
  const text = `${JSON.stringify(data, null, 2).replace(/\[\n\s+("[^"]*"),\n\s+("[^\n]*")\n\s+\]/g, '[$1, $2]')}\n`
  write('test/vectors/uts39.json', text, `UTS #39 of Unicode ${version}`)
}

/** Splits a line of CSV. A quoted field may contain line breaks, so this reads a whole file. */
function readCsv(text) {
  const rows = [[]]
  for (const [, quoted, plain, end] of text.replace(/\r/g, '').matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    rows.at(-1).push((quoted ?? plain).replaceAll('""', '"').replace(/\s+/g, ' ').trim())
    if (end === '\n') rows.push([])
  }
  return rows.slice(1).filter(row => row.length > 1)
}

const toVectors = (about, cases) => {
  const head = Object.entries(about).map(
    ([key, value]) => ` "${key}": ${JSON.stringify(value).replaceAll('","', '", "')},`,
  )
  const rows = cases.map(row => `  [${row.map(field => JSON.stringify(field).replaceAll('","', '", "')).join(', ')}]`)
  return `{\n${head.join('\n')}\n "cases": [\n${rows.join(',\n')}\n ]\n}\n`
}

const IANA = 'https://www.iana.org/assignments/'
const aboutRegistry = (registry, fields) => ({
  source: IANA + registry,
  retrieved: today,
  licence: 'CC0-1.0',
  fields,
})

/** One of IANA's registries of special-purpose addresses. */
async function updateAddresses(registry) {
  const reachable = { true: true, false: false, 'n/a': 'N/A' }
  const rows = readCsv(await download(`${IANA}${registry}/${registry}-1.csv`))
  const cases = rows.flatMap(([blocks, name, source, , , , , , globally]) =>
    blocks
      .replace(/\s*\[\d+\]/g, '')
      .split(/,\s*/)
      .map(block => [block, name, source, reachable[globally.replace(/\s*\[\d+\]/g, '').toLowerCase()] ?? null]),
  )
  const fields = ['block', 'name', 'source', 'globally reachable']
  write(`test/vectors/${registry}.json`, toVectors(aboutRegistry(registry, fields), cases), 'IANA has changed it')
}

/** IANA's registry of special-use names. */
async function updateNames(registry) {
  const rows = readCsv(await download(`${IANA}${registry}/special-use-domain.csv`))
  const cases = rows.map(([name, source]) => [name.replace(/\.$/, ''), source.match(/RFC-?\d+/g) ?? []])
  const text = toVectors(aboutRegistry(registry, ['name', 'RFCs']), cases)
  write('test/vectors/iana-special-use-domains.json', text, 'IANA has changed it')
}

/** The vectors of web-platform-tests for URLs. */
async function updateWebPlatformTests() {
  const files = ['toascii.json', 'urltestdata.json']
  const { makeVectors } = await import('./make-vectors.mjs')
  const texts = files.map(file =>
    download(`https://raw.githubusercontent.com/web-platform-tests/wpt/master/url/resources/${file}`),
  )
  const [toAscii, urls] = (await Promise.all(texts)).map(text => JSON.parse(text))
  for (const [file, text] of Object.entries(makeVectors(toAscii, urls, `master on ${today}`))) {
    write(`test/vectors/${file}`, text, 'web-platform-tests has changed it')
  }
}

/** The Public Suffix List in tldts, whose date `suffix-list-version.ts` has. */
function updateSuffixList() {
  const { version, time } = view('tldts', 'version', 'time')
  const path = join(root, 'src/hostname/suffix-list-version.ts')
  const before = readFileSync(path, 'utf8')
  const known = `{ version: '${version}', published: '${time[version].slice(0, 10)}' }`
  const after = before.replace(/\{ version: '[\d.]+', published: '[\d-]+' \}/, known)
  if (after === before) return
  run('npm', 'update', '--ignore-scripts', 'tldts')
  writeFileSync(path, after)
  console.log(`- tldts, the Public Suffix List: ${version}`)
}

/** What most users feel comes first. The tables come last: they are made from Unicode and UTS #39. */
const sources = {
  'tldts, the Public Suffix List': updateSuffixList,
  Unicode: updateUnicode,
  'UTS #39': updateSecurity,
  'iana-ipv4-special-registry': updateAddresses,
  'iana-ipv6-special-registry': updateAddresses,
  'special-use-domain-names': updateNames,
  'web-platform-tests': updateWebPlatformTests,
  'src/hostname/idna/tables.ts': () => run('node', 'updates/make-tables.mjs'),
}
for (const [name, update] of Object.entries(sources)) {
  try {
    await update(name)
  } catch (error) {
    console.log(`- ${name} could not be updated: ${error.message.split('\n')[0]}`)
    process.exitCode = 1
  }
}
