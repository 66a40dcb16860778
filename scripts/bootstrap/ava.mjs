// Starts AVA with its command line and our flags of V8. AVA repeats the flags of its command line for its threads, which
// refuse those of V8, so they are set here.
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { _testOnlyReplaceWorkerPath as replaceWorker } from '../../node_modules/ava/lib/fork.js'
import { threadFlags } from './thread-flags.mjs'

for (const flag of threadFlags) setFlagsFromString(flag)
// Tests in dist import the bundled `ava` (bundle.mjs), so their threads must run its other half.
const worker = new URL('../../dist/node_modules/ava/worker.js', import.meta.url)
if (process.argv.some((argument) => argument.startsWith('dist/')) && existsSync(worker)) replaceWorker(worker)
await import('../../node_modules/ava/entrypoints/cli.mjs')
