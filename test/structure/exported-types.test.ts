import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, onTestFinished, test } from 'vitest'
import { isLong } from '../counts.ts'
import { entries, listExports, root, toDeclarations } from './entries.ts'

/** Makes the folder of an application that has installed the package. */
function makeApplication(): string {
  const folder = mkdtempSync(join(tmpdir(), 'exported-types-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules', 'domain-registration'))
  return folder
}

const options: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  declaration: true,
  strict: true,
  skipLibCheck: true,
  types: [],
}

const host = ts.createCompilerHost(options)
const parsed = new Map<string, ts.SourceFile | undefined>()
const { getSourceFile } = host
host.getSourceFile = (path, version) => {
  if (!parsed.has(path)) parsed.set(path, getSourceFile(path, version))
  return parsed.get(path)
}

/** A module of the application that exports each property of each exported type, and lets TypeScript infer its type. */
function exportProperties(): string {
  const files = [...entries.values()].map(toDeclarations)
  const program = ts.createProgram(files, options, host)
  const checker = program.getTypeChecker()
  const needsParameters = (declaration: ts.Declaration) =>
    (ts.isTypeAliasDeclaration(declaration) || ts.isInterfaceDeclaration(declaration)) &&
    declaration.typeParameters?.some(parameter => parameter.default === undefined)
  return [...entries.keys()]
    .flatMap((specifier, index) => [
      `import * as m${index} from '${specifier}'`,
      ...[...listExports(program, files[index] as string)]
        .filter(([, { flags, declarations }]) => flags & ts.SymbolFlags.Type && !declarations?.some(needsParameters))
        .flatMap(([type, symbol]) =>
          checker
            .getDeclaredTypeOfSymbol(symbol)
            .getProperties()
            .filter(({ name }) => /^\w+$/.test(name))
            .map(({ name }) => `export const v${index}_${type}_${name} = ({} as m${index}.${type})['${name}']`),
        ),
    ])
    .join('\n')
}

// Compiles declarations of every entry point, which takes seconds of a processor.
test.skipIf(!isLong)('an application may export each part of each public type, and emit declarations', () => {
  const file = join(makeApplication(), 'application.mts')
  const text = exportProperties()
  parsed.set(file, ts.createSourceFile(file, text, ts.ScriptTarget.ES2023))
  const program = ts.createProgram([file], options, host)
  const module = program.getSourceFile(file)
  const errors = [...program.getSemanticDiagnostics(module), ...program.getDeclarationDiagnostics(module)]
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
    // The types of a framework, whose package this application has not installed, cannot be named.
    .filter(message => !message.includes('domain-registration/node_modules/'))
  expect(new Set(errors.map(message => /(?:reference to|using name) '(\w+)'/.exec(message)?.[1] ?? message))).toEqual(
    new Set(),
  )
  expect(text.split('\n').length).toBeGreaterThan(500)
})
