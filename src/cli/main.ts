#!/usr/bin/env node
import { runProgram } from './program.ts'

process.stdout.on('error', () => {})
runProgram(process.argv.slice(2), process).then(code => {
  process.exitCode = code
})
