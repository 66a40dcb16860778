import { join } from 'node:path'
import { usdc } from '../../../../src/kernel/tokens.js'
import { freePort } from '../../../dev/ports.js'
import { associatedAccount } from '../../../sandbox/chain/faucet.js'
import { ServiceProcess } from '../../month/service-process.js'
import type { Scene } from '../scene.js'
import type { Cause } from './cause.js'

const dayMs = 86_400_000
const startMs = 45_000
/** The byte of a token account where its amount begins. */
const amountAt = 64

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
  const port = await freePort()
  const preload = `data:text/javascript,${encodeURIComponent(`
    const Real = Date
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() + ${shiftMs}) : super(...given) }
      static now() { return Real.now() + ${shiftMs} }
    }`)}`
  const process = new ServiceProcess({
    name: 'clock-shifted',
    args: ['--import', preload, 'dist/workers/main.js', 'clock'],
    env: { ...scene.stage.env, WORKER_PORT: String(port), TZ: 'UTC' },
    logFile: join(scene.stage.logs, 'clock-shifted.log'),
    restarts: false,
    onKill: async () => undefined,
    onFailure: () => undefined,
  })
  const one = { name: 'clock-shifted', metrics: `127.0.0.1:${port}`, process }
  scene.further.push(one)
  await scene.until(
    'the clock is up',
    async () => (await scene.scrape()).max('up', { process: one.name }) === 1,
  )
  return async () => {
    scene.further.splice(scene.further.indexOf(one), 1)
    await process.end()
  }
}

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
      await tamper(7)
      // Later checks read the accounts of new transfers. Those at rest are read when a clock starts.
      const reference = await scene.withdraw(scene.creator(0), 1)
      await scene.withdrawalIs(reference, 'status', 'completed')
      return () => tamper(-7)
    },
  },
  {
    name: 'the balance at the provider is more than the books say',
    fires: ['float_differs'],
    lasts: true,
    async make(scene) {
      const { fiatpay } = scene
      const id = fiatpay.ids.next()
      const amountKobo = 123_456
      fiatpay.topUps.write({ id, reference: String(id), amountKobo })
      const { db } = scene.stage
      // The readings of the last quarter of an hour showed it too.
      await scene.until('it was read', async () => {
        const last = await db('float_readings').orderBy('id', 'desc').first()
        return BigInt(last?.unexplained ?? 0) !== 0n
      })
      await db('float_readings').update({
        unexplained: amountKobo,
        read_at: db.raw(`read_at - interval '1 hour'`),
      })
      return () => {
        const back = fiatpay.ids.next()
        fiatpay.topUps.write({ id: back, reference: String(back), amountKobo: -amountKobo })
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
      await scene.rewrite((trx) => trx('reserve_reports').update({ day: null }))
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
]
