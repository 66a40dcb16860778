import { parseArgs } from 'node:util'
import { nairaText, usdcText } from '../../../src/kernel/money.js'
import { startServers } from '../../bench/servers.js'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { type MonthResult, runMonth } from './run.js'

/** `npm run faults -- month`: a shortened month of the whole business. Returns the exit code. */
export async function runMonthCommand(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const
  const options = { tips: text, kills: text, days: text, seed: text }
  const { values } = parseArgs({ args: [...args], options })
  const plan = {
    seed: whole('--seed', values.seed ?? String((Date.now() % 1e9) + 1)),
    tips: whole('--tips', values.tips ?? '10000'),
    kills: whole('--kills', values.kills ?? '200'),
    days: whole('--days', values.days ?? '30'),
    report: printProgress,
  }
  printProgress(`seed ${plan.seed}: ${plan.tips} tips, ${plan.kills} kills, ${plan.days} days`)
  const servers = await startServers('.data/faults')
  try {
    // PostgreSQL is not killed here, so no commit needs to wait for the disk.
    await servers.sql('alter database bench set synchronous_commit = off')
    const { databaseUrl, redisUrl } = servers
    const startedAt = Date.now()
    const result = await runMonth({ databaseUrl, redisUrl, namespace: `month-${plan.seed}` }, plan)
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    process.stdout.write([...figuresOf(result), ...verdictOf(result, plan.seed, seconds), ''].join('\n'))
    return result.faults.length === 0 ? 0 : 1
  } finally {
    await servers.close()
  }
}

function figuresOf({ samples, counts, kills, final }: MonthResult): string[] {
  const row = (name: string, value: string | number): string =>
    `${name.padEnd(44)}${String(value).padStart(28)}`
  const last = samples.at(-1)
  const killed: Record<string, number> = {}
  for (const kill of kills) {
    const name = kill.startsWith('ops ') ? kill.split(' ', 2).join(' ') : (kill.split(' ', 1)[0] ?? '')
    killed[name] = (killed[name] ?? 0) + 1
  }
  const sorted = (values: Readonly<Record<string, number>>, prefix = ''): string[] =>
    Object.entries(values)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => row(prefix + name, count))
  return [
    ...sorted(counts),
    ...sorted(killed, 'killed: '),
    ...sorted(final?.payouts.endings ?? {}, 'withdrawals: '),
    ...sorted(final?.moves.sweeps ?? {}, 'sweeps: '),
    ...sorted(final?.moves.takeOuts ?? {}, 'take-outs: '),
    ...(last === undefined
      ? []
      : [
          row('owed to creators', usdcText(last.owed)),
          row('custody on the chain', usdcText(last.custody)),
          row('treasury on the chain', usdcText(last.treasury)),
          row('balance at the bank', nairaText(last.float)),
          row('creators owe', usdcText(last.receivables)),
          row('left if everybody is paid', nairaText(last.surplus)),
          row('what rates changed', nairaText(last.byRates)),
        ]),
  ]
}

function verdictOf({ samples, kills, faults }: MonthResult, seed: number, seconds: number): string[] {
  const tried = `seed ${seed}: ${kills.length} kills, ${samples.length} samples in ${seconds} s`
  return faults.length === 0
    ? [
        tried,
        'at every sample the ledger was what chain and bank have, and they covered what is owed; nothing was sent twice or lost',
      ]
    : [tried, ...faults]
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Refusal(`${name}: a whole number from 1`)
  return value
}
