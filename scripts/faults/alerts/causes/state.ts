import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import { register } from '../../client.js'
import type { Scene } from '../scene.js'
import { type Cause, refuseRows } from './cause.js'

const minutesAgo = (scene: Scene, minutes: number) =>
  scene.stage.db.raw(`clock_timestamp() - interval '${minutes} minutes'`)
const signatureBytes = 64
const lateReports = 30
const slowTips = 3
const failedExports = 4

/** Reports signatures that never land. Returns them. */
async function reportNothing(scene: Scene, count: number): Promise<string[]> {
  const signatures = Array.from({ length: count }, () => encodeBase58(randomBytes(signatureBytes)))
  const payment = { tipAmount: 1_000_000, tokenSymbol: 'USDC', creatorWallet: scene.creator(0).wallet }
  const senderWallet = scene.stage.supporters[0]?.publicKey.toBase58()
  for (const txSignature of signatures) {
    const { status } = await scene.ask([
      'POST',
      '/chain/tips/create',
      { ...payment, senderWallet, txSignature },
    ])
    if (status !== 200) throw new Error(`a report was answered ${status}`)
  }
  return signatures
}

const forget = (scene: Scene, signatures: readonly string[]) =>
  scene.stage
    .db('tips')
    .whereIn('id', [...signatures])
    .update({ due_at: null, status: 'failed' })

export const stateCauses: readonly Cause[] = [
  {
    name: 'a process is not running',
    fires: ['process_down'],
    make: async (scene) => scene.process('payouts').process.hold(),
    seen: (now) => now.min('up', { process: 'payouts' }) === 0,
  },
  {
    name: 'a worker is not running, and work waits',
    fires: ['process_down', 'standstill_worker'],
    async make(scene) {
      const release = scene.process('verifier').process.hold()
      const signatures = await reportNothing(scene, 1)
      await scene.stage
        .db('tips')
        .whereIn('id', signatures)
        .update({ due_at: minutesAgo(scene, 2) })
      await scene.measureAgain()
      return async () => {
        await forget(scene, signatures)
        release()
      }
    },
    seen: (now) => now.max('tipping_oldest_due_seconds', { kind: 'verifier' }) > 60,
  },
  {
    name: 'a hanging transaction keeps every process from measuring',
    fires: ['state_not_measured'],
    async make(scene) {
      const { db } = scene.stage
      await db('measurements')
        .where({ name: 'state' })
        .update({ measured_at: minutesAgo(scene, 5) })
      const trx = await db.transaction()
      // The service ends transactions that do nothing. Somebody's psql does not.
      await trx.raw('set local idle_in_transaction_session_timeout = 0')
      await trx('measurements').where({ name: 'state' }).forUpdate()
      return () => trx.rollback()
    },
    seen: (now) => now.min('tipping_state_age_seconds') > 60,
  },
  {
    name: 'tips wait for more than a minute, although they are taken again and again',
    fires: ['work_late'],
    async make(scene) {
      const signatures = await reportNothing(scene, lateReports)
      await scene.stage
        .db('tips')
        .whereIn('id', signatures)
        .update({ recorded_at: minutesAgo(scene, 2) })
      await scene.measureAgain()
      return () => forget(scene, signatures)
    },
    seen: (now) => now.max('tipping_late_rows', { kind: 'verifier' }) > 25,
  },
  {
    name: 'PostgreSQL refuses to write a row',
    fires: ['batches_fail'],
    lasts: true,
    async make(scene) {
      const signatures = await reportNothing(scene, 1)
      const allow = await refuseRows(scene, 'update on tips')
      return async () => {
        await allow()
        await forget(scene, signatures)
      }
    },
    seen: (now, before) => now.grown(before, 'tipping_drain_errors_total', { kind: 'verifier' }) >= 3,
  },
  {
    name: "the file of an account's data cannot be stored, for the fifth time",
    fires: ['export_failed'],
    async make(scene) {
      const { db, url } = scene.stage
      const { cookie, userId } = await register(url, `${randomBytes(8).toString('hex')}@example.com`)
      const allow = await refuseRows(scene, 'update on data_exports', 'new.ready_at is not null')
      const { status } = await scene.ask(['GET', '/auth/export'], { cookie })
      if (status !== 200) throw new Error(`the export was answered ${status}`)
      await db('data_exports').where({ id: userId }).update({ attempts: failedExports, due_at: new Date() })
      return allow
    },
  },
  {
    name: 'a payer pays twice, and nobody decides for more than a day',
    fires: ['fiat_suspense', 'case_waits'],
    async make(scene) {
      const charge = await scene.naira(scene.creator(0))
      await scene.nairaBooked(charge)
      const twice = scene.fiatpay.pay(charge, charge.amountKobo)
      await scene.nairaBooked(twice)
      const items = () => scene.stage.db('suspense_items').whereNull('resolved_at')
      await items().update({ created_at: minutesAgo(scene, 1500) })
      await scene.measureAgain()
      return async () => items().update({ created_at: minutesAgo(scene, 1) })
    },
    seen: (now, before) =>
      now.alerts('fiat_suspense', before) > 0 &&
      now.max('tipping_oldest_case_seconds', { case: 'suspense' }) > 86_400,
  },
  {
    name: 'an operator has paused a part for an hour',
    fires: ['switch_off'],
    async make(scene) {
      const turn = (to: string) => scene.operate('switch', 'swaps', to, '--apply', '--reason', 'tried out')
      await turn('off')
      return () => turn('on')
    },
    seen: (now) => now.max('tipping_stopped', { switch: 'swaps' }) === 1,
  },
  {
    name: 'the rows are those of another server',
    fires: ['database_restored'],
    async make(scene) {
      const { db } = scene.stage
      const [epoch] = await db('database_epoch')
      await db('database_epoch').update({ system_identifier: 0, database_oid: 0, table_oid: 0 })
      const { system_identifier, database_oid, table_oid } = epoch
      return async () => db('database_epoch').update({ system_identifier, database_oid, table_oid })
    },
    seen: (now) => now.max('tipping_restored') === 1,
  },
  {
    name: 'no clock is running',
    fires: ['clock_missing', 'process_down'],
    async make(scene) {
      const release = scene.process('custodian').process.hold()
      await scene.stage.db('heartbeats').update({ beat_at: minutesAgo(scene, 2) })
      await scene.measureAgain()
      return release
    },
    seen: (now) => now.max('tipping_clock_heartbeat_seconds') > 60,
  },
  {
    name: 'the verifier comes back after twelve seconds with tips on the chain',
    fires: ['slo_tip_visible'],
    lasts: true,
    async make(scene) {
      const release = scene.process('verifier').process.hold()
      for (let n = 0; n < slowTips; n++) await scene.tip(scene.creator(n), 1)
      await sleep(12_000)
      release()
      return () => undefined
    },
    seen: (now, before) => now.grown(before, 'tipping_tip_visible_seconds_count') >= slowTips,
  },
  {
    name: 'a payment was made two minutes ago, and no webhook came',
    fires: ['slo_naira_credit'],
    lasts: true,
    async make(scene) {
      scene.fiatpay.faults.setMode({ webhooks: 'off' })
      const charge = await scene.naira(scene.creator(1))
      const paidAt = new Date(Date.now() - 120_000).toISOString()
      const payments = charge.payments.map((one) => ({ ...one, paidAt }))
      scene.fiatpay.charges.write({ ...charge, payments })
      await scene.due('fiat_intents')
      await scene.nairaBooked(charge)
      return () => scene.fiatpay.faults.setMode({ webhooks: 'ok' })
    },
    seen: (now, before) => now.grown(before, 'tipping_naira_credit_seconds_count') > 0,
  },
]
