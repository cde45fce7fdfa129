import { type ResultCode, submitForCodes } from './calls.ts'
import { checkEqual } from './check.ts'
import type { CaseDefinition } from './store-case.ts'

/** The expected result for a name that team 1 submits, after team 1 and team 2 have registered some names. */
type Row = readonly [code: ResultCode, submitted: string, own: readonly string[], others: readonly string[]]

function overlapCase(id: string, name: CaseDefinition['name'], rows: readonly Row[]): CaseDefinition {
  return {
    id,
    name,
    async test({ open }) {
      for (const [code, submitted, own, others] of rows) {
        const store = await open()
        for (const domain of own)
          checkEqual(`the code of ${domain}, registered before`, await submitForCodes(store, '1', [domain]), [
            'created',
          ])
        for (const domain of others) {
          checkEqual(
            `the code of ${domain}, registered before by another team`,
            await submitForCodes(store, '2', [domain]),
            ['created'],
          )
        }
        const held = `while its team has [${own}] and another team has [${others}]`
        checkEqual(`the code of ${submitted} ${held}`, await submitForCodes(store, '1', [submitted]), [code])
      }
    },
  }
}

export const overlapCases: readonly CaseDefinition[] = [
  overlapCase('overlap-created', 'MUST register a name that does not overlap with any registration', [
    ['created', 'example.com', [], []],
    ['created', '*.example.com', [], []],
    ['created', '8.8.8.8', ['8.8.4.4'], ['1.1.1.1']],
    // A wildcard covers neither its own base nor names that only look similar. A name that is not a wildcard covers no
    // other name.
    ['created', 'example.com', ['*.example.com'], []],
    ['created', '*.example.com', ['example.com'], []],
    ['created', 'example.com', [], ['*.example.com']],
    ['created', '*.example.com', [], ['example.com']],
    ['created', 'a.b.example.com', ['*.a.example.com'], []],
    ['created', 'notexample.com', ['*.example.com'], ['*.ample.com']],
    ['created', '*.a.example.com', ['b.example.com', 'a.example.com'], ['*.ba.example.com']],
    ['created', 'www.example.com', ['example.com'], ['a.example.com', 'a.www.example.com']],
    ['created', 'example.com', ['www.example.com'], ['a.example.com']],
    ['created', 'bucket.s3.amazonaws.com', ['*.amazonaws.com'], ['amazonaws.com']],
  ]),
  overlapCase('overlap-existing', 'MUST report a name as existing if the team has already registered it', [
    ['existing', 'example.com', ['example.com'], []],
    ['existing', '*.example.com', ['*.example.com'], []],
    ['existing', '*.example.com', ['example.com', '*.example.com'], ['example.org']],
    ['existing', '8.8.8.8', ['8.8.8.8'], []],
    ['existing', '2001:4860:4860::8888', ['2001:4860:4860::8888'], []],
  ]),
  overlapCase('overlap-wildcard-conflict', 'MUST reject a name that a wildcard of the same team covers', [
    ['wildcard_conflict', 'a.example.com', ['*.example.com'], []],
    ['wildcard_conflict', 'a.b.c.example.com', ['*.example.com'], []],
    ['wildcard_conflict', 'a.b.c.example.com', ['*.c.example.com'], []],
    ['wildcard_conflict', '*.a.example.com', ['*.example.com'], []],
  ]),
  overlapCase('overlap-subdomain-conflict', 'MUST reject a wildcard that would cover names of the same team', [
    ['subdomain_conflict', '*.example.com', ['a.example.com'], []],
    ['subdomain_conflict', '*.example.com', ['a.b.example.com'], []],
    ['subdomain_conflict', '*.example.com', ['*.a.example.com'], []],
    ['subdomain_conflict', '*.b.example.com', ['example.com', 'a.b.example.com'], []],
  ]),
  overlapCase('overlap-with-another-team', 'MUST reject a name that overlaps with a registration of another team', [
    ['domain_already_licensed', 'example.com', [], ['example.com']],
    ['domain_already_licensed', '*.example.com', [], ['*.example.com']],
    ['domain_already_licensed', 'a.b.example.com', [], ['*.example.com']],
    ['domain_already_licensed', '*.a.example.com', [], ['*.example.com']],
    ['domain_already_licensed', '*.example.com', [], ['a.example.com']],
    ['domain_already_licensed', '*.example.com', [], ['*.a.example.com']],
    ['domain_already_licensed', '8.8.8.8', [], ['8.8.8.8']],
  ]),
  {
    id: 'overlap-own-team-first',
    name: 'MUST report the conflict with the calling team’s own names if a name conflicts with those of two teams',
    async test({ open }) {
      const store = await open()
      await submitForCodes(store, '2', ['a.b.example.com', '*.example.org', 'example.net'])
      checkEqual(
        'the codes of names that are near those of both teams',
        await submitForCodes(store, '1', [
          'c.example.com',
          '*.example.com',
          '*.b.example.com',
          '*.example.net',
          'b.example.net',
        ]),
        ['created', 'subdomain_conflict', 'domain_already_licensed', 'created', 'wildcard_conflict'],
      )
      checkEqual(
        'the codes of two conflicting names, submitted again',
        await submitForCodes(store, '1', ['*.example.com', 'c.example.com']),
        ['subdomain_conflict', 'existing'],
      )
    },
  },
  {
    id: 'overlap-within-one-call',
    name: 'MUST register the names of one call as if they had been submitted one after another',
    async test({ open }) {
      const store = await open()
      const domains = ['*.a.com', 'x.a.com', 'x.b.com', '*.b.com', 'a.com', 'a.com', '*.y.c.com', '*.c.com']
      checkEqual('the codes of the results', await submitForCodes(store, '1', domains), [
        'created',
        'wildcard_conflict',
        'created',
        'subdomain_conflict',
        'created',
        'existing',
        'created',
        'subdomain_conflict',
      ])
      checkEqual(
        'the codes of a second call',
        await submitForCodes(store, '1', ['a.com', '*.a.com', 'z.a.com', '*.b.com']),
        ['existing', 'existing', 'wildcard_conflict', 'subdomain_conflict'],
      )
    },
  },
  {
    id: 'two-teams-side-by-side',
    name: 'MUST let two teams register names in the same registrable domain if the names do not overlap',
    async test({ open }) {
      const store = await open()
      checkEqual(
        'the codes for team 1',
        await submitForCodes(store, '1', ['example.com', 'a.example.com', '*.b.example.com']),
        ['created', 'created', 'created'],
      )
      checkEqual(
        'the codes for team 2',
        await submitForCodes(store, '2', ['b.example.com', '*.a.example.com', 'www.example.com']),
        ['created', 'created', 'created'],
      )
    },
  },
]
