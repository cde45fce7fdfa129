import { join } from 'node:path'
import ts from '../../node_modules/typescript/lib/typescript.js'

/**
 * For each export of an entry point, follows the package's declaration maps to the declaration that an editor opens.
 *
 * @param project A folder in which the package is installed.
 * @returns For each export: its name, and the file and source that the editor shows.
 */
export function findDefinitions(project, entry) {
  const program = join(project, 'definitions.ts')
  const options = { module: ts.ModuleKind.NodeNext, strict: true, types: [] }
  let text = `export * from '${entry}'\n`
  const service = ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getCompilationSettings: () => options,
    getCurrentDirectory: () => project,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [program],
    getScriptVersion: path => (path === program ? text : ''),
    getScriptSnapshot(path) {
      const content = path === program ? text : ts.sys.readFile(path)
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
    },
  })
  const checker = service.getProgram().getTypeChecker()
  const module = checker.getSymbolAtLocation(service.getProgram().getSourceFile(program))
  const names = checker.getExportsOfModule(module).map(symbol => symbol.name)

  text = names.map(name => `export { ${name} } from '${entry}'\n`).join('')
  return names.map(name => {
    const [found] = service.getDefinitionAtPosition(program, text.indexOf(`{ ${name} }`) + 2) ?? []
    const declared = { fileName: found?.fileName ?? '', pos: found?.textSpan.start ?? 0 }
    // The TypeScript server follows declaration maps with this function. The compiler has no public function that
    // follows them.
    const { fileName, pos } = service.getSourceMapper().tryGetSourcePosition(declared) ?? declared
    return { name, path: fileName, text: ts.sys.readFile(fileName)?.slice(pos, pos + name.length) ?? '' }
  })
}
