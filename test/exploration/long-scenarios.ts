import { register, release, retry, type Scenario, sweep } from './scenarios.ts'

/** Scenarios for long runs, each with the number of its states. */
export const longScenarios: readonly (Scenario & { readonly name: string; readonly states: number })[] = [
  {
    name: 'a name is registered and released during two sweeps',
    processes: {
      caller: [register('1', 'a.example.com'), release('1', 'a.example.com')],
      'sweeper 1': [sweep],
      'sweeper 2': [sweep],
    },
    faults: 1,
    deaths: 1,
    leases: 2,
    states: 5585,
  },
  {
    name: 'a wildcard replaces a name while another team registers names below the wildcard',
    before: [register('1', 'a.example.com')],
    processes: {
      'team 1': [release('1', 'a.example.com'), register('1', '*.example.com')],
      'team 2': [register('2', 'a.example.com', 'b.example.com')],
      sweeper: [sweep],
    },
    faults: 1,
    states: 1056,
  },
  {
    name: 'two of three names are refused and made due again',
    processes: {
      caller: [register('1', 'a.example.com', 'b.example.com', 'c.example.com')],
      operator: [retry],
      releaser: [release('1', 'b.example.com')],
    },
    refused: ['a.example.com', 'b.example.com'],
    faults: 1,
    leases: 1,
    states: 1986,
  },
]
