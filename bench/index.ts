/** Prints what the README and the goals of the project quote: medians, spreads, and ratios to a yardstick of the same run. */
import { benchHostnames } from './hostnames.ts'
import { printMachine, printRow } from './report.ts'

printMachine()
for (const bench of [benchHostnames]) {
  for (const row of await bench()) printRow(row)
}
