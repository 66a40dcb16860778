import type {
  ActionGetResponse,
  ActionPostRequest,
  ActionPostResponse,
  ActionsJson,
  LinkedAction,
  NextAction,
  NextActionPostRequest,
  TransactionResponse,
} from '@solana/actions-spec'
import { VersionedTransaction } from '@solana/web3.js'
import test, { type ExecutionContext } from 'ava'
import { generate } from 'lean-qr'
import { toSvgSource } from 'lean-qr/extras/svg'
import { mintTokens, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import type { ActionAnswer, CompletedAnswer, TransactionAnswer } from '../../src/actions/schemas.js'
import { solMint, usdc } from '../../src/kernel/tokens.js'
import { payUrlOf } from '../../src/public-page/page.js'
import { createFinderBatch } from '../../src/tips/record/find-unreported.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { requestRaw } from '../helpers/http/raw-request.js'
import { untilConfirmedOnChain } from '../helpers/make/intents.js'
import { listUnconfirmed } from '../helpers/make/landed-tips.js'
import { kit, solanaPay } from '../helpers/make/solana-pay.js'
import { createSupporter, type Supporter } from '../helpers/make/supporter.js'
import { listTips, runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'
import { createTippable } from './support.js'

const world = useWorld(test, { chain: true })
const rpc = () => kit.createSolanaRpc(world().sandbox.url)
const storedIntent = (wallet: string) =>
  world().db('payment_intents').where({ source_wallet: wallet }).first()

/** The types of the specification accept the answers. */
const asAction = (answer: ActionAnswer): ActionGetResponse => answer
const asTransaction = (answer: TransactionAnswer): TransactionResponse => answer
const asNext = (answer: CompletedAnswer): NextAction => answer

async function verifyTip(signature: string): Promise<void> {
  const verify = createVerifierBatch(as('verifier', world().services))
  await runBatchUntil(
    verify,
    'the tip is confirmed',
    async () => (await listUnconfirmed(world(), [signature])).length === 0,
  )
}

/** The finder's search, half a minute after the intent was made. */
async function findUnreported(wallet: string): Promise<void> {
  await world()
    .db('payment_intents')
    .where({ source_wallet: wallet })
    .update({ due_at: new Date(0) })
  await createFinderBatch(as('finder', world().services))()
}

/** Signs and submits as a wallet made with @solana/kit does. */
async function send(signers: readonly Supporter[], transaction: Parameters<typeof kit.signTransaction>[1]) {
  const keys = signers.map(({ keypair }) => kit.createKeyPairFromBytes(keypair.secretKey))
  const signed = await kit.signTransaction(await Promise.all(keys), transaction)
  const wire = kit.getBase64EncodedWireTransaction(signed)
  const signature = await rpc().sendTransaction(wire, { encoding: 'base64' }).send()
  await untilConfirmedOnChain(world(), [signature])
  return signature
}

test('@solana/pay: a scanned address becomes a tip, though nobody reports it', async (t) => {
  const { handle, wallet, payUrl } = await createTippable(world())
  const { sandbox, url } = world()
  const { encodeURL, parseURL, fetchTransaction, findReference, validateTransfer } = solanaPay
  const supporter = createSupporter(sandbox, ['USDC'])
  mintTokens(sandbox.chain, wallet, usdc.mint, 1n)

  const scanned = payUrlOf('https://tips.example', handle)
  t.is(scanned, String(encodeURL({ link: new URL(`https://tips.example/actions/tip/${handle}`) })))
  t.is(payUrl, payUrlOf(publicUrl, handle))
  const { text: code } = await requestRaw(url, 'GET', `/@${handle}/wallet-qr.svg`)
  t.is(code, toSvgSource(generate(payUrl), { on: 'black', off: 'white', pad: 4, xmlDeclaration: true }))
  const { link } = parseURL(scanned)
  const address = new URL(link.pathname, url)
  const { body } = await world().request<ActionAnswer>('GET', link.pathname)
  t.like(body, { label: 'Tip Ada Lovelace', icon: `${publicUrl}/pay-icon.svg` })

  const signature = await send([supporter], await fetchTransaction(rpc(), supporter.wallet, address))
  const { reference_key: reference } = await storedIntent(supporter.wallet)
  t.is((await findReference(rpc(), reference)).signature, signature)
  const expected = { recipient: wallet, amount: 1.96, splToken: usdc.mint, reference }
  await t.notThrowsAsync(validateTransfer(rpc(), signature, expected))
  await t.throwsAsync(validateTransfer(rpc(), signature, { ...expected, amount: 1.97 }))

  await findUnreported(supporter.wallet)
  await verifyTip(signature)
  const [tip] = await listTips(world(), wallet)
  const smallest = { amount: 2, receivedAmount: 1.96, tokenSymbol: 'USDC' }
  t.like(tip, { signature, status: 'confirmed', sender: supporter.wallet, ...smallest })
})

test('@solana/kit: another wallet pays the network fee, with another blockhash; the key finds the tip', async (t) => {
  const { handle, wallet } = await createTippable(world())
  const [supporter, sponsor] = [createSupporter(world().sandbox), createSupporter(world().sandbox)]
  const path = `/actions/tip/${handle}?amount=3.5&token=sol&message=from%20a%20kit`
  const { body } = await world().request<TransactionAnswer>('POST', path, {
    body: { account: supporter.wallet },
  })
  t.is(body.message, 'Tip Ada Lovelace $3.5 in SOL')
  const { messageBytes } = kit.getTransactionDecoder().decode(kit.getBase64Encoder().encode(body.transaction))
  const issued = kit.getCompiledTransactionMessageDecoder().decode(messageBytes)
  let lifetime = (await rpc().getLatestBlockhash().send()).value
  await until('there is another blockhash', async () => {
    lifetime = (await rpc().getLatestBlockhash().send()).value
    return lifetime.blockhash !== issued.lifetimeToken
  })
  const sponsored = kit.setTransactionMessageFeePayer(sponsor.wallet, kit.decompileTransactionMessage(issued))
  const altered = kit.setTransactionMessageLifetimeUsingBlockhash(lifetime, sponsored)
  const signature = await send([sponsor, supporter], kit.compileTransaction(altered))
  await findUnreported(supporter.wallet)
  await verifyTip(signature)
  const [tip] = await listTips(world(), wallet)
  t.like(tip, { signature, sender: supporter.wallet, tokenSymbol: 'SOL', message: 'from a kit' })
  t.true(Math.abs((tip?.valueUsd ?? 0) - 3.5) < 0.01)
})

/** A client of Solana Actions that knows nothing but the specification. */
function actionClient(t: ExecutionContext, supporter: Supporter) {
  async function call<Body extends object>(
    method: 'GET' | 'POST',
    address: URL,
    body?: object,
  ): Promise<Body> {
    const { pathname, search } = address
    const answer = await world().request<Body>(method, `${pathname}${search}`, body && { body })
    t.is(answer.status, 200, pathname)
    t.like(answer.headers, {
      'access-control-allow-origin': '*',
      'x-action-version': '2.4',
      'x-blockchain-ids': 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    })
    t.regex(String(answer.headers['content-type']), /^application\/json/)
    return answer.body
  }
  const { url } = world()
  return {
    /** Finds the Action of a page by the site's rules. */
    async open(page: string) {
      const { rules } = await call<ActionsJson>('GET', new URL('/actions.json', url))
      const paths = rules.flatMap(({ pathPattern, apiPath }) => {
        const pattern = pathPattern.replaceAll(/[*]+/g, (operator) => (operator === '*' ? '([^/]+)' : '(.*)'))
        const [, part] = new RegExp(`^${pattern}$`).exec(page) ?? []
        return part === undefined ? [] : [apiPath.replace(/[*]+/, part)]
      })
      const [path = '', ...others] = [...new Set(paths)]
      t.deepEqual(others, [], 'every rule leads to the same Action')
      const address = new URL(path, url)
      return { address, action: asAction(await call<ActionAnswer>('GET', address)) }
    },
    /** Follows a button with what the person entered. */
    async press(from: URL, { href, parameters = [] }: LinkedAction, entered: Record<string, string> = {}) {
      const filled = parameters.reduce(
        (address, { name }) => address.replace(`{${name}}`, encodeURIComponent(entered[name] ?? '')),
        href,
      )
      const request: ActionPostRequest = { account: supporter.wallet, type: 'transaction' }
      return call<TransactionAnswer | Extract<ActionPostResponse, { type: 'external-link' }>>(
        'POST',
        new URL(filled, from),
        request,
      )
    },
    async next(from: URL, { links: { next } }: TransactionAnswer, signature: string): Promise<NextAction> {
      const request: NextActionPostRequest = { account: supporter.wallet, signature }
      return asNext(await call<CompletedAnswer>('POST', new URL(next.href, from), request))
    },
  }
}

test('a client of Solana Actions shows what may be tipped, pays, and reports the tip', async (t) => {
  const settings = { minTipUsd: 3, maxTipUsd: 20 }
  const page = { words: 'Songs from Lagos', thanks: 'You are the best.' }
  const { handle, wallet } = await createTippable(world(), { settings, page })
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const client = actionClient(t, supporter)

  const { address, action } = await client.open(`/@${handle}`)
  t.like(action, { type: 'action', title: 'Ada Lovelace', description: 'Songs from Lagos' })
  const actions = action.links?.actions ?? []
  t.deepEqual(
    actions.map(({ type, label }) => [type, label]),
    [
      ['transaction', 'Tip 5 USDC'],
      ['transaction', 'Tip 10 USDC'],
      ['transaction', 'Tip another amount'],
      ['external-link', 'Pay in naira'],
    ],
    'presets within the limits of the creator',
  )
  const [, , free, naira] = actions as [LinkedAction, LinkedAction, LinkedAction, LinkedAction]
  t.like(free.parameters?.[0], { name: 'amount', type: 'number', min: 3, max: 20, required: true })
  t.like(await client.press(address, naira), {
    type: 'external-link',
    externalLink: `${publicUrl}/@${handle}`,
  })

  const entered = { amount: '4.25', message: 'für Ada & friends {amount}' }
  const answer = (await client.press(address, free, entered)) as TransactionAnswer
  t.like(asTransaction(answer), { type: 'transaction', message: 'Tip Ada Lovelace 4.25 USDC' })
  const signature = supporter.pay(answer.transaction)
  await untilConfirmedOnChain(world(), [signature])
  const completed = await client.next(address, answer, signature)
  t.like(completed, { type: 'completed', title: 'Ada Lovelace' })
  t.regex(completed.description, /is sent\. .* You are the best\.$/)
  t.like(await client.next(address, answer, signature), { type: 'completed' }, 'repeated')

  await verifyTip(signature)
  const tips = await listTips(world(), wallet)
  t.is(tips.length, 1)
  const expected = { status: 'confirmed', amount: 4.25, message: entered.message, sender: supporter.wallet }
  t.like(tips[0], { signature, ...expected })
  const { request_id: requestId } = await world().db('tips').where({ id: signature }).first()
  t.truthy(requestId, 'reported by the client, not found later')
})

test('a tip without an amount is the smallest suggested one, and the transaction is for the wallet that asks', async (t) => {
  const { handle } = await createTippable(world(), { settings: { minTipUsd: 40, maxTipUsd: 60 } })
  const supporter = createSupporter(world().sandbox)
  requestAirdrop(world().sandbox.chain, supporter.wallet, 1n)
  const { body } = await world().request<TransactionAnswer>('POST', `/actions/tip/${handle}?token=SOL`, {
    body: { account: supporter.wallet },
  })
  t.is(body.message, 'Tip Ada Lovelace $40 in SOL')
  const { message, signatures } = VersionedTransaction.deserialize(Buffer.from(body.transaction, 'base64'))
  t.is(message.staticAccountKeys[0]?.toBase58(), supporter.wallet)
  t.true(signatures.every((signature) => signature.every((byte) => byte === 0)))
  t.like(await storedIntent(supporter.wallet), { input_mint: solMint, sdk_session_id: null })
})
