import { posix } from 'node:path'
import ts from 'typescript'
import { layers, MOST_COLUMNS, packages } from './rules.ts'

/** The source of each file, by its path in the repository. */
export type Tree = ReadonlyMap<string, string>

interface Import {
  /** The path below `src`. */
  readonly file: string
  readonly specifier: string
  readonly typesOnly: boolean
}

/** Lists each place in the tree that breaks a rule. */
export const findBreaches = (tree: Tree): string[] => [
  ...listImports(tree).flatMap(judgeImport),
  ...[...tree].flatMap(([path, text]) => findLongLines(path, text)),
]

/** Lists permissions to import that no file uses. */
export function findUnused(tree: Tree): string[] {
  const imports = listImports(tree)
  return Object.entries(packages).flatMap(([name, { by }]) =>
    by
      .filter(place => !imports.some(({ file, specifier }) => specifier === name && isIn(place, file)))
      .map(place => `unused: src/${place} may import ${name}`),
  )
}

const clause = /(?<=^|\n)(?:import|export) (?:type )?(?:\*(?: as \w+)?|\{([^}]*)\}) from '([^']*)'/g
const named = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm

/**
 * Lists what a file of `src` exports, and no file imports.
 *
 * @param entries The files that applications import.
 */
export function findUnimported(tree: Tree, entries: readonly string[]): string[] {
  const imported = new Set<string>()
  for (const [path, text] of tree) {
    for (const [, names, specifier = ''] of text.matchAll(clause)) {
      const file = resolve(path, specifier)
      const list = names?.split(',').map(name =>
        name
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*/, ''),
      ) ?? ['*']
      for (const name of list) imported.add(`${file}: ${name}`)
    }
  }
  return [...tree].flatMap(([path, text]) => {
    if (!path.startsWith('src/') || entries.includes(path) || imported.has(`${path}: *`)) return []
    return [...text.matchAll(named)].map(([, name]) => `${path}: ${name}`).filter(name => !imported.has(name))
  })
}

const listImports = (tree: Tree): Import[] =>
  [...tree].flatMap(([path, text]) => (path.startsWith('src/') ? findImports(path.slice('src/'.length), text) : []))

/** Finds imports of any kind: `import`, `export … from`, `import()` and `typeof import('…')`. */
const findImports = (file: string, text: string): Import[] =>
  ts.preProcessFile(text).importedFiles.map(({ fileName, pos }) => ({
    file,
    specifier: fileName,
    typesOnly: /(?:^|\n)(?:import|export) type [^']*'?$|typeof import\('?$/.test(text.slice(0, pos)),
  }))

function judgeImport({ file, specifier, typesOnly }: Import): string[] {
  if (specifier.startsWith('.')) return judgeArrow(file, resolve(file, specifier))
  const rule = packages[specifier]
  if (!rule?.by.some(place => isIn(place, file))) return [`package: src/${file} imports ${specifier}`]
  return rule.only === 'types' && !typesOnly ? [`package: src/${file} imports more than types of ${specifier}`] : []
}

const isIn = (place: string, file: string) => (place.endsWith('/') ? file.startsWith(place) : file === place)

const resolve = (file: string, specifier: string) => posix.join(posix.dirname(file), specifier)

function judgeArrow(from: string, to: string): string[] {
  if (toRoom(from) === toRoom(to)) return []
  const [lower, upper] = [findLayer(to), findLayer(from)]
  if (lower < 0 || upper < 0) return [`layer: src/${lower < 0 ? to : from} stands on none`]
  return lower < upper ? [] : [`upward: src/${from} imports src/${to}`]
}

/** The folder of a file. The file itself if it is in no folder, or if it has its own layer. */
const toRoom = (file: string) => (layers.flat().includes(file) ? file : (/^[^/]+\/?/.exec(file)?.[0] ?? ''))
const findLayer = (file: string) => layers.findIndex(rooms => rooms.includes(toRoom(file)))

const findLongLines = (path: string, text: string) =>
  text
    .split('\n')
    .flatMap((line, index) =>
      line.length > MOST_COLUMNS ? [`long line: ${path}:${index + 1}, ${line.length} of ${MOST_COLUMNS}`] : [],
    )
