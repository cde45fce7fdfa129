import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Program {
  readonly name: string
  readonly language: string
  readonly program: string
}

/** Pages with a program for each framework or library: each of their sections begins with a whole program. */
const bySection = ['quick-start', 'frameworks', 'authentication', 'orm', 'own-store']

/** Examples whose packages the repository itself does not install. */
const folders = ['examples/frameworks', 'examples/callers']

/** @returns The programs of a page: the first one, or the first one of each section. */
function findInPage(file: string): Program[] {
  const page = file.replace('.md', '')
  const text = readFileSync(join(root, 'docs', file), 'utf8')
  const parts = bySection.includes(page) ? text.split(/^## /m).slice(1) : [`\n${text}`]
  return parts.flatMap(part => {
    const [, language = '', program] = /^```([jt]s)\n(.*?)^```/ms.exec(part) ?? []
    if (program === undefined) return []
    const section = part.slice(0, part.indexOf('\n'))
    return [{ name: section ? `${page}, ${section}` : page, language, program }]
  })
}

/** @returns The first program of each page and of AGENTS.md, on some pages of each section; and some examples. */
export function findPrograms(): Program[] {
  const pages = [...readdirSync(join(root, 'docs')).filter(file => file.endsWith('.md')), '../AGENTS.md']
  const examples = folders.flatMap(folder => readdirSync(join(root, folder)).map(file => join(folder, file)))
  return [
    ...pages.flatMap(findInPage),
    ...examples.map(file => ({
      name: file,
      language: file.endsWith('.ts') ? 'ts' : 'js',
      program: readFileSync(join(root, file), 'utf8'),
    })),
  ]
}
