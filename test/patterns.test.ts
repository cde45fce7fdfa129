import { readdirSync, readFileSync } from 'node:fs'
import { analyse } from 'scslre'
import ts from 'typescript'
import { expect, test } from 'vitest'

interface Pattern {
  /** `src/hostname/classify.ts:12` */
  readonly place: string
  readonly pattern: RegExp
}

const source = new URL('../src/', import.meta.url)
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))

const patterns: Pattern[] = []
/**
 * Calls that create a pattern from a string. This test cannot check such a pattern, because the source does not contain
 * it.
 */
const made: string[] = []

for (const file of files) {
  const text = readFileSync(new URL(file, source), 'utf8')
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const visit = (node: ts.Node): void => {
    const place = `src/${file}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`
    if (ts.isRegularExpressionLiteral(node)) patterns.push({ place, pattern: toRegExp(node.text) })
    if (isMade(node, tree)) made.push(place)
    ts.forEachChild(node, visit)
  }
  visit(tree)
}

function isMade(node: ts.Node, tree: ts.SourceFile): boolean {
  return (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(tree) === 'RegExp'
}

function toRegExp(literal: string): RegExp {
  const end = literal.lastIndexOf('/')
  return new RegExp(literal.slice(1, end), literal.slice(end + 1))
}

/**
 * Returns why a pattern may take more than linear time: two quantifiers match the same characters, a quantifier repeats
 * another one, or a search starts at every position.
 */
const findSlowness = (pattern: RegExp) => analyse(pattern).reports.map(({ type }) => type)

test('every regular expression in the source takes linear time', () => {
  expect(patterns.length).toBeGreaterThan(30)
  const slow = patterns.map(({ place, pattern }) => ({ place, pattern, slowness: findSlowness(pattern) }))
  expect(slow.filter(({ slowness }) => slowness.length > 0)).toEqual([])
})

test('every regular expression in the source is a literal, so the check finds it', () => {
  expect(made).toEqual([])
})
