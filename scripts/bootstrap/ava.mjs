// Starts AVA with its command line and our flags of V8. AVA repeats the flags of its command line for its threads, which
// refuse those of V8, so they are set here.
import { setFlagsFromString } from 'node:v8'
import { threadFlags } from './thread-flags.mjs'

for (const flag of threadFlags) setFlagsFromString(flag)
await import('../../node_modules/ava/entrypoints/cli.mjs')
