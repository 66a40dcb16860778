import { join } from 'node:path'
import { usdc } from '../../../../src/kernel/tokens.js'
import { freePort } from '../../../dev/ports.js'
import { associatedAccount } from '../../../sandbox/chain/faucet.js'
import { ServiceProcess } from '../../month/service-process.js'
import type { Scene } from '../scene.js'
import { type Cause, refuseRows } from './cause.js'
import { paidOut } from './money.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const startMs = 45_000
/** The byte of a token account where its amount begins. */
const amountAt = 64
/** More than all fees, so that they do not make up for it. */
const lostDollars = 1000

/** Another clock, whose Date shows this time of day soon after it has started. It is one of the processes from now on. */
async function clockAt(
  scene: Scene,
  hours: number,
  minutes: number,
  seconds: number,
): Promise<() => Promise<void>> {
  const now = new Date()
  const wanted = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate(), hours, minutes, seconds)
  const shiftMs = wanted - startMs - now.getTime() + dayMs
  const name = `clock-at-${hours}`
  const port = await freePort()
  const preload = `data:text/javascript,${encodeURIComponent(`
    const Real = Date
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + ${shiftMs}) : super(...given) }
      static now() { return Real.now() + ${shiftMs} }
    }`)}`
  const process = new ServiceProcess({
    name,
    args: ['--import', preload, 'dist/workers/main.js', 'clock'],
    env: { ...scene.stage.env, WORKER_PORT: String(port), TZ: 'UTC' },
    logFile: join(scene.stage.logs, `${name}.log`),
    restarts: false,
    onKill: async () => undefined,
    onFailure: () => undefined,
  })
  const one = { name, metrics: `127.0.0.1:${port}`, process }
  scene.further.push(one)
  await scene.until('the clock is up', async () => (await scene.scrape()).max('up', { process: name }) === 1)
  return async () => {
    scene.further.splice(scene.further.indexOf(one), 1)
    await process.end()
  }
}

/** Somebody moves naira at the provider, outside the service. Returns how to move them back. */
function moveFloat({ fiatpay }: Scene, kobo: number): () => void {
  const move = (amountKobo: number): void => {
    const id = fiatpay.ids.next()
    fiatpay.topUps.write({ id, reference: String(id), amountKobo })
  }
  move(kobo)
  return () => move(-kobo)
}

/** A clock makes the report of the day again. */
const forgetReport = (scene: Scene) => scene.rewrite((trx) => trx('reserve_reports').update({ day: null }))

export const clockCauses: readonly Cause[] = [
  {
    name: 'a balance of the ledger is changed by hand',
    fires: ['books_broken'],
    async make(scene) {
      const { userId } = scene.creator(0)
      const tamper = (units: number) =>
        scene.rewrite((trx) =>
          trx('ledger_accounts').where({ user_id: userId, kind: 'available' }).increment('balance', units),
        )
      // Later checks read the accounts of new transfers. Those at rest are read when a clock starts.
      const reference = await scene.withdraw(scene.creator(0), 1)
      await scene.withdrawalIs(reference, 'status', 'completed')
      await tamper(7)
      return () => tamper(-7)
    },
  },
  {
    name: 'the balance at the provider is more than the books say',
    fires: ['float_differs'],
    lasts: true,
    async make(scene) {
      const kobo = 123_456
      const moveBack = moveFloat(scene, kobo)
      const { db } = scene.stage
      // The readings of the last quarter of an hour showed it too.
      await scene.until('it was read', async () => {
        const last = await db('float_readings').orderBy('id', 'desc').first()
        return BigInt(last?.unexplained ?? 0) !== 0n
      })
      await db('float_readings').update({
        unexplained: kobo,
        read_at: db.raw(`read_at - interval '1 hour'`),
      })
      return async () => {
        moveBack()
        await db('float_readings').update({ unexplained: 0 })
      }
    },
  },
  {
    name: 'the float does not pay the withdrawals of another day',
    fires: ['float_low'],
    prepare: async (scene) => void (await paidOut(scene, 0)),
    async make(scene) {
      const moveDays = (days: number) =>
        scene.rewrite((trx) =>
          trx('withdrawals')
            .where({ status: 'completed' })
            .update({ created_at: trx.raw(`created_at + interval '${days} days'`) }),
        )
      await moveDays(-2)
      const moveBack = moveFloat(scene, -scene.fiatpay.balanceKobo)
      // Those that run have read the withdrawals of a day.
      const end = await clockAt(scene, 12, 0, 50)
      return async () => {
        await end()
        moveBack()
        await moveDays(2)
      }
    },
  },
  {
    name: 'the provider has a transfer that we do not know',
    fires: ['payout_difference'],
    async make(scene) {
      const [transfer] = scene.fiatpay.transfers.all()
      if (transfer === undefined) throw new Error('the bank has no transfer')
      const id = scene.fiatpay.ids.next()
      scene.fiatpay.transfers.write({ ...transfer, id, reference: 'unknown-transfer' })
      return clockAt(scene, 3, 41, 0)
    },
  },
  {
    name: 'the provider has a payment that we do not know',
    fires: ['collection_difference'],
    async make(scene) {
      const { charges, ids } = scene.fiatpay
      const charge = await scene.naira(scene.creator(2))
      await scene.nairaBooked(charge)
      const id = ids.next()
      // What is younger may be on its way to us.
      const paidAt = new Date(Date.now() - 2 * hourMs).toISOString()
      const payments = charge.payments.map((one) => ({ ...one, id, paidAt }))
      const unknown = { ...charge, id, reference: 'unknown-payment', createdAt: paidAt, payments }
      charges.write(unknown)
      const end = await clockAt(scene, 3, 51, 0)
      return async () => {
        await end()
        charges.write({ ...unknown, payments: [] })
      }
    },
  },
  {
    name: 'a custody wallet has less on the chain than the book says',
    // The alarm pauses payouts.
    fires: ['custody_short', 'switch_off'],
    async make(scene) {
      const key = associatedAccount(scene.creator(2).wallet, usdc.mint).toBase58()
      const account = scene.chain.svm.account(key)
      if (account === undefined) throw new Error('the wallet has no account')
      const data = Buffer.from(account.data)
      data.writeBigUInt64LE(data.readBigUInt64LE(amountAt) - 5_000_000n, amountAt)
      scene.chain.setAccount(key, { ...account, data })
      await forgetReport(scene)
      const end = await clockAt(scene, 5, 13, 5)
      return async () => {
        await end()
        scene.chain.setAccount(key, account)
        await scene.operate('payouts', 'resume', '--apply', '--reason', 'tried out').catch(() => undefined)
      }
    },
    seen: (now, before) =>
      now.alerts('custody_short', before) > 0 && now.max('tipping_stopped', { switch: 'payouts' }) === 1,
  },
  {
    name: 'the naira that creators are owed are not at the provider',
    fires: ['reserves_short'],
    // Withdrawals of a day before today are what it pays.
    mayFire: ['float_low'],
    async prepare(scene) {
      const charge = await scene.naira(scene.creator(1), lostDollars)
      await scene.nairaBooked(charge)
      const { db } = scene.stage
      // What is not added to the balance yet is no lack.
      await scene.until('it is in the float', async () => {
        const settled = await db('float_readings').where('settled', '>', charge.amountKobo / 2)
        return settled.length > 0
      })
    },
    async make(scene) {
      const moveBack = moveFloat(scene, -scene.fiatpay.balanceKobo)
      await forgetReport(scene)
      const end = await clockAt(scene, 5, 13, 5)
      return async () => {
        await end()
        moveBack()
      }
    },
  },
  {
    name: 'the reserve report cannot be stored, now and an hour later',
    fires: ['reserve_report_failed'],
    async make(scene) {
      await forgetReport(scene)
      const allow = await refuseRows(scene, 'insert on reserve_reports')
      const ends = await Promise.all([clockAt(scene, 5, 13, 5), clockAt(scene, 6, 13, 5)])
      return async () => {
        for (const end of ends) await end()
        await allow()
      }
    },
    seen: (now, before) => now.alerts('reserve_report_failed', before) > 1,
  },
]
