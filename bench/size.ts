/** The sizes of bundles, in thousands of bytes. */
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { report } from './measure.ts'

async function bundle(program: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: fileURLToPath(new URL('..', import.meta.url)) },
    bundle: true,
    minify: true,
    logLevel: 'error',
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  })
  return outputFiles[0]?.contents as Uint8Array
}

report({
  worker: gzipSync(await bundle(`export * from 'domain-registration'`)).length / 1000,
  totals: (await bundle(`export { countTotals } from 'domain-registration'`)).length / 1000,
})
