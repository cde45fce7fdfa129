import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parse } from 'node:path'
import { defineConfig, type Options } from 'tsup'

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, { import?: { types: string; default: string } }>
}

/** The source of each entry point of package.json: declarations have the path of their source. */
const entryPoints: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(exports).flatMap(({ import: module }) =>
    module
      ? [[parse(module.default).name, module.types.replace('./dist/types/esm', 'src').replace('.d.ts', '.ts')]]
      : [],
  ),
)
const { element, ...others } = entryPoints

export default defineConfig(({ dts, clean }) => {
  // Both builds run at once, so neither may clean the folder of the other.
  if (clean !== false) rmSync('dist', { recursive: true, force: true })
  return [makePackage(dts !== false), forPages]
})

/** A page without a bundler loads the element by a script tag, so its module contains all that it needs. */
const forPages: Options = {
  entry: { element: element as string },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'browser',
  splitting: false,
  noExternal: [/./],
  minify: true,
  // Lit expects a page; on a server, where the module is only imported, this stands in for it.
  inject: ['src/element/on-server.ts'],
  esbuildPlugins: [
    {
      name: 'notices',
      setup({ initialOptions, onEnd }) {
        initialOptions.metafile = true
        onEnd(({ metafile }) => writeNotices(Object.keys(metafile?.inputs ?? {})))
      },
    },
  ],
  dts: false,
  clean: false,
}

/** Writes the licenses of what the package contains that others have written: Unicode's data, and bundled packages. */
function writeNotices(bundled: readonly string[]): void {
  const packages = new Set(bundled.flatMap(file => /^node_modules\/((?:@[\w.-]+\/)?[\w.-]+)/.exec(file)?.[1] ?? []))
  const notices = [...packages].sort().map(name => {
    const folder = `node_modules/${name}`
    const license = readdirSync(folder).find(file => /^licen[sc]e/i.test(file))
    if (license === undefined) throw new Error(`${name} is bundled, but has no file with its license`)
    return `${name}, in dist/element.js and dist/element.cjs\n\n${readFileSync(`${folder}/${license}`, 'utf8').trim()}`
  })
  const unicode = readFileSync('src/hostname/idna/unicode-license.txt', 'utf8').trim()
  notices.unshift(`The tables in src/hostname/idna and dist, made from the Unicode Character Database\n\n${unicode}`)
  writeFileSync('THIRD-PARTY-NOTICES', `${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}

const makePackage = (hasDeclarations: boolean): Options => ({
  entry: { ...others, cli: 'src/cli/main.ts' },
  format: ['esm', 'cjs'],
  esbuildOptions(options, { format }) {
    // `require` never loads a command-line program.
    const { cli: _, ...entries } = options.entryPoints as Record<string, string>
    if (format === 'cjs') options.entryPoints = entries
  },
  // Node supports import attributes from 20.10 on, so esbuild keeps them for this target.
  target: 'node20.19',
  platform: 'neutral',
  // Without splitting, each CommonJS entry point would get its own copy of ApiError.
  splitting: true,
  // The compiler writes one declaration file for each source file, because such declarations can have maps. `--no-dts`
  // skips the declarations.
  dts: false,
  ...(hasDeclarations && { onSuccess: makeDeclarations }),
  clean: false,
  treeshake: true,
  plugins: [{ name: 'import attributes', buildEnd: ({ writtenFiles }) => writeAttributes(writtenFiles) }],
})

/** Rollup removes unused code, but writes import attributes with `assert`, which newer versions of Node reject. */
function writeAttributes(files: readonly { readonly name: string }[]): void {
  for (const { name } of files.filter(({ name }) => name.endsWith('.js'))) {
    const text = readFileSync(name, 'utf8')
    const written = text.replace(/^(import \w+ from '[\w/.-]+\.json') assert \{/m, '$1 with {')
    if (written !== text) writeFileSync(name, written)
  }
}

/**
 * Writes declarations for `import`, and copies them for `require` to a folder that a package.json marks as CommonJS.
 * Both folders have the same depth, so the maps in both folders lead to the same `src`.
 */
async function makeDeclarations(): Promise<void> {
  execFileSync(process.execPath, ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  })
  const types = 'dist/types'
  const declarations = readdirSync(`${types}/esm`, { recursive: true, encoding: 'utf8' })
  for (const file of declarations.filter(name => name.endsWith('.d.ts'))) {
    const text = readFileSync(`${types}/esm/${file}`, 'utf8')
    // The compiler keeps the source's extension `.ts` in imports. The replacement `.js` has the same length, so the
    // maps stay correct.
    writeFileSync(`${types}/esm/${file}`, text.replaceAll(/(?<=['"]\.{1,2}\/[\w./-]+)\.ts(?=['"])/g, '.js'))
  }
  cpSync(`${types}/esm`, `${types}/cjs`, { recursive: true })
  writeFileSync(`${types}/cjs/package.json`, '{ "type": "commonjs" }\n')
}
