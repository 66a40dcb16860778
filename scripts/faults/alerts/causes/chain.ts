import { solMint, usdc } from '../../../../src/kernel/tokens.js'
import { associatedAccount } from '../../../sandbox/chain/faucet.js'
import { takeOut } from '../../sweeps/take-outs.js'
import { agreeAboveDollars } from '../denying-node.js'
import { again, type Cause } from './cause.js'
import { paidOut } from './money.js'

const expirySlots = 400
const usualFinalizeLag = 32
/** Half a minute, so that a tip is confirmed and not final. */
const slowFinalizeLag = 300
/** Endpoints may be so long apart. */
const apartMs = 130_000
const badSwaps = 8

export const chainCauses: readonly Cause[] = [
  {
    name: 'the treasury has no account for a token',
    fires: ['fee_leg_left_out'],
    async make(scene) {
      const key = associatedAccount(scene.stage.treasury.publicKey.toBase58(), usdc.mint).toBase58()
      const account = scene.chain.svm.account(key)
      if (account === undefined) throw new Error('the treasury has no account')
      scene.chain.setAccount(key, { ...account, lamports: 0n, data: Buffer.alloc(0) })
      const wanted = {
        creatorId: scene.creator(0).userId,
        amount: 1,
        inputTokenMint: usdc.mint,
        sourceWalletAddress: scene.stage.supporters[0]?.publicKey.toBase58(),
        tokenSymbol: 'USDC',
      }
      const stop = again(() => scene.ask(['POST', '/payments/intent', wanted]))
      return async () => {
        await stop()
        scene.chain.setAccount(key, account)
      }
    },
  },
  {
    name: 'the transaction of a confirmed tip vanishes',
    fires: ['tip_vanished'],
    async make(scene) {
      scene.chain.setLags({ finalizeLag: slowFinalizeLag })
      const signature = await scene.tip(scene.creator(1), 1)
      await scene.until(
        'it is confirmed',
        async () => (await scene.tipStatus(signature))?.status === 'confirmed',
      )
      scene.chain.ledger.remove(signature)
      scene.chain.advance(expirySlots)
      await scene.until('it has failed', async () => {
        const missing_since = new Date(Date.now() - 61_000)
        await scene.stage
          .db('tips')
          .where({ id: signature })
          .whereNotNull('missing_since')
          .update({ missing_since })
        await scene.due('tips', `id = '${signature}'`)
        return (await scene.tipStatus(signature))?.status === 'failed'
      })
      return () => scene.chain.setLags({ finalizeLag: usualFinalizeLag })
    },
  },
  {
    name: 'a signed take-out is never seen, and only one endpoint may say so',
    fires: ['take_out_undecided'],
    async make(scene) {
      const outcome = await takeOut(scene.stage.takeOuts, scene.creator(1), 1_000_000n, 'never')
      if (outcome !== 'signed') throw new Error(`a take-out: ${outcome}`)
      scene.chain.advance(expirySlots)
      const stop = again(async () => scene.due('wallet_transfers', `state = 'signed'`))
      return stop
    },
  },
  {
    name: 'a sweep does not land in time, and only one endpoint may say so',
    fires: ['sweep_undecided'],
    prepare: async (scene) => void (await paidOut(scene, 2)),
    async make(scene) {
      const { commands, db, payerFile } = scene.stage
      scene.chain.holdLanding(true)
      const sweeping = commands.run('sweep', ['--apply', '--payer', payerFile], 1)
      const sent = () => db('sweeps').where({ state: 'sent' }).first()
      await scene.until('a sweep is sent', async () => (await sent()) !== undefined)
      const { id } = await sent()
      scene.chain.advance(expirySlots)
      await sweeping
      return async () => {
        const decided = ['--apply', `--confirm=${id}`, '--reason', 'tried out']
        await scene.operate('sweep', '--declare-dead', id, ...decided)
        scene.chain.releaseControls()
      }
    },
  },
  {
    name: 'an RPC node does not know a large tip that the other shows',
    fires: ['rpc_disagrees'],
    async make(scene) {
      scene.node.deny(true)
      const id = await scene.tip(scene.creator(2), agreeAboveDollars + 100)
      await scene.until('it is confirmed', async () => (await scene.tipStatus(id))?.status === 'confirmed')
      const confirmed_at = new Date(Date.now() - apartMs)
      await scene.stage.db('tips').where({ id }).update({ confirmed_at })
      const stop = again(() => scene.due('tips', `id = '${id}'`))
      return async () => {
        scene.node.deny(false)
        await scene.until('it is final', async () => (await scene.tipStatus(id))?.finalized_at != null)
        await stop()
      }
    },
  },
  {
    name: 'a swap engine builds transactions that pay less than it says',
    fires: ['swap_refused'],
    async make(scene) {
      const { aggregator } = scene.stage.sandbox
      const { cookie, userId } = scene.creator(3)
      const convert = (autoConvertUsdc: boolean) =>
        scene.ask(['PATCH', '/creators/me', { settings: { autoConvertUsdc } }], { cookie })
      await convert(true)
      aggregator.set({ ultra: { mode: 'pays-less' } })
      const wanted = {
        creatorId: userId,
        amountUsd: 10,
        inputTokenMint: solMint,
        sourceWalletAddress: scene.stage.supporters[0]?.publicKey.toBase58(),
      }
      for (let n = 0; n < badSwaps; n++) {
        const { status, body } = await scene.ask(['POST', '/payments/intent', wanted])
        if (status !== 200) throw new Error(`an intent was answered ${status} ${JSON.stringify(body)}`)
      }
      return async () => {
        aggregator.reset()
        await convert(false)
      }
    },
    seen: (now, before) => now.alerts('swap_refused', before) >= badSwaps,
  },
]
