import type { TestFn } from 'ava'
import { checkBooks } from '../../../../src/ledger/invariants.js'
import { countAlerts, mailKinds } from '../../alerts-and-mails.js'
import { useWorld, type World } from '../../servers/world.js'
import { readBalance } from '../withdrawals.js'
import { readPlatformBalance } from './fiat-tips.js'

/** A tip as its creator reads it. */
export interface OwnTip {
  readonly signature: string
  readonly amount: number
  readonly disputed?: boolean
  readonly replyBy?: string
  readonly refundedAmount?: number
}

/**
 * A world in which the provider sends no webhooks, so that only a look finds something. After each test the ledger is consistent,
 * and its suspense account equals the items.
 */
export function useDisputeWorld(test: TestFn): () => World {
  const world = useWorld(test, { fiat: true, env: { IDENTITY_SINGLE_NGN: '100000' } })
  test.beforeEach('webhooks are lost', () => {
    world().fiat.fiatpay.faults.reset()
    world().fiat.fiatpay.faults.setMode({ webhooks: 'off' })
  })
  test.afterEach.always('the ledger is consistent, and its suspense account equals the items', async (t) => {
    const { holds, invariants } = await checkBooks(world().db)
    t.true(
      holds,
      invariants
        .filter(({ violations }) => violations > 0n)
        .map(({ name }) => name)
        .join(),
    )
    const { rows } = await world().db.raw(
      'select coalesce(sum(kobo), 0)::bigint as kobo from suspense_items where resolved_at is null',
    )
    t.is(rows[0].kobo, await readPlatformBalance(world(), 'suspense', 'NGN'))
  })
  return world
}

/** What tests of disputes look at, in the world that is open. */
export function disputeViews(world: () => World) {
  return {
    balance: (person: Parameters<typeof readBalance>[1]) => readBalance(world(), person),
    rowOf: (id: number) => disputeRow(world(), id),
    receivable: (id: string) => world().db('receivables').where({ id }).first(),
    mailsTo: (address: string) => mailKinds(world(), address),
    alarms: (kind: string) => countAlerts(world(), kind),
    tipOf: (person: { readonly session: string }, intentId: string) => findOwnTip(world(), person, intentId),
    sums: () => platformSums(world()),
  }
}

/** What the platform has, earns and exchanges, to compare before and after. */
async function platformSums(world: World) {
  const read = (kind: string, currency: string) => readPlatformBalance(world, kind, currency)
  const [float, fxNgn, fxUsdc, fee, owed] = await Promise.all([
    read('float_ngn', 'NGN'),
    read('fx', 'NGN'),
    read('fx', 'USDC'),
    read('platform_fee', 'USDC'),
    read('receivables', 'USDC'),
  ])
  return { float, fxNgn, fxUsdc, fee, owed }
}

function disputeRow({ db }: Pick<World, 'db'>, id: number) {
  return db('disputes')
    .where({ id: String(id) })
    .first()
}

async function findOwnTip(
  world: World,
  { session }: { readonly session: string },
  intentId: string,
): Promise<OwnTip> {
  const { body } = await world.request<{ tips: OwnTip[] }>('GET', '/creators/tips', { session })
  const tip = body.tips.find(({ signature }) => signature === intentId)
  if (tip === undefined) throw new Error('no such tip')
  return tip
}
