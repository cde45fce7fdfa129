import type { Choice, createSchedule } from './schedule.ts'

/** A schedule, and whether its scenario is possible with the backend. */
interface Schedule extends ReturnType<typeof createSchedule> {
  readonly isPossible: boolean
}

/** The result of a search. */
export interface Found {
  /** How many different states were visited: if there is no violation, every state that exists. */
  readonly states: number
  /** The broken promise, and the steps that led to it. */
  readonly violation?: { readonly what: string; readonly story: readonly string[] }
}

/**
 * Visits every state of a scenario. A schedule cannot be copied, so each schedule starts from the beginning and repeats
 * the choices that lead to a state. A schedule ends when it reaches a known state.
 *
 * @param open Starts a schedule in which nothing is registered yet.
 * @returns The first violation, with one of the shortest sequences of steps that cause it.
 */
export async function search(open: () => Promise<Schedule>): Promise<Found> {
  const found = await visit(open, 'deep first')
  return found.violation ? visit(open, 'short first') : found
}

async function visit(open: () => Promise<Schedule>, order: 'deep first' | 'short first'): Promise<Found> {
  const seen = new Set<string>()
  let paths: (readonly string[])[] = [[]]
  let longer: (readonly string[])[] = []
  for (;;) {
    if (paths.length === 0) [paths, longer] = [longer, paths]
    const path = paths.pop()
    if (!path) return { states: seen.size }
    const schedule = await open()
    const story = [...path]
    try {
      if (!schedule.isPossible) return { states: 0 }
      await schedule.start()
      for (const says of path) await choose(schedule, says).take()
      for (;;) {
        const state = await schedule.inspect()
        const choices = schedule.choices()
        if (choices.length === 0 && !seen.has(state)) await schedule.finish()
        const what = schedule.violation()
        if (what !== null) return { states: seen.size, violation: { what, story } }
        if (seen.has(state)) break
        seen.add(state)
        const next = order === 'deep first' ? choices[0] : undefined
        const others = next ? choices.slice(1) : choices
        for (const { says } of others) (order === 'deep first' ? paths : longer).push([...story, says])
        if (!next) break
        story.push(next.says)
        await next.take()
      }
    } finally {
      await schedule.end()
    }
  }
}

function choose(schedule: Schedule, says: string): Choice {
  const choice = schedule.choices().find(choice => choice.says === says)
  if (!choice)
    throw new Error(`The same choices led to another state: "${says}" cannot be chosen. The store is not deterministic`)
  return choice
}
