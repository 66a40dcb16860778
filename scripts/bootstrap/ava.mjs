// Starts AVA with its command line, on Node 20 with less optimization. Each test file has a thread of its own, which loads
// everything anew and ends soon: code that V8 optimizes at its usual budget of 67,584 seldom earns that back. With this one
// only loops that run long are optimized. AVA repeats the flags of its command line for its threads, which refuse those of
// V8, so the flag is set here.
import { setFlagsFromString } from 'node:v8'

if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=1000000')
await import('../../node_modules/ava/entrypoints/cli.mjs')
