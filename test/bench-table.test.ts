import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readFigures } from '../bench/figures.ts'
import { goals } from '../bench/goals.ts'
import { findMissed, toTable } from '../bench/table.ts'

describe('bench/RESULTS.md', () => {
  test('begins with the goals and the figures of figures.json (npm run bench -- table)', () => {
    const results = readFileSync(new URL('../bench/RESULTS.md', import.meta.url), 'utf8')
    expect(/<!-- goals -->\n(.*)\n<!-- \/goals -->/s.exec(results)?.[1]).toBe(toTable(readFigures()))
  })

  test('marks what is missed, and what nobody measured', () => {
    const measured = { machine: '2 × cores', date: '2026-11-22', commit: 'abcdef0', run: 'before' }
    const table = toTable({ ascii: { ...measured, figure: 1.104 }, memory: { ...measured, figure: 3.5 } })
    const rows = table.split('\n').slice(2)
    expect(rows).toHaveLength(Object.keys(goals).length)
    expect(rows[0]).toContain('| 1.10 ×, **missed** | ≤ 1.1 × | 2026-11-22, abcdef0 | 2 × cores | `hostnames` |')
    expect(rows[1]).toContain('| **not measured** | ≤ 2.5 × |')
    expect(rows.find(row => row.includes('100 new names, memory store'))).toContain('| 3.50 × | ≤ 3.5 × |')
  })

  test('a section that measured nothing in this run has missed its goals', () => {
    expect(findMissed(['hold', 'keys'])).toEqual(['hold'])
  })
})
