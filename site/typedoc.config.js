import { readFileSync } from 'node:fs'

const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The reference has a page for each entry point of package.json. */
export default {
  plugin: ['typedoc-plugin-markdown'],
  entryPoints: Object.values(exports).flatMap(({ import: module }) =>
    module ? [module.types.replace('./dist/types/esm', '../src').replace('.d.ts', '.ts')] : [],
  ),
  tsconfig: '../tsconfig.build.json',
  logLevel: 'Error',
  out: 'reference',
  router: 'module',
  readme: 'none',
  disableSources: true,
  excludeExternals: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
}
