import { join } from 'node:path'
import ts from '../../node_modules/typescript/lib/typescript.js'

/**
 * For each export of each entry point, follows the package's declaration maps to the declaration that an editor opens.
 *
 * @param project A folder in which the package is installed.
 * @returns For each export: its name, and the file and source that the editor shows.
 */
export function findDefinitions(project, entries) {
  const options = { module: ts.ModuleKind.NodeNext, strict: true, types: [] }
  // One program for each entry, all in one service, which reads and binds each declaration once.
  const programs = entries.map((_, index) => join(project, `definitions-${index}.ts`))
  const texts = new Map(programs.map((program, index) => [program, `export * from '${entries[index]}'\n`]))
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => options,
    getCurrentDirectory: () => project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => programs,
    getScriptVersion: path => texts.get(path) ?? '',
    getScriptSnapshot(path) {
      const content = texts.get(path) ?? ts.sys.readFile(path)
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
    },
  })
  const checker = service.getProgram().getTypeChecker()
  const exported = programs.map(program => {
    const module = checker.getSymbolAtLocation(service.getProgram().getSourceFile(program))
    return checker.getExportsOfModule(module).map(symbol => symbol.name)
  })

  for (const [index, program] of programs.entries())
    texts.set(program, exported[index].map(name => `export { ${name} } from '${entries[index]}'\n`).join(''))
  return programs.flatMap((program, index) =>
    exported[index].map(name => {
      const [found] = service.getDefinitionAtPosition(program, texts.get(program).indexOf(`{ ${name} }`) + 2) ?? []
      const declared = { fileName: found?.fileName ?? '', pos: found?.textSpan.start ?? 0 }
      // The TypeScript server follows declaration maps with this function. The compiler has no public function that
      // follows them.
      const { fileName, pos } = service.getSourceMapper().tryGetSourcePosition(declared) ?? declared
      return { name, path: fileName, text: ts.sys.readFile(fileName)?.slice(pos, pos + name.length) ?? '' }
    }),
  )
}
