import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { takeLock } from './bootstrap/lock.mjs'
import { printProgress, Refusal } from './bootstrap/progress.mjs'
import { type ContractServer, startContractStack } from './contract/contract-stack.js'
import { runContract } from './contract/run-contract.js'
import type { ProcessGroup } from './dev/process-group.js'
import { addCounts, closingReport, summaryLine, type TestCounts } from './dev/test-run/tap.js'

// `npm run test:contract`: the checks of the API contract from outside, against any server or a stack of its own.
const help = `npm run test:contract [-- --url <base> [--stand-ins <url>]]

Checks every sentence of the API contract that can be seen from outside (test/contract/README.md).

  --url <base>       the server under test; it gets new accounts, intents and tips, and no clean-up
  --stand-ins <url>  its stand-ins (port SANDBOX_PORT of npm run dev); without them the checks that must pay, fail,
                     fund or read mails are skipped
  --help             print this text

Without --url it starts a stack of its own on free ports with default settings, and runs the checks twice: with fresh data,
and with what the first run has left.

Exit codes: 0 all passed; 1 something failed; 2 wrong arguments.
`
const dataDir = '.test-data/contract'
let processes: ProcessGroup | undefined

function readServer(): ContractServer | undefined {
  const options = {
    url: { type: 'string' },
    'stand-ins': { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const
  const { values } = readArguments(() => parseArgs({ options, strict: true }))
  if (values.help === true) {
    process.stdout.write(help)
    process.exit(0)
  }
  const { url, 'stand-ins': standIns } = values
  for (const address of [url, standIns])
    if (address !== undefined && !(/^https?:/.test(address) && URL.canParse(address)))
      throw new Refusal(`${address} is not an http(s) URL`, 2)
  if (url === undefined && standIns !== undefined) throw new Refusal('--stand-ins needs --url', 2)
  return url === undefined ? undefined : { url, standIns }
}

function readArguments<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${help}`, 2)
  }
}

async function runOnOwnStack(): Promise<TestCounts> {
  mkdirSync(dirname(dataDir), { recursive: true })
  const lock = takeLock(`${dataDir}.lock`)
  if (!lock.taken)
    throw new Refusal(`npm run test:contract already runs in this folder (process ${lock.pid})`)
  process.once('exit', lock.release)
  rmSync(dataDir, { recursive: true, force: true })
  const stack = await startContractStack({ dataDir, print: printProgress }, (group) => {
    processes = group
  })
  const fresh = await runContract(stack, { print: printProgress })
  printProgress(`fresh data: ${summaryLine(fresh)}`)
  const used = await runContract(stack, { print: printProgress })
  printProgress(`used data: ${summaryLine(used)}`)
  await stack.stop()
  return addCounts(fresh, used)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void (processes?.stop() ?? Promise.resolve()).then(() => process.exit(130)))
try {
  const server = readServer()
  const counts =
    server === undefined ? await runOnOwnStack() : await runContract(server, { print: printProgress })
  process.stdout.write(`${closingReport(counts)}\n`)
  process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1)
} catch (error) {
  process.stderr.write(`${error instanceof Refusal ? error.message : error}\n`)
  await processes?.stop()
  process.exit(error instanceof Refusal ? (error.exitCode ?? 1) : 1)
}
