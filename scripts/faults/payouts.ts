import { setTimeout as sleep } from 'node:timers/promises'
import type { Draw } from '../kit/draw.js'
import type { Role } from '../kit/kill-points.js'
import { quickCommits, startServers } from '../kit/servers.js'
import { drawProviderFaults, noFaults } from './provider-faults.js'
import type { ActName } from './world/acts.js'
import { brokenConnection, mildRefusals } from './world/client-notes.js'
import type { OpenScenario, Run } from './world/run-scenario.js'
import type { Stage } from './world/stage.js'

/** A kind of outgoing money: what people do, and who is killed where. */
interface Kind {
  readonly acts: Readonly<Partial<Record<ActName, number>>>
  readonly web: readonly Role[]
  readonly payouts: Role
  /** The names of the processes that are killed. Each round tells all that send or follow whether the provider deduplicates. */
  readonly victims: RegExp
}

const kinds = {
  withdrawal: {
    acts: { crypto: 45, naira: 5, withdraw: 50 },
    web: ['web'],
    payouts: 'payouts',
    victims: /^(web|payouts|reconciler)/,
  },
  'tip-refund': {
    acts: { crypto: 20, naira: 40, withdraw: 10, refund: 30 },
    web: ['web-refunds'],
    payouts: 'refunds',
    victims: /^(web|payouts|reconciler)/,
  },
  // It is asked for by an operator's command, which is killed instead of the web process.
  'suspense-refund': {
    acts: { crypto: 20, mispay: 40, withdraw: 10, refundWaiting: 30 },
    web: [],
    payouts: 'refunds',
    victims: /^(payouts|reconciler)/,
  },
} as const satisfies Record<string, Kind>
export type PayoutKind = keyof typeof kinds
export const payoutKinds = Object.keys(kinds) as readonly PayoutKind[]

const killsPerRound = 50
const refundModes = {
  auto: 50,
  reject: 5,
  timeout: 10,
  '500': 10,
  'accept-then-timeout': 15,
  'accept-then-500': 10,
}
const refundModeMs = 400

/**
 * Money leaves while the web process, the payout workers and the reconcilers are killed at named points and the provider times out,
 * breaks connections, answers errors, is slow, and in each fourth round pays a used reference again.
 */
export function payouts(kills: number, kind: PayoutKind = 'withdrawal', firstRound = 0): OpenScenario {
  return async ({ seed, folder, defer }) => {
    const rounds = Math.ceil(kills / killsPerRound)
    const { acts, web, payouts: role } = kinds[kind]
    // Each twice, so that two of a kind compete.
    const workers = (['payouts', 'reconciler'] as const).flatMap((name) => {
      const group = { names: [name], roles: name === 'payouts' ? [role] : [name] }
      return [group, group]
    })
    return {
      ...(await startServers(folder, defer, quickCommits)),
      stage: {
        webs: 1,
        webRoles: web,
        workers: [
          ...workers,
          { names: ['verifier', 'finder', 'settlement', 'provisioner', 'mailer', 'clock'] },
        ],
        env: () => ({ PAYOUT_SECONDS: '0.4,0.1,2', WITHDRAW_WAIT_MS: '500' }),
        bank: noFaults,
      },
      acts,
      inOrder: true,
      disturbances: Array.from({ length: rounds }, (_, n) => ({
        name: `kills of round ${n + 1}`,
        act: (run, draw) =>
          storm(run, draw, kind, { seed, round: firstRound + n, kills: Math.ceil(kills / rounds) }),
      })),
      mayAnswer: [...mildRefusals, brokenConnection, '503 rate_unavailable', '502 provider_unavailable'],
    }
  }
}

async function storm(
  { stage, report, until }: Run,
  draw: Draw,
  kind: PayoutKind,
  { seed, round, kills }: { readonly seed: number; readonly round: number; readonly kills: number },
): Promise<void> {
  const { faults } = stage.sandbox.fiatpay
  const { deduplicates, fault } = drawProviderFaults(seed, round)
  report(
    `the provider ${deduplicates ? 'refuses' : 'PAYS'} used references; faults: ${JSON.stringify(fault)}`,
  )
  const victims = stage.processes.filter(({ name }) => kinds[kind].victims.test(name))
  const last = stage.kills.length + victims.length + kills
  faults.setFault(fault)
  for (const process of victims) {
    process.change({ FIATPAY_DEDUPLICATES: deduplicates ? '1' : '0' })
    process.storm(true)
  }
  let misbehaving = true
  const refunds = misbehave(stage, draw, () => misbehaving)
  try {
    await until('the kills', () => stage.kills.length >= last)
  } finally {
    misbehaving = false
    await refunds
  }
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

/** The provider treats the refunds of some time in one way. */
async function misbehave({ sandbox }: Stage, draw: Draw, goesOn: () => boolean): Promise<void> {
  const { faults } = sandbox.fiatpay
  for (; goesOn(); await sleep(refundModeMs)) faults.setMode({ refunds: draw.kind(refundModes) })
  faults.setMode({ refunds: 'auto' })
}
