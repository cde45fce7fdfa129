/** Runs the suite on databases in memory, and prints its results. */
import { openDatabase } from './databases.js'
import { runSuite } from './suite.js'

const outcomes = await runSuite(
  () => openDatabase(':memory:'),
  database => database.close(),
)
console.log(JSON.stringify(outcomes))
