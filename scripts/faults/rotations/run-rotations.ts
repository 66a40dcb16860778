import { parseArgs } from 'node:util'
import { startServers } from '../../bench/servers.js'
import { printProgress, Refusal } from '../../bootstrap/progress.mjs'
import { figuresOf } from '../rolling/figures.js'
import { runRotations } from './rotations.js'

/** `npm run faults -- rotations`: every secret changes under load. Returns the exit code. */
export async function runRotationsCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { seed: { type: 'string' } } })
  const seed = Number(values.seed ?? (Date.now() % 1e9) + 1)
  if (!Number.isSafeInteger(seed) || seed < 1) throw new Refusal('--seed: a whole number from 1')
  printProgress(`seed ${seed}`)
  const servers = await startServers('.data/faults')
  try {
    const startedAt = Date.now()
    const result = await runRotations(servers, {
      seed,
      perSecond: 30,
      readers: 10,
      workers: [
        ['verifier', 'finder', 'settlement', 'reconciler'],
        ['payouts', 'mailer'],
        ['provisioner', 'custodian', 'take-outs'],
        ['clock'],
      ],
      router: { pollMs: 500 },
      folder: process.cwd(),
      report: printProgress,
    })
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    const verdict =
      result.faults.length === 0 ? ['no request failed, and no stream missed an event'] : result.faults
    process.stdout.write(
      [
        `seed ${seed}: ${result.changed.join(', ')} changed with ${result.restarts} restarts in ${seconds} s`,
        ...figuresOf(result),
        ...verdict,
        '',
      ].join('\n'),
    )
    return result.faults.length === 0 ? 0 : 1
  } finally {
    await servers.close()
  }
}
