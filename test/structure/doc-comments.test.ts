import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { expect, test } from 'vitest'
import * as application from '../../src/index.ts'
import * as store from '../../src/store/index.ts'
import { findPrograms } from '../package/programs.ts'
import { entries, listExports, root, toDeclarations } from './entries.ts'

const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8')
const list = (folder: string, ending: string) =>
  readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith(ending))
    .map(file => `${folder}/${file}`)
const sources = list('src', '.ts')
const guides = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...list('docs', '.md')]

/** The text of the example: up to the next tag, or to the end of the doc comment. */
const inDocComment = /^ *\* @example(?: <caption>.*<\/caption>)?\n((?: *\*(?! @|\/).*\n)+)/dgm
/**
 * The TypeScript and JavaScript code blocks of a page, without blocks that are named after a program:
 * `docs.test.ts` compares these with the program.
 */
const inGuide = /(?<!<!-- examples\/[\w.-]+ -->\n\n)^```[jt]s\n(.*?)^```$/dgms

/** @returns Each example, by its file and line. Empty lines before the example keep the line numbers of the file. */
function findExamples(files: readonly string[], pattern: RegExp): Map<string, string> {
  const found = new Map<string, string>()
  for (const file of files) {
    const text = read(file)
    for (const { 1: code = '', indices } of text.matchAll(pattern)) {
      const linesBefore = text.slice(0, indices?.[1]?.[0]).split('\n').length - 1
      const plain = pattern === inDocComment ? code.replace(/^ *\* ?/gm, '') : code
      found.set(`${file}/${linesBefore + 1}.ts`, '\n'.repeat(linesBefore) + plain)
    }
  }
  return found
}

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile).config,
  ts.sys,
  root,
)
const entryProgram = ts.createProgram([...entries.values()], { ...options, incremental: false })

/**
 * An import statement for each name that an entry point exports. `Response` is not imported, because examples mean the
 * global `Response`.
 */
const imports = new Map<string, string>()
for (const [specifier, file] of entries) {
  for (const [name, { flags }] of listExports(entryProgram, file)) {
    if (name in globalThis) continue
    imports.set(name, `import { ${flags & ts.SymbolFlags.Value ? '' : 'type '}${name} } from '${specifier}'`)
  }
}

/**
 * Imports the package's names that an example uses, unless the example has its own imports. Adds the imports at the
 * end, because imports are valid anywhere in a module.
 */
function complete(example: string): string {
  if (/ from 'domain-registration\b/.test(example)) return example
  const words = new Set(example.match(/\w+/g))
  const used = [...imports].filter(([name]) => words.has(name)).map(([, statement]) => statement)
  return [example, ...used, 'export {}'].join('\n')
}

/** In the repository, so that examples find the packages that they import. */
const folder = `${root}/.compiled/documentation`

/** @returns The compiler's errors in some examples, and in the file of their context. Each example is a module. */
async function findErrors(examples: ReadonlyMap<string, string>): Promise<string[]> {
  rmSync(folder, { recursive: true, force: true })
  for (const [file, text] of examples) {
    mkdirSync(dirname(`${folder}/${file}`), { recursive: true })
    writeFileSync(`${folder}/${file}`, complete(text))
  }
  const compilerOptions = {
    incremental: false,
    tsBuildInfoFile: null,
    // An example shows a single step, and may leave its result unused.
    noUnusedLocals: false,
    noUnusedParameters: false,
    // NestJS needs TypeScript's experimental decorators.
    experimentalDecorators: true,
    // As an application sees the package. `npm run check` compiles the sources.
    paths: Object.fromEntries([...entries].map(([specifier, source]) => [specifier, [toDeclarations(source)]])),
  }
  const include = [
    '.',
    `${root}/src/hostname/idna/punycode.d.ts`,
    `${root}/test/structure/host-of-examples.ts`,
    `${root}/test/node-sqlite.d.ts`,
  ]
  const config = { extends: `${root}/tsconfig.json`, compilerOptions, include, exclude: [] }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(config))
  const compiler = `${root}/node_modules/typescript7/bin/tsc`
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, '--pretty', 'false'], {
    cwd: folder,
  }).catch((failure: { stdout: string }) => failure)
  return stdout.split('\n').filter(line => line !== '')
}

/** @returns The number of exports, and what is missing from their doc comments. */
function findUndocumented(): { exported: number; missing: string[] } {
  const checker = entryProgram.getTypeChecker()
  const exported = new Set([...entries.values()].flatMap(file => [...listExports(entryProgram, file).values()]))
  const missing = [...exported].flatMap(symbol => {
    const isCalled =
      symbol.flags & ts.SymbolFlags.Class ||
      (symbol.flags & ts.SymbolFlags.Value && checker.getTypeOfSymbol(symbol).getCallSignatures().length > 0)
    const hasExample = symbol.getJsDocTags(checker).some(({ name }) => name === 'example')
    return [
      ...(symbol.getDocumentationComment(checker).length > 0 ? [] : [`doc comment: ${symbol.name}`]),
      ...(isCalled && !hasExample ? [`example: ${symbol.name}`] : []),
    ]
  })
  return { exported: exported.size, missing }
}

test('every export has a doc comment, and every exported function or class has an example', () => {
  const { exported, missing } = findUndocumented()
  expect(exported).toBeGreaterThan(100)
  expect(missing).toEqual([])
})

const toPackage = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]

/** Whether a snippet imports a file beside it, or a package that only `test/package/blocks.js` installs. */
const needsOthers = (snippet: string) =>
  [...snippet.matchAll(/^import .*?'([^']+)'$/gm)].some(
    ([, specifier = '']) =>
      specifier.startsWith('.') ||
      !(
        /^(?:node:|domain-registration\b)/.test(specifier) || existsSync(`${root}/node_modules/${toPackage(specifier)}`)
      ),
  )

const examples = findExamples(sources, inDocComment)
const snippets = findExamples(guides, inGuide)
const errors = await findErrors(new Map([...examples, ...[...snippets].filter(([, text]) => !needsOthers(text))]))

test('the tests in this file find each example in doc comments and each snippet in guides', () => {
  const count = (files: readonly string[], pattern: RegExp) =>
    files.flatMap(file => read(file).match(pattern) ?? []).length
  expect(examples.size).toBe(count(sources, /@example/g))
  expect(examples.size).toBeGreaterThan(30)
  const named = count(guides, /^<!-- examples\//gm)
  expect(snippets.size).toBe(count(guides, /```(?:[jt]s|javascript|typescript)\b/g) - named)
  expect(snippets.size).toBeGreaterThan(10)
})

test('a snippet that needs other packages or files is one that test/package/blocks.js compiles', () => {
  const compiled = new Set(findPrograms().map(({ program }) => program))
  const others = [...snippets].filter(([, text]) => needsOthers(text))
  expect(others.length).toBeGreaterThan(0)
  expect(others.filter(([, text]) => !compiled.has(text.trimStart())).map(([place]) => place)).toEqual([])
})

test('each example and snippet compiles', () => {
  expect(errors, 'declare the undeclared names of examples in test/structure/host-of-examples.ts').toEqual([])
})

test('a call in an example returns the result that is shown next to or below it', () => {
  const shown = [...examples.values()].flatMap(text => [...text.matchAll(/^(\w+\(.*\))\s+\/\/ (\{.*\})$/gm)])
  expect(shown.length).toBeGreaterThan(4)
  const library = { ...application, ...store }
  const evaluate = (code: string) =>
    new Function('expect', ...Object.keys(library), `return ${code}`)(expect, ...Object.values(library))
  for (const [, call = '', result = ''] of shown) {
    expect(evaluate(call), call).toEqual(evaluate(result.replaceAll('…', 'expect.anything()')))
  }
})
