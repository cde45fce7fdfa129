import { expect, test } from 'vitest'
import { type Event, explain, type Specification } from './checker.ts'

/** The register of the textbooks: one value, written and read. */
type Operation = { readonly write: number } | { readonly read: number }

const register: Specification<number, Operation> = {
  step(state, operation) {
    if ('write' in operation) return operation.write
    return operation.read === state ? state : null
  },
  toText: String,
  isObservation: operation => 'read' in operation,
  isIdle: (_, operation) => 'read' in operation,
}

const event = (startedAt: number, endedAt: number, operation: Operation): Event<Operation> => ({
  startedAt,
  endedAt,
  operation,
})
const never = Number.POSITIVE_INFINITY

test.each<[string, Event<Operation>[]]>([
  ['nothing', []],
  ['one after another', [event(0, 1, { write: 1 }), event(2, 3, { read: 1 })]],
  ['a read during a write, of what was before', [event(0, 3, { write: 1 }), event(1, 2, { read: 0 })]],
  ['a read during a write, of what it writes', [event(0, 3, { write: 1 }), event(1, 2, { read: 1 })]],
  [
    'reads of both of two writes at a time',
    [event(0, 9, { write: 1 }), event(1, 8, { write: 2 }), event(2, 3, { read: 2 }), event(4, 5, { read: 1 })],
  ],
  ['a write that ends when a read starts', [event(0, 1, { write: 1 }), event(1, 2, { read: 0 })]],
  ['a write without an end that happened', [event(0, never, { write: 1 }), event(5, 6, { read: 1 })]],
  ['a write without an end that never happened', [event(0, never, { write: 1 }), event(5, 6, { read: 0 })]],
])('an order explains %s', (_, events) => {
  expect(explain(register, 0, events)).toBeNull()
  expect(explain(register, 0, events.toReversed())).toBeNull()
})

test.each<[string, Event<Operation>[]]>([
  ['a read of what was before a write that is over', [event(0, 1, { write: 1 }), event(2, 3, { read: 0 })]],
  ['a read of what is written later', [event(0, 1, { read: 1 }), event(2, 3, { write: 1 })]],
  [
    'a value that goes back without a write',
    [event(0, 9, { write: 1 }), event(1, 2, { read: 1 }), event(3, 4, { read: 0 })],
  ],
  [
    'two readers who saw two writes in different orders',
    [
      ...[event(0, 1, { write: 1 }), event(0, 1, { write: 2 })],
      ...[event(2, 3, { read: 1 }), event(4, 5, { read: 2 })],
    ],
  ],
  [
    'what one write without an end did twice',
    [
      ...[event(0, never, { write: 1 }), event(1, 2, { read: 1 })],
      ...[event(3, 4, { write: 2 }), event(5, 6, { read: 1 })],
    ],
  ],
])('no order explains %s', (_, events) => {
  expect(explain(register, 0, events)).not.toBeNull()
  expect(explain(register, 0, events.toReversed())).not.toBeNull()
})

test('what is shown begins when no call was under way, and leaves out observations that show nothing', () => {
  const quiet = [event(0, 5, { write: 1 }), event(1, 5, { write: 2 }), event(6, 7, { write: 3 })]
  const fault = [event(10, 20, { write: 4 }), event(11, 12, { read: 4 }), event(13, 14, { read: 3 })]
  const noise = [event(11, 12, { read: 3 }), event(11, 30, { read: 4 }), event(16, 17, { read: 0 })]
  const inexplicable = explain(register, 0, [...quiet, ...fault, ...noise])
  expect(inexplicable?.before).toEqual([3])
  // The write is still under way when the second of them has no explanation.
  expect(inexplicable?.events).toEqual([{ ...fault[0], endedAt: never }, ...fault.slice(1)])
})
