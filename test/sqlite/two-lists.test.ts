import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { describeTwoLists } from '../registry/two-lists.ts'

const folder = mkdtempSync(join(tmpdir(), 'sqlite-two-lists-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
describeTwoLists(new URL('open-store.ts', import.meta.url), () => [join(folder, `${++files}.db`)])
