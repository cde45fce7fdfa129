import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A mistake in a file of `src`: a piece of its text in place of another. */
export interface Mutation {
  /** Below `src`. */
  readonly file: string
  readonly original: string
  readonly mistaken: string
}

/**
 * Loads a file of `src` with a mistake in it; what it imports is as it is.
 *
 * @param replacements Modules in place of those that it imports, by what it calls them.
 * @throws {Error} where the text is not found just once: then there is nothing to notice.
 */
export async function loadMutated<Module>(
  { file, original, mistaken }: Mutation,
  replacements: Readonly<Record<string, unknown>> = {},
): Promise<Module> {
  const url = new URL(`../../src/${file}`, import.meta.url)
  const source = readFileSync(fileURLToPath(url), 'utf8')
  if (source.split(original).length !== 2) throw new Error(`${file} does not hold "${original}" once`)
  return load(
    source.replace(original, () => mistaken),
    url,
    replacements,
  )
}

/** Loads a file of `src` over modules in place of those that it imports. */
export const loadOver = async <Module>(file: string, replacements: Readonly<Record<string, unknown>>) => {
  const url = new URL(`../../src/${file}`, import.meta.url)
  return load<Module>(readFileSync(fileURLToPath(url), 'utf8'), url, replacements)
}

async function load<Module>(
  source: string,
  url: URL,
  replacements: Readonly<Record<string, unknown>>,
): Promise<Module> {
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2023 }
  const { outputText } = ts.transpileModule(source, { compilerOptions })
  const modules = new Map<string, unknown>()
  for (const [, name] of outputText.matchAll(/require\("(\..+?)"\)/g)) {
    const imported = name as string
    modules.set(imported, replacements[imported] ?? (await import(fileURLToPath(new URL(imported, url)))))
  }
  const exports = {}
  new Function('exports', 'require', outputText)(exports, (name: string) => modules.get(name))
  return exports as Module
}
