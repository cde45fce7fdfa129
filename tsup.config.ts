import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { defineConfig } from 'tsup'

export default defineConfig(({ dts }) => ({
  entry: {
    index: 'src/index.ts',
    http: 'src/http/index.ts',
    express: 'src/adapters/express.ts',
    fastify: 'src/adapters/fastify.ts',
    fetch: 'src/adapters/fetch.ts',
    openapi: 'src/openapi/index.ts',
    client: 'src/client/index.ts',
    webhook: 'src/webhook/index.ts',
    postgres: 'src/postgres/index.ts',
    sqlite: 'src/sqlite/index.ts',
    testing: 'src/testing/index.ts',
    cli: 'src/cli/main.ts',
  },
  format: ['esm', 'cjs'],
  esbuildOptions(options, { format }) {
    // Nobody requires a program.
    const { cli: _, ...entries } = options.entryPoints as Record<string, string>
    if (format === 'cjs') options.entryPoints = entries
  },
  // From 20.10 on, Node knows import attributes, and esbuild keeps them.
  target: 'node20.19',
  platform: 'neutral',
  // Without splitting, each CommonJS entry point would get its own copy of ApiError.
  splitting: true,
  // Declarations are made by the compiler, one for each file, since those can have maps. --no-dts leaves them out.
  dts: false,
  ...(dts !== false && { onSuccess: makeDeclarations }),
  clean: true,
  treeshake: true,
  plugins: [{ name: 'import attributes', buildEnd: ({ writtenFiles }) => writeAttributes(writtenFiles) }],
}))

/** Rollup, which shakes the tree, writes `assert`, which Node has left. */
function writeAttributes(files: readonly { readonly name: string }[]): void {
  for (const { name } of files.filter(({ name }) => name.endsWith('.js'))) {
    const text = readFileSync(name, 'utf8')
    const written = text.replace(/^(import \w+ from '[\w/.-]+\.json') assert \{/m, '$1 with {')
    if (written !== text) writeFileSync(name, written)
  }
}

/**
 * One tree for `import`, and an equal one for `require`, which its package.json makes CommonJS. Both lie equally deep,
 * so that the maps in both lead to the same `src`.
 */
async function makeDeclarations(): Promise<void> {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  const types = 'dist/types'
  const declarations = readdirSync(`${types}/esm`, { recursive: true, encoding: 'utf8' })
  for (const file of declarations.filter(name => name.endsWith('.d.ts'))) {
    const text = readFileSync(`${types}/esm/${file}`, 'utf8')
    // The compiler leaves the endings as they are in the source. As long as before, so that the maps stay right.
    writeFileSync(`${types}/esm/${file}`, text.replaceAll(/(?<=['"]\.{1,2}\/[\w./-]+)\.ts(?=['"])/g, '.js'))
  }
  cpSync(`${types}/esm`, `${types}/cjs`, { recursive: true })
  writeFileSync(`${types}/cjs/package.json`, '{ "type": "commonjs" }\n')
}
