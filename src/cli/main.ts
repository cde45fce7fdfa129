#!/usr/bin/env node
import { runProgram } from './program.ts'

// The program that reads the output may have closed it. The exit code still says what happened.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})
runProgram(process.argv.slice(2), process).then(code => {
  process.exitCode = code
})
