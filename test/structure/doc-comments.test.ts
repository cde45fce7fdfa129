import ts from 'typescript'
import { expect, test } from 'vitest'
import { entries, listExports } from './entries.ts'

/** @returns The number of exports, and what is missing from their doc comments. */
function findUndocumented(files: readonly string[]): { exported: number; missing: string[] } {
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.Preserve,
    target: ts.ScriptTarget.ES2022,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: ['node'],
  })
  const checker = program.getTypeChecker()
  const exported = new Set(files.flatMap(file => [...listExports(program, file).values()]))
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

// This test compiles the package, which takes a long time on a busy machine.
test('every export has a doc comment, and every exported function or class has an example', {
  timeout: 120_000,
}, () => {
  const { exported, missing } = findUndocumented([...entries.values()])
  expect(exported).toBeGreaterThan(100)
  expect(missing).toEqual([])
})
