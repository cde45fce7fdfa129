import { posix } from 'node:path'
import ts from 'typescript'
import { layers, MOST_COLUMNS, MOST_LINES, packages } from './rules.ts'

/** The text of each file, by its path in the repository. */
export type Tree = ReadonlyMap<string, string>

interface Import {
  readonly specifier: string
  readonly typesOnly: boolean
}

/** Names everything in the tree that breaks a rule. */
export function findBreaches(tree: Tree): string[] {
  const sources = [...tree].filter(([path]) => path.startsWith('src/')).map(([path, text]) => parse(path, text))
  const imports = new Map(sources.map(source => [source.fileName.slice('src/'.length), findImports(source)]))
  return [
    ...[...imports].flatMap(([file, imports]) => imports.flatMap(each => judgeImport(file, each))),
    ...findCircles(imports).map(circle => `circle: ${circle.join(', ')}`),
    ...sources.flatMap(findLongFunctions),
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
  // The files of the lowest layer have no rooms: circles among them are found as such.
  return lower < upper || (lower === 0 && upper === 0) ? [] : [`upward: src/${from} imports src/${to}`]
}

/** The folder of a file, or the file itself where it stands in none or has a layer of its own. */
const toRoom = (file: string) => (layers.flat().includes(file) ? file : (/^[^/]+\/?/.exec(file)?.[0] ?? ''))
const findLayer = (file: string) => layers.findIndex(rooms => rooms.includes(toRoom(file)))

/** Groups of files each of which imports all others, by way of whatever files. */
function findCircles(imports: ReadonlyMap<string, readonly Import[]>): string[][] {
  const reached = new Map([...imports.keys()].map(file => [file, findReached(file, imports)]))
  const circles = new Map<string, string[]>()
  for (const file of imports.keys()) {
    const circle = [...imports.keys()].filter(other => reached.get(file)?.has(other) && reached.get(other)?.has(file))
    if (circle.length > 0) circles.set(circle.toSorted().join(), circle.toSorted())
  }
  return [...circles.values()]
}

function findReached(file: string, imports: ReadonlyMap<string, readonly Import[]>): Set<string> {
  const reached = new Set<string>()
  const waiting = [file]
  for (const from of waiting) {
    for (const { specifier } of imports.get(from) ?? []) {
      const to = resolve(from, specifier)
      if (!specifier.startsWith('.') || reached.has(to)) continue
      reached.add(to)
      waiting.push(to)
    }
  }
  return reached
}

function findLongFunctions(source: ts.SourceFile): string[] {
  const found: string[] = []
  const toLine = (position: number) => source.getLineAndCharacterOfPosition(position).line
  function visit(node: ts.Node): void {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = toLine(node.end) - toLine(node.getStart(source)) + 1
      if (lines > MOST_LINES)
        found.push(`long function: ${source.fileName} ${node.name?.getText(source) ?? ''}, ${lines} of ${MOST_LINES}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const findLongLines = (path: string, text: string) =>
  text
    .split('\n')
    .flatMap((line, index) =>
      line.length > MOST_COLUMNS ? [`long line: ${path}:${index + 1}, ${line.length} of ${MOST_COLUMNS}`] : [],
    )
