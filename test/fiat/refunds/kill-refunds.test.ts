import test, { type ExecutionContext } from 'ava'
import { readBalance } from '../../../src/ledger/accounts.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import {
  endRefundAtProvider,
  paidTip,
  refundBatches,
  refundsAtProvider,
  requestRefund,
  workOnRefunds,
} from '../../helpers/make/fiat/refunds.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { runMortal } from '../../helpers/servers/mortal-worker.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
const unclear = ['sending', 'unknown', 'manual_review']

/** A new worker runs one batch. */
const work = (t: ExecutionContext, diesAt?: string) =>
  runMortal(
    t,
    { env: world().env, kind: 'payouts', taking: 'refunds.take', batchesOf: refundBatches },
    diesAt,
  )

test('a worker killed at any step of sending or of booking gives a part back once, and the books hold', async (t) => {
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual', webhooks: 'off' })
  const creator = await registerCreator(world())
  const asked: { tipId: string; parts: number } = { tipId: '', parts: 20 }
  /** One part of a tip, which may have 20. */
  async function newPart(): Promise<string> {
    if (asked.parts >= 18) Object.assign(asked, { tipId: await paidTip(world(), creator), parts: 0 })
    asked.parts += 1
    const answer = await requestRefund(world(), creator, asked.tipId, 0.5)
    t.is(answer.status, 200)
    return answer.body.refund.id
  }
  const rowOf = (id: string) => world().db('refunds').where({ id }).first()
  const makeDue = (id: string) => setRows(world(), 'refunds', { id }, { due_at: new Date(0) })
  /** Lets the other refunds alone. */
  const only = async (id: string) => {
    await world()
      .db('refunds')
      .whereNull('ended_at')
      .update({ due_at: new Date(Date.now() + 3_600_000) })
    await makeDue(id)
  }
  const atProvider = () => refundsAtProvider(world(), asked.tipId).length

  async function begin(phase: 'send' | 'book'): Promise<string> {
    const id = await newPart()
    await only(id)
    if (phase === 'send') return id
    await workOnRefunds(world())
    endRefundAtProvider(world(), asked.tipId, 'processed')
    await only(id)
    return id
  }
  /** As the workers and, where nobody can know, an operator end it. */
  async function end(id: string): Promise<void> {
    await workOnRefunds(world())
    if (unclear.includes((await rowOf(id)).send_state)) {
      await world().db.raw(`update refunds set sent_at = sent_at - interval '1 hour' where id = ?`, [id])
      const retried = await runOpsScript(
        world(),
        'refunds',
        '--retry',
        id,
        '--apply',
        `--confirm=${id}`,
        '--reason',
        'x',
      )
      t.is(retried.code, 0, retried.err)
      await workOnRefunds(world())
    }
    if (['submitted', 'processing'].includes((await rowOf(id)).status)) {
      endRefundAtProvider(world(), asked.tipId, 'processed')
      await workOnRefunds(world())
    }
  }

  for (const phase of ['send', 'book'] as const) {
    // The first opens the ledger's accounts, the second shows the steps.
    let steps: readonly string[] = []
    for (let n = 0; n < 2; n++) {
      const id = await begin(phase)
      steps = await work(t)
      await end(id)
      t.is((await rowOf(id)).status, 'completed')
    }
    t.log(phase, steps.filter((step) => step.startsWith('before')).join(', '))
    for (const diesAt of steps) {
      const id = await begin(phase)
      const before = phase === 'send' ? atProvider() : atProvider() - 1
      await work(t, diesAt)
      await end(id)
      t.is((await rowOf(id)).status, 'completed', `${phase}: killed ${diesAt}`)
      t.is(atProvider(), before + 1, `${phase}: killed ${diesAt}`)
    }
  }
  await assertBooks(t, creator)
})

async function assertBooks(t: ExecutionContext, creator: TestCreator): Promise<void> {
  t.true((await checkBooks(world().db)).holds)
  const { rows } = await world().db.raw(/* sql */ `
    select (select sum(kobo)::bigint from refunds where status = 'completed') as kobo,
      (select sum(e.amount)::bigint from ledger_entries e join ledger_accounts a on a.id = e.account_id
        where a.kind = 'float_ngn' and a.user_id is null) as float`)
  t.is(rows[0].kobo, rows[0].float)
  t.is((await readBalance(world().db, creator.user.id, 'USDC')).held, 0n)
}
