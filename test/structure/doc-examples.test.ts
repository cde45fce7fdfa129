import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import * as library from '../../src/index.ts'
import { entries, listExports, root } from './entries.ts'

const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8')
const list = (folder: string, ending: string) =>
  readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith(ending))
    .map(file => `${folder}/${file}`)
const sources = list('src', '.ts')
const guides = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...list('docs', '.md')]

/** Up to the next tag, or to the end of the doc comment. */
const inDocComment = /^ *\* @example(?: <caption>.*<\/caption>)?\n((?: *\*(?! @|\/).*\n)+)/dgm
/** In TypeScript or JavaScript. `docs.test.ts` holds those with the name of a program to be that program. */
const inGuide = /(?<!<!-- examples\/[\w.-]+ -->\n\n)^```[jt]s\n(.*?)^```$/dgms

/** @returns Examples by file and line, each below as many empty lines as it has lines above it in its file. */
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

const { options: configured } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile).config,
  ts.sys,
  root,
)
const compilerOptions: ts.CompilerOptions = {
  ...configured,
  incremental: false,
  // An example shows one step, and not what becomes of it.
  noUnusedLocals: false,
  noUnusedParameters: false,
  // NestJS has no others.
  experimentalDecorators: true,
  paths: Object.fromEntries([...entries].map(([specifier, source]) => [specifier, [source]])),
}

const parsed = new Map<string, ts.SourceFile | undefined>()

/** Makes a program of files and of modules that are not on the disk. Files are parsed once for all programs. */
function createProgram(files: readonly string[], modules: ReadonlyMap<string, string> = new Map()): ts.Program {
  const host = ts.createCompilerHost(compilerOptions)
  const { getSourceFile } = host
  host.getSourceFile = (file, language) => {
    const text = modules.get(file)
    if (text !== undefined) return ts.createSourceFile(file, text, language)
    if (!parsed.has(file)) parsed.set(file, getSourceFile(file, language))
    return parsed.get(file)
  }
  return ts.createProgram([...files, ...modules.keys()], compilerOptions, host)
}

/** An import statement for each name that an entry exports; in an example, `Response` is that of the platform. */
const imports = new Map<string, string>()
const entryProgram = createProgram([...entries.values()])
for (const [specifier, file] of entries) {
  for (const [name, { flags }] of listExports(entryProgram, file)) {
    if (name in globalThis) continue
    imports.set(name, `import { ${flags & ts.SymbolFlags.Value ? '' : 'type '}${name} } from '${specifier}'`)
  }
}

/** Imports what an example uses of the package, unless it does so itself. Imports may stand at the end. */
function complete(example: string): string {
  if (/ from 'domain-registration\b/.test(example)) return example
  const words = new Set(example.match(/\w+/g))
  const used = [...imports].filter(([name]) => words.has(name)).map(([, statement]) => statement)
  return [example, ...used, 'export {}'].join('\n')
}

/** @returns What the compiler says against some examples, each a module of its own, and against their host. */
function findErrors(examples: ReadonlyMap<string, string>): string[] {
  const modules = new Map([...examples].map(([file, text]) => [`${root}/${file}`, complete(text)]))
  const hosts = [`${root}/test/structure/host-of-examples.ts`, `${root}/test/node-sqlite.d.ts`]
  const program = createProgram(hosts, modules)
  return [...hosts, ...modules.keys()].flatMap(path => {
    const file = program.getSourceFile(path) as ts.SourceFile
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ start = 0, messageText }) => {
        const line = file.getLineAndCharacterOfPosition(start).line + 1
        const place = relative(root, modules.has(path) ? dirname(path) : path)
        return `${place}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
      },
    )
  })
}

const examples = findExamples(sources, inDocComment)
const snippets = findExamples(guides, inGuide)
const errors = findErrors(new Map([...examples, ...snippets]))

test('each example of a doc comment and each snippet of a guide is found', () => {
  const count = (files: readonly string[], pattern: RegExp) =>
    files.flatMap(file => read(file).match(pattern) ?? []).length
  expect(examples.size).toBe(count(sources, /@example/g))
  expect(examples.size).toBeGreaterThan(30)
  const named = count(guides, /^<!-- examples\//gm)
  expect(snippets.size).toBe(count(guides, /```(?:[jt]s|javascript|typescript)\b/g) - named)
  expect(snippets.size).toBeGreaterThan(10)
})

test('each compiles', () => {
  expect(errors, 'declare what an example takes from its host in test/structure/host-of-examples.ts').toEqual([])
})

test('a call with a result beside or below it returns that result', () => {
  const shown = [...examples.values()].flatMap(text => [...text.matchAll(/^(\w+\(.*\))\s+\/\/ (\{.*\})$/gm)])
  expect(shown.length).toBeGreaterThan(4)
  const evaluate = (code: string) =>
    new Function('expect', ...Object.keys(library), `return ${code}`)(expect, ...Object.values(library))
  for (const [, call = '', result = ''] of shown) {
    expect(evaluate(call), call).toEqual(evaluate(result.replaceAll('…', 'expect.anything()')))
  }
})
