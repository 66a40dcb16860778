import { quickCommits, startServers } from '../kit/servers.js'
import { drawProviderFaults, noFaults } from './provider-faults.js'
import { brokenConnection, mildRefusals } from './world/client-notes.js'
import type { OpenScenario, Run } from './world/run-scenario.js'
import type { WorkerGroup } from './world/stage.js'

const killsPerRound = 50
/** Each role twice, so that two of a kind compete. */
const workers: readonly WorkerGroup[] = [
  { names: ['payouts'], roles: ['payouts'] },
  { names: ['payouts'], roles: ['payouts'] },
  { names: ['reconciler'], roles: ['reconciler'] },
  { names: ['reconciler'], roles: ['reconciler'] },
  { names: ['verifier', 'finder', 'settlement', 'provisioner', 'mailer', 'clock'] },
]

/**
 * Creators withdraw while the web process, the payout workers and the reconcilers are killed at named points and the provider times
 * out, breaks connections, answers errors, is slow, and in each fourth round pays a used reference again.
 */
export function payouts(kills: number, firstRound = 0): OpenScenario {
  return async ({ seed, folder, defer }) => {
    const rounds = Math.ceil(kills / killsPerRound)
    return {
      ...(await startServers(folder, defer, quickCommits)),
      stage: {
        webs: 1,
        webRoles: ['web'],
        workers,
        env: () => ({ PAYOUT_SECONDS: '0.4,0.1,2', WITHDRAW_WAIT_MS: '500' }),
        bank: noFaults,
      },
      acts: { crypto: 45, naira: 5, withdraw: 50 },
      inOrder: true,
      disturbances: Array.from({ length: rounds }, (_, n) => ({
        name: `kills of round ${n + 1}`,
        act: (run) => storm(run, seed, firstRound + n, Math.ceil(kills / rounds)),
      })),
      mayAnswer: [...mildRefusals, brokenConnection, '503 rate_unavailable', '502 provider_unavailable'],
    }
  }
}

async function storm(
  { stage, report, until }: Run,
  seed: number,
  round: number,
  kills: number,
): Promise<void> {
  const { faults } = stage.sandbox.fiatpay
  const { deduplicates, fault } = drawProviderFaults(seed, round)
  report(
    `the provider ${deduplicates ? 'refuses' : 'PAYS'} used references; faults: ${JSON.stringify(fault)}`,
  )
  const victims = stage.processes.filter(({ name }) => /^(web|payouts|reconciler)/.test(name))
  const last = stage.kills.length + victims.length + kills
  faults.setFault(fault)
  for (const process of victims) {
    process.change({ FIATPAY_DEDUPLICATES: deduplicates ? '1' : '0' })
    process.storm(true)
  }
  await until('the kills', () => stage.kills.length >= last)
  faults.setFault(noFaults)
  for (const process of victims) process.storm(false)
  const waiting = () => stage.db('withdrawals').where({ send_state: 'manual_review' })
  await waiting().update({ due_at: new Date(0) })
  // The provider answers now: what waits for a person is asked about once more.
  await until('every review was polled', async () => {
    const due = await waiting().whereRaw('due_at <= clock_timestamp()').limit(1)
    return due.length === 0
  })
}
