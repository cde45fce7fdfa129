/** Runs the suite on databases in memory, and prints what came of it. */
import { openDatabase } from './databases.js'
import { runSuite } from './suite.js'

const outcomes = await runSuite(
  () => openDatabase(':memory:'),
  database => database.close(),
)
console.log(JSON.stringify(outcomes))
