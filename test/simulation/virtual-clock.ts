/** An object that represents a process and owns its timers. When the process ends, its timers are dropped. */
export type Owner = object

interface Event {
  readonly time: number
  readonly owner: Owner | null
  readonly action: () => void
  /** Timers in Node have this method. Here it does nothing. */
  unref(): void
}

/** Virtual time. It jumps from one planned event to the next, so a schedule of minutes takes a millisecond. */
export interface VirtualClock {
  /** Milliseconds since the start. */
  now(): number
  /** Runs a function with a clock that is ahead or behind by some milliseconds. */
  skew<T>(milliseconds: number, work: () => T): T
  plan(delay: number, owner: Owner | null, action: () => void): Event
  /** Drops the events of an owner, and all events that the owner plans later. */
  end(owner: Owner): void
  /**
   * Runs events in order, for some milliseconds or until `isOver` returns true. After an event that has an owner, all
   * promises settle before the next event. After an event without an owner, the next event does not wait for promises.
   */
  pass(milliseconds: number, isOver: () => boolean): Promise<void>
  /** A timer belongs to the owner of the event that is running. */
  setTimeout(action: () => void, delay?: number): Event
  clearTimeout(timer: Event): void
}

export function createVirtualClock(): VirtualClock {
  let now = 0
  let running: Event | null = null
  /** In the order in which they will run. */
  const events: Event[] = []
  const ended = new Set<Owner>()

  function plan(delay: number, owner: Owner | null, action: () => void): Event {
    const event = { time: now + delay, owner, action, unref() {} }
    if (owner && ended.has(owner)) return event
    let index = events.length
    while (index > 0 && (events[index - 1] as Event).time > event.time) index -= 1
    events.splice(index, 0, event)
    return event
  }

  function remove(event: Event): void {
    const index = events.indexOf(event)
    if (index >= 0) events.splice(index, 1)
  }

  return {
    now: () => now,
    skew(milliseconds, work) {
      const before = now
      now += milliseconds
      try {
        return work()
      } finally {
        now = before
      }
    },
    plan,
    end(owner) {
      for (const event of events.filter(planned => planned.owner === owner)) remove(event)
      ended.add(owner)
    },
    async pass(milliseconds, isOver) {
      const end = now + milliseconds
      while (events[0] && events[0].time <= end && !isOver()) {
        running = events.shift() as Event
        now = running.time
        running.action()
        if (running.owner) await promisesContinued()
      }
      now = end
    },
    setTimeout: (action, delay = 0) => plan(delay, running?.owner ?? null, action),
    clearTimeout: remove,
  }
}

/** Node drains the microtask queue before each turn of the event loop. */
const promisesContinued = () => new Promise<void>(resolve => void setImmediate(resolve))

let followed: VirtualClock | null = null

/** Makes the global time functions follow a clock, or real time if it is `null`; see {@link installVirtualTime}. */
export function follow(clock: VirtualClock | null): void {
  followed = clock
}

/** The start time, late enough that no jump of a clock leads to a time before 1970. */
const START = Date.UTC(2026, 0)

/**
 * Replaces the global timers, `performance.now` (used by the core), and `Date` (used by databases). Call this once for
 * many schedules, because the JavaScript engine discards compiled code at each replacement.
 *
 * @returns A function that restores the real timers and clocks.
 */
export function installVirtualTime(): () => void {
  const { setTimeout, clearTimeout, Date: RealDate } = globalThis
  const now = performance.now.bind(performance)
  const today = Date.now
  Object.assign(globalThis, {
    setTimeout: (action: () => void, delay?: number) =>
      followed ? followed.setTimeout(action, delay) : setTimeout(action, delay),
    clearTimeout: (timer: never) => (followed ? followed.clearTimeout(timer) : clearTimeout(timer)),
    Date: new Proxy(RealDate, {
      construct: (target, values) => Reflect.construct(target, values.length === 0 ? [Date.now()] : values),
    }),
  })
  Date.now = () => (followed ? Math.floor(START + followed.now()) : today())
  Object.defineProperty(performance, 'now', { value: () => (followed ? followed.now() : now()), configurable: true })
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout, Date: RealDate })
    Date.now = today
    // Without this property, the real function on the prototype is called again.
    Reflect.deleteProperty(performance, 'now')
  }
}
