import { createHash } from 'node:crypto'
import test from 'ava'
import { compose } from '../../../src/compose.js'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { tokenBySymbol } from '../../../src/kernel/tokens.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { createVerifierBatch } from '../../../src/tips/verify/verify-tips.js'
import { createSupporter, strangerWallet } from '../../helpers/make/supporter.js'
import { recordTip, storedTip, verifyUntil } from '../../helpers/make/tips.js'
import { solTransfer } from '../../helpers/make/transfers.js'
import { useWorld } from '../../helpers/servers/world.js'

/** The service means another chain than the one its node serves. */
const world = useWorld(test, {
  chain: true,
  env: { SOLANA_GENESIS_HASH: encodeBase58(createHash('sha256').update('another chain').digest()) },
})

test('a node of another chain is never believed, and one of the right chain is', async (t) => {
  const { sandbox, request, env } = world()
  const supporter = createSupporter(sandbox)
  const creatorWallet = strangerWallet()
  const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, 2_000_000)])
  await recordTip(world(), {
    creatorWallet,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    txSignature,
  })
  sandbox.calls.reset()
  await t.throwsAsync(createVerifierBatch(world().services))
  t.deepEqual(Object.keys(sandbox.calls.all()), ['getGenesisHash'], 'nothing else is even asked')
  t.like(await storedTip(world(), txSignature), { status: 'pending', outcome: null })

  const { status, body } = await request('POST', '/payments/intent', {
    body: {
      creatorId: creatorWallet,
      amount: 1,
      inputTokenMint: tokenBySymbol('USDC')?.mint,
      sourceWalletAddress: supporter.wallet,
    },
  })
  t.is(`${status} ${body.error}`, '503 Service unavailable')

  const right = compose(loadConfig({ ...env, SOLANA_GENESIS_HASH: sandbox.chain.clock.genesisHash }), 'right')
  t.teardown(() => right.close())
  const isConfirmed = async () => (await storedTip(world(), txSignature)).status === 'confirmed'
  await t.notThrowsAsync(verifyUntil(createVerifierBatch(right), 'the tip is confirmed', isConfirmed, 5000))
})
