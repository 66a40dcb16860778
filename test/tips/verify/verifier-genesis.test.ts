import { createHash } from 'node:crypto'
import test from 'ava'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { tokenBySymbol } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { solTransfer } from '../../helpers/make/instructions.js'
import { createSupporter, unusedWallet } from '../../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { as, composeAs } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

/** The service is configured for another chain than the one of its node. */
const world = useWorld(test, {
  chain: true,
  env: { SOLANA_GENESIS_HASH: encodeBase58(createHash('sha256').update('another chain').digest()) },
})

test('the answers of a node of another chain are never used, and those of the right chain are', async (t) => {
  const { sandbox, request, env } = world()
  const supporter = createSupporter(sandbox)
  const creatorWallet = unusedWallet()
  const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, 2_000_000)])
  await recordTip(world(), {
    creatorWallet,
    senderWallet: supporter.wallet,
    tipAmount: 2_000_000,
    txSignature,
  })
  sandbox.calls.reset()
  await t.throwsAsync(createVerifierBatch(as('verifier', world().services)))
  t.deepEqual(Object.keys(sandbox.calls.all()), ['getGenesisHash'], 'nothing else is requested')
  t.like(await readTipRow(world(), txSignature), { status: 'pending', outcome: null })

  const { status, body } = await request('POST', '/payments/intent', {
    body: {
      creatorId: creatorWallet,
      amount: 1,
      inputTokenMint: tokenBySymbol('USDC')?.mint,
      sourceWalletAddress: supporter.wallet,
    },
  })
  t.is(`${status} ${body.error}`, '503 Service unavailable')

  const right = composeAs('verifier', { ...env, SOLANA_GENESIS_HASH: sandbox.chain.clock.genesisHash })
  t.teardown(() => right.close())
  const isConfirmed = async () => (await readTipRow(world(), txSignature)).status === 'confirmed'
  await t.notThrowsAsync(runBatchUntil(createVerifierBatch(right), 'the tip is confirmed', isConfirmed))
})
