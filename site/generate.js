/**
 * Completes the API reference that typedoc has written into `reference/`, and writes a page for each program of
 * `examples/`. Fails if the doc comment of a public function, class or constant has no example.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { extname, parse } from 'node:path'

const reference = new URL('reference/', import.meta.url)
const examples = new URL('examples/', import.meta.url)

/** Replaces an entry point's path in the heading with the name to import. */
function completeReference(file) {
  const text = readFileSync(new URL(file, reference), 'utf8')
  const name = file.replace(/\.md$/, '').replace('http/', '')
  const module = name === 'index' ? 'domain-registration' : `domain-registration/${name}`
  writeFileSync(new URL(file, reference), text.replace(/^# .*$/m, `# ${module}`))
  return findWithoutExample(text).map(publicName => `${module}: ${publicName}`)
}

function findWithoutExample(text) {
  return text
    .split(/^## /m)
    .filter(group => /^(?:Functions|Classes|Variables)\n/.test(group))
    .flatMap(group => group.split(/^### /m).slice(1))
    .filter(section => !/^#{4,5} Examples?$/m.test(section))
    .map(section => section.split('\n', 1)[0])
}

function writeExamples() {
  rmSync(examples, { recursive: true, force: true })
  mkdirSync(examples)
  for (const file of readdirSync(new URL('../examples', import.meta.url)).filter(name => extname(name))) {
    const language = extname(file).slice(1).replace('mjs', 'js')
    writeFileSync(new URL(`${parse(file).name}.md`, examples), `# ${file}\n\n<<< ../../examples/${file}{${language}}\n`)
  }
}

// typedoc's own list of entry points is not needed, because the sidebar links to the entry points.
rmSync(new URL('README.md', reference))
const pages = readdirSync(reference, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.md'))
if (pages.length < 11) throw new Error(`The reference has ${pages.length} pages, not one for each entry point`)
const withoutExample = pages.flatMap(completeReference)
if (withoutExample.length > 0) throw new Error(`No @example in the doc comment:\n${withoutExample.join('\n')}`)
writeExamples()
