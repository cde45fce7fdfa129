/**
 * Draws the pictures in `docs/pictures`: `node --import tsx site/pictures.ts`. Each picture is one file for the light
 * and the dark theme, and is narrow enough for a phone. The chart of costs uses the benchmark's figures.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { type GoalName, goals } from '../bench/goals.ts'

/** A step in a column of steps, with a note beside it. */
interface Step {
  readonly main?: string
  readonly side?: string
}
interface Picture {
  readonly title: string
  readonly steps: readonly Step[]
  /** Whether each step leads to the next one. */
  readonly isFlow?: boolean
}

const WIDTH = 420
const LINE = 18
const GAP = 22
const columns = { main: { x: 10, width: 190 }, side: { x: 225, width: 185 } }

export const pictures: Readonly<Record<string, Picture>> = {
  call: {
    title: 'One call, from request to response',
    isFlow: true,
    steps: [
      { main: 'POST /v1/domains\nAPI key, 1 to 100 hostnames' },
      { main: 'Check key, rate, scope,\nbody and team', side: '400 to 429:\nnothing is saved' },
      { main: 'Bring each hostname\nto its canonical form', side: 'invalid, with code\nand message' },
      {
        main: 'One transaction: lock\nregistrable domains,\nlook up, decide, save',
        side: 'created, existing,\nor a conflict',
      },
      { main: 'Push to your monitor', side: '503: saved, not pushed;\nsend the call again' },
      { main: '200: a result for each\nhostname, and totals' },
    ],
  },
  overlap: {
    title: 'Names that overlap with *.example.com',
    steps: [
      { main: 'Team 1 has registered\n*.example.com', side: 'then a team submits:' },
      { main: '*.example.com', side: 'team 1: existing\nteam 2:\ndomain_already_licensed' },
      {
        main: 'a.example.com\na.b.example.com\n*.b.example.com',
        side: 'team 1: wildcard_conflict\nteam 2:\ndomain_already_licensed',
      },
      { main: 'example.com', side: 'created: a wildcard does\nnot cover its own base' },
      { main: 'a.example.org', side: 'created: another\nregistrable domain' },
      { main: '*.com', side: 'public_suffix_domain' },
    ],
  },
  change: {
    title: 'The life of a change',
    isFlow: true,
    steps: [
      { main: 'Saved in the transaction\nthat registers or releases', side: 'pending' },
      {
        main: 'Leased to one call\nor sweep, for 90 s',
        side: 'the process dies:\nthe lease expires, and\na sweep pushes it',
      },
      { main: 'Pushed in a batch', side: 'the batch fails:\nit is halved until each\nfailing change is alone' },
      { main: 'Pushed alone', side: 'refused: retried alone,\nafter 5 s, 10 s … 1 h' },
      { main: 'Synchronized: your\nmonitor has it', side: 'monitor unavailable:\nchanges stay pending' },
    ],
  },
  runs: {
    title: 'Where each store runs',
    steps: [
      { main: 'one process', side: 'memory store\nlost with the process' },
      { main: 'processes\non one machine', side: 'SQLite file' },
      { main: 'processes\non any machines', side: 'PostgreSQL' },
      { main: 'processes\non any machines', side: 'Citus: coordinator\nand workers' },
      { main: 'Each process pushes its\nchanges and sweeps', side: 'your monitor: function\nor signed webhook' },
    ],
  },
}

const style = `text { font: 14px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
    rect { fill: #f6f8fa; stroke: #59636e; rx: 6px } path { stroke: #59636e; fill: none } .bar { fill: #0969da; stroke: none }
    .start { text-anchor: start }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc } rect { fill: #151b23; stroke: #9198a1 } path { stroke: #9198a1 } .bar { fill: #4493f8 }
    }`
const toXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const svg = (title: string, text: string, height: number, body: readonly string[]) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
  <title>${toXml(title)}</title>
  <desc>${toXml(text)}</desc>
  <style>
    ${style}
  </style>
${body.map(line => `  ${line}\n`).join('')}</svg>
`

/** Returns the alternative text of a picture, for readers who cannot see it. */
export const toText = ({ title, steps }: Picture) =>
  `${title}. ${steps.map(({ main, side }) => [main, side].filter(Boolean).join(': ').replaceAll('\n', ' ')).join('. ')}.`

function drawBox(text: string, { x, width }: { x: number; width: number }, y: number, height: number): string[] {
  const lines = text.split('\n')
  const top = y + (height - lines.length * LINE) / 2 + 14
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}"/>`,
    ...lines.map((line, index) => `<text x="${x + width / 2}" y="${top + index * LINE}">${toXml(line)}</text>`),
  ]
}

function drawSteps(picture: Picture): string {
  let y = 10
  const body = picture.steps.flatMap(({ main = '', side }, index) => {
    const lines = Math.max(main.split('\n').length, side?.split('\n').length ?? 0)
    const [top, height] = [y, lines * LINE + 16]
    y += height + (picture.isFlow ? GAP : 10)
    const center = columns.main.x + columns.main.width / 2
    const isLast = index === picture.steps.length - 1
    const down = `<path d="M${center} ${top + height}v${GAP - 1}m-5 -6l5 6l5 -6"/>`
    const across = `<path d="M${columns.main.x + columns.main.width} ${top + height / 2}h24m-6 -5l6 5l-6 5"/>`
    return [
      ...drawBox(main, columns.main, top, height),
      ...(side ? [...drawBox(side, columns.side, top, height), across] : []),
      ...(picture.isFlow && !isLast ? [down] : []),
    ]
  })
  return svg(picture.title, toText(picture), y, body)
}

const measured: Partial<Record<GoalName, { readonly starts: readonly number[] }>> = JSON.parse(
  readFileSync(new URL('../bench/figures.json', import.meta.url), 'utf8'),
)
const shown = [
  'express',
  'fastify',
  'fetch',
  'postgres',
  'postgresExisting',
  'sqlite',
  'ascii',
  'international',
] as const

/**
 * Draws the cost of calls, compared with that of other programs. The length of each bar is the median of the
 * benchmark's figures.
 */
function drawCosts(): string {
  const rows = shown
    .filter(name => name in measured)
    .map(name => {
      const starts = [...(measured[name]?.starts ?? [])].sort((a, b) => a - b)
      return { ...goals[name], median: starts[Math.floor(starts.length / 2)] ?? 0 }
    })
  const body = rows.flatMap(({ work, yardstick, median }, index) => {
    const y = 10 + index * 64
    return [
      `<text class="start" x="10" y="${y + 14}">${toXml(plain(work))}: ${median.toFixed(2)} ×</text>`,
      `<rect class="bar" x="10" y="${y + 22}" width="${Math.round(median * 160)}" height="10"/>`,
      `<path d="M170 ${y + 18}v18"/>`,
      `<text class="start" x="10" y="${y + 48}" style="font-size: 12px">${toXml(plain(yardstick))}</text>`,
    ]
  })
  const text = rows.map(({ work, yardstick, median }) => `${plain(work)}: ${median.toFixed(2)} × ${plain(yardstick)}`)
  return svg('The cost of calls, compared with other programs', `${text.join('. ')}.`, rows.length * 64 + 12, body)
}

const plain = (text: string) => text.replaceAll('`', '')

/** All pictures, by file name. */
export const files: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(pictures).map(([name, picture]) => [`${name}.svg`, drawSteps(picture)])),
  'costs.svg': drawCosts(),
}

if (process.argv[1]?.endsWith('pictures.ts')) {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(new URL(`../docs/pictures/${name}`, import.meta.url), text)
  }
}
