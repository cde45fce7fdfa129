import { posix } from 'node:path'
import ts from 'typescript'
import { layers, MOST_COLUMNS, packages } from './rules.ts'

/** The text of each file, by its path in the repository. */
export type Tree = ReadonlyMap<string, string>

interface Import {
  readonly specifier: string
  readonly typesOnly: boolean
}

/** Names everything in the tree that breaks a rule. */
export function findBreaches(tree: Tree): string[] {
  const sources = [...tree].filter(([path]) => path.startsWith('src/')).map(([path, text]) => parse(path, text))
  return [
    ...sources.flatMap(source =>
      findImports(source).flatMap(each => judgeImport(source.fileName.slice('src/'.length), each)),
    ),
    ...[...tree].flatMap(([path, text]) => findLongLines(path, text)),
  ]
}

const parse = (path: string, text: string) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)

/** Of any kind: `import`, `export … from`, `import()` and `import('…').Type`. */
function findImports(source: ts.SourceFile): Import[] {
  const found: Import[] = []
  function visit(node: ts.Node): void {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false)
    ts.forEachChild(node, visit)
  }
  function add(specifier: ts.Node | undefined, typesOnly: boolean): void {
    if (specifier && ts.isStringLiteral(specifier)) found.push({ specifier: specifier.text, typesOnly })
  }
  visit(source)
  return found
}

function judgeImport(file: string, { specifier, typesOnly }: Import): string[] {
  if (specifier.startsWith('.')) return judgeArrow(file, resolve(file, specifier))
  const rule = packages[specifier]
  if (!rule?.by.test(file)) return [`package: src/${file} imports ${specifier}`]
  return rule.only === 'types' && !typesOnly ? [`package: src/${file} imports more than types of ${specifier}`] : []
}

const resolve = (file: string, specifier: string) => posix.join(posix.dirname(file), specifier)

function judgeArrow(from: string, to: string): string[] {
  if (toRoom(from) === toRoom(to)) return []
  const [lower, upper] = [findLayer(to), findLayer(from)]
  if (lower < 0 || upper < 0) return [`layer: src/${lower < 0 ? to : from} stands on none`]
  // The files of the lowest layer have no rooms: the linter finds circles among them.
  return lower < upper || (lower === 0 && upper === 0) ? [] : [`upward: src/${from} imports src/${to}`]
}

/** The folder of a file, or the file itself where it stands in none or has a layer of its own. */
const toRoom = (file: string) => (layers.flat().includes(file) ? file : (/^[^/]+\/?/.exec(file)?.[0] ?? ''))
const findLayer = (file: string) => layers.findIndex(rooms => rooms.includes(toRoom(file)))

const findLongLines = (path: string, text: string) =>
  text
    .split('\n')
    .flatMap((line, index) =>
      line.length > MOST_COLUMNS ? [`long line: ${path}:${index + 1}, ${line.length} of ${MOST_COLUMNS}`] : [],
    )
