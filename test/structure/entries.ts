import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const { name, exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
  name: string
  exports: Record<string, { import?: { types: string } }>
}

/** The source of each entry point, by its import path. Declarations have the same path as their source. */
export const entries: ReadonlyMap<string, string> = new Map(
  Object.entries(exports).flatMap(([path, conditions]) => {
    const source = conditions.import?.types.replace('./dist/types/esm', `${root}/src`).replace('.d.ts', '.ts')
    return source ? [[path.replace('.', name), source]] : []
  }),
)

/** The declarations that a build has written for a source. */
export const toDeclarations = (source: string) =>
  source.replace(`${root}/src`, `${root}/dist/types/esm`).replace(/\.ts$/, '.d.ts')

/** @returns The exports of a module by name, each with the module that declares it. */
export function listExports(program: ts.Program, file: string): Map<string, ts.Symbol> {
  const checker = program.getTypeChecker()
  const module = checker.getSymbolAtLocation(program.getSourceFile(file) as ts.SourceFile) as ts.Symbol
  return new Map(
    checker
      .getExportsOfModule(module)
      .map(symbol => [symbol.name, symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol]),
  )
}
