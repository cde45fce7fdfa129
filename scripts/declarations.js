/**
 * Makes of the declarations that `tsc -p tsconfig.build.json` wrote what the package has: one tree for `import`, and an
 * equal one for `require`, which its package.json makes CommonJS. Both lie equally deep, so that the maps in both lead
 * to the same `src`.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const types = fileURLToPath(new URL('../dist/types', import.meta.url))
const declarations = readdirSync(`${types}/esm`, { recursive: true }).filter(file => file.endsWith('.d.ts'))
for (const file of declarations) {
  const text = readFileSync(`${types}/esm/${file}`, 'utf8')
  // The compiler leaves the endings as they are in the source. As long as before, so that the maps stay right.
  writeFileSync(`${types}/esm/${file}`, text.replaceAll(/(?<=['"]\.{1,2}\/[\w./-]+)\.ts(?=['"])/g, '.js'))
}
cpSync(`${types}/esm`, `${types}/cjs`, { recursive: true })
writeFileSync(`${types}/cjs/package.json`, '{ "type": "commonjs" }\n')
