import { parseArgs } from 'node:util'
import { usdcText } from '../../../src/kernel/money.js'
import { startServers } from '../../bench/servers.js'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { killSweeps } from './kill-sweeps.js'

const killsPerRound = 25

/** `npm run faults -- sweeps`: kills of custodians and sweep commands in rounds. Returns the exit code. */
export async function runSweeps(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { kills: { type: 'string' }, seed: { type: 'string' } },
  })
  const kills = whole('--kills', values.kills ?? '500')
  const seed = whole('--seed', values.seed ?? String((Date.now() % 1e9) + 1))
  const rounds = Math.ceil(kills / killsPerRound)
  printProgress(`seed ${seed}, ${rounds} rounds of ${killsPerRound} kills`)
  const servers = await startServers('.data/faults')
  const startedAt = Date.now()
  try {
    const { databaseUrl, redisUrl } = servers
    const addresses = { databaseUrl, redisUrl, namespace: `sweeps-${seed}` }
    let done = 0
    const results = await killSweeps(addresses, {
      seed,
      rounds,
      killsPerRound,
      report: printProgress,
      roundFinished: ({ kills: killed, comparison }) => {
        done += killed.length
        printProgress(
          `${done} of ${kills} kills; ${JSON.stringify({ sweeps: comparison.sweeps, takeOuts: comparison.takeOuts })}, ${comparison.faults.length} faults`,
        )
      },
    })
    const last = results.at(-1)?.comparison
    const faults = last?.faults ?? ['nothing ran']
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    process.stdout.write(
      [
        `seed ${seed}: ${done} kills in ${seconds} s`,
        `sweeps by their end: ${JSON.stringify(last?.sweeps)}; ${usdcText(last?.sweptMicro ?? 0n)} swept`,
        `take-outs by their end: ${JSON.stringify(last?.takeOuts)}`,
        faults.length === 0
          ? 'nothing moved twice, nothing was lost, and what is owed stayed in custody'
          : faults.join('\n'),
        '',
      ].join('\n'),
    )
    return faults.length === 0 ? 0 : 1
  } finally {
    await servers.close()
  }
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
