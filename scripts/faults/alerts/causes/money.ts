import type { Scene } from '../scene.js'
import { again, type Cause } from './cause.js'

const mostAttempts = 11

/** A withdrawal that the bank has paid. */
export async function paidOut(scene: Scene, n: number): Promise<string> {
  scene.fiatpay.faults.setMode({ transfers: 'manual' })
  const reference = await scene.withdraw(scene.creator(n), 2)
  await scene.until('the bank has it', () => scene.fiatpay.transfers.find(reference) !== undefined)
  scene.fiatpay.setOutcome(scene.transfer(reference), 'success')
  await scene.withdrawalIs(reference, 'status', 'completed')
  scene.fiatpay.faults.setMode({ transfers: 'auto' })
  return reference
}

/** A payout of a creator that was paid, and ends in another way after all. */
function endsAfterAll(name: string, alert: string, creator: number, outcome: 'reversed' | 'failed'): Cause {
  return {
    name,
    fires: [alert],
    async make(scene) {
      scene.fiatpay.setOutcome(scene.transfer(await paidOut(scene, creator)), outcome)
      return () => undefined
    },
  }
}

const askedMinutesAgo = (scene: Scene, reference: string, minutes: number) =>
  scene.rewrite((trx) =>
    trx('withdrawals')
      .where({ provider_reference: reference.toLowerCase() })
      .update({ created_at: new Date(Date.now() - minutes * 60_000) }),
  )

/** An operator decides about a payout. */
const decide = (scene: Scene, verb: string, reference: string) =>
  scene.operate('payouts', verb, reference, '--apply', `--confirm=${reference}`, '--reason', 'tried out')

/** The bank sends a payout back, an operator credits its creator again, and the bank pays it after all. */
function paidAfterRecredit(): Cause {
  let reference = ''
  return {
    name: 'a payout that was credited again is paid',
    fires: ['payout_paid_after_recredit'],
    async prepare(scene) {
      reference = await paidOut(scene, 3)
      scene.fiatpay.setOutcome(scene.transfer(reference), 'reversed')
      const reviews = async () =>
        scene.stage.db('review_items').where({ withdrawal_id: (await scene.withdrawal(reference))?.['id'] })
      await scene.until('there is a review', async () => (await reviews()).length > 0)
      const created_at = scene.stage.db.raw(`created_at - interval '25 hours'`)
      const ids = (await reviews()).map(({ id }) => id)
      await scene.rewrite((trx) => trx('review_items').whereIn('id', ids).update({ created_at }))
      await decide(scene, 'recredit', reference)
    },
    async make(scene) {
      scene.fiatpay.setOutcome(scene.transfer(reference), 'success')
      return () => undefined
    },
  }
}

export const moneyCauses: readonly Cause[] = [
  {
    name: 'the float at the provider is empty, and withdrawals wait for minutes',
    fires: ['payout_held_up'],
    lasts: true,
    async make(scene) {
      scene.fiatpay.faults.setMode({ transfers: 'no-float' })
      const reference = await scene.withdraw(scene.creator(0), 2)
      await askedMinutesAgo(scene, reference, 3)
      await scene.measureAgain(['state'])
      return async () => {
        scene.fiatpay.faults.setMode({ transfers: 'auto' })
        await scene.withdrawalIs(reference, 'status', 'completed')
      }
    },
    seen: (now, before) =>
      now.alerts('payout_held_up', before) > 0 &&
      now.max('tipping_oldest_unfinished_seconds', { kind: 'payouts' }) > 120,
  },
  {
    name: 'a withdrawal is sent two minutes after it was asked for',
    fires: ['slo_withdrawal_send'],
    lasts: true,
    async make(scene) {
      scene.fiatpay.faults.setMode({ transfers: 'no-float' })
      const reference = await scene.withdraw(scene.creator(1), 2)
      await askedMinutesAgo(scene, reference, 2)
      scene.fiatpay.faults.setMode({ transfers: 'auto' })
      await scene.withdrawalIs(reference, 'status', 'completed')
      return () => undefined
    },
    seen: (now, before) =>
      now.grown(before, 'tipping_withdrawal_send_seconds_count') > 0 &&
      now.max('tipping_oldest_unfinished_seconds', { kind: 'payouts' }) === 0,
  },
  {
    name: 'the provider gives no answer to many payouts',
    fires: ['payout_unanswered'],
    lasts: true,
    async make(scene) {
      scene.fiatpay.faults.setMode({ transfers: 'accept-then-500' })
      const references = await Promise.all([1, 2, 3].map((n) => scene.withdraw(scene.creator(n), 1)))
      return async () => {
        scene.fiatpay.faults.setMode({ transfers: 'auto' })
        for (const one of references) await scene.withdrawalIs(one, 'status', 'completed')
      }
    },
  },
  {
    name: 'the provider neither answers to a payout nor finds it',
    fires: ['payout_unknown'],
    async make(scene) {
      scene.fiatpay.faults.setMode({ transfers: '500' })
      const reference = await scene.withdraw(scene.creator(3), 1)
      await scene.withdrawalIs(reference, 'send_state', 'manual_review')
      return async () => {
        scene.fiatpay.faults.setMode({ transfers: 'auto' })
        await decide(scene, 'replay', reference)
        await scene.withdrawalIs(reference, 'status', 'completed')
      }
    },
  },
  {
    name: 'the provider shows another amount than was sent',
    fires: ['payout_mismatch'],
    async make(scene) {
      scene.fiatpay.faults.setFault({ shows: { amount: 77_700 }, transfers: 'accept-then-500' })
      const reference = await scene.withdraw(scene.creator(1), 1)
      await scene.withdrawalIs(reference, 'send_state', 'manual_review')
      return async () => {
        scene.fiatpay.faults.setFault({})
        await scene.withdrawalIs(reference, 'status', 'completed')
      }
    },
    seen: (now, before) => now.alerts('payout_mismatch', before) > 0,
  },
  endsAfterAll('a bank sends a payout back', 'payout_reversed', 2, 'reversed'),
  endsAfterAll('a completed payout fails', 'payout_failed_after_completed', 3, 'failed'),
  {
    name: 'a failed payout is paid',
    fires: ['payout_paid_after_failed'],
    async make(scene) {
      scene.fiatpay.faults.setMode({ transfers: 'manual' })
      const reference = await scene.withdraw(scene.creator(1), 2)
      await scene.until('the bank has it', () => scene.fiatpay.transfers.find(reference) !== undefined)
      scene.fiatpay.setOutcome(scene.transfer(reference), 'failed')
      await scene.withdrawalIs(reference, 'status', 'failed')
      scene.fiatpay.faults.setMode({ transfers: 'auto' })
      scene.fiatpay.setOutcome(scene.transfer(reference), 'success')
      return () => undefined
    },
  },
  paidAfterRecredit(),
  {
    name: 'a withdrawal does not fit into a payout limit',
    fires: ['payout_breaker'],
    async make(scene) {
      const reference = await scene.withdraw(scene.creator(0), 600)
      return () => decide(scene, 'void', reference)
    },
  },
  {
    name: 'a payer disputes a payment',
    fires: ['dispute_open'],
    async make(scene) {
      const charge = await scene.naira(scene.creator(2))
      await scene.nairaBooked(charge)
      const [payment] = charge.payments
      if (payment === undefined) throw new Error('nothing was paid')
      const dispute = scene.fiatpay.openDispute(charge, payment, payment.amountKobo)
      return () => scene.fiatpay.winDispute(dispute)
    },
  },
  {
    name: "a payer's bank takes a payment back",
    fires: ['payment_returned'],
    async make(scene) {
      const charge = await scene.naira(scene.creator(3))
      await scene.nairaBooked(charge)
      const [payment] = charge.payments
      if (payment === undefined) throw new Error('nothing was paid')
      scene.fiatpay.reverse(charge, payment, payment.amountKobo)
      return () => undefined
    },
  },
  {
    name: 'a refund needs attention at the provider',
    fires: ['tip_refund'],
    async make(scene) {
      const creator = scene.creator(0)
      const charge = await scene.naira(creator)
      await scene.nairaBooked(charge)
      scene.fiatpay.faults.setMode({ refunds: 'manual' })
      const headers = { cookie: creator.cookie, 'idempotency-key': charge.reference }
      const { status, body } = await scene.ask(
        ['POST', `/creators/tips/${charge.reference.replace('-', '_')}/refund`, {}],
        headers,
      )
      if (status !== 200) throw new Error(`a refund was answered ${status} ${JSON.stringify(body)}`)
      const find = () => scene.fiatpay.refunds.all().find(({ reference }) => reference === charge.reference)
      await scene.until('the bank has the refund', () => find() !== undefined)
      const refund = find()
      if (refund !== undefined) scene.fiatpay.setRefundOutcome(refund, 'needs-attention')
      const stop = again(async () => scene.due('refunds', 'ended_at is null'))
      return async () => {
        await stop()
        scene.fiatpay.faults.setMode({ refunds: 'auto' })
        if (refund !== undefined) scene.fiatpay.setRefundOutcome(refund, 'processed')
      }
    },
  },
  {
    name: 'the mail server refuses an address for hours',
    fires: ['mail_given_up'],
    async make(scene) {
      const { mail } = scene.stage.sandbox
      const { email } = scene.creator(0)
      mail.faults.set({ code: 451, to: email })
      await scene.ask(['POST', '/auth/password/reset', { email }])
      const stop = again(async () =>
        scene.stage
          .db('emails')
          .whereNotNull('due_at')
          .update({ attempts: mostAttempts, due_at: new Date() }),
      )
      return async () => {
        await stop()
        mail.faults.clear()
      }
    },
  },
]
