import test from 'ava'
import { freshWallet, fundedSupporter, sol } from './support/chain.js'
import { check, checkFields, checkWithStandIns, once } from './support/check.js'
import { registerCreator } from './support/people.js'
import { base, call, control, type Json, until } from './support/server.js'
import * as shape from './support/shapes.js'

// GET /chain/tips/stream.

interface Stream {
  /** All that came so far. */
  readonly text: () => string
  readonly contentType: string
  close(): void
}

const streams: Stream[] = []
test.after.always('the streams are closed', () => {
  for (const stream of streams) stream.close()
})

async function open(wallet: string): Promise<Stream> {
  const abort = new AbortController()
  const response = await fetch(`${base}/chain/tips/stream?wallet=${wallet}`, { signal: abort.signal })
  let text = ''
  const { body } = response
  if (body === null) throw new Error('no stream')
  const decoder = new TextDecoder()
  void (async () => {
    for await (const chunk of body) text += decoder.decode(chunk as Uint8Array, { stream: true })
  })().catch(() => undefined)
  const stream = {
    text: () => text,
    contentType: response.headers.get('content-type') ?? '',
    close: () => abort.abort(),
  }
  streams.push(stream)
  return stream
}

function dataOf({ text }: Stream): Json[] {
  return text()
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => JSON.parse(line.slice('data:'.length)) as Json)
}

const connected = once(async () => {
  const wallet = freshWallet()
  const stream = await open(wallet)
  await until('the connection event', 10, async () => (dataOf(stream).length > 0 ? true : undefined))
  return { wallet, stream }
})

const tipped = once(async () => {
  const creator = await registerCreator()
  const other = await registerCreator()
  const supporter = await fundedSupporter()
  const [stream, strangers] = await Promise.all([open(creator.wallet), open(other.wallet)])
  const body = {
    creatorId: creator.id,
    amount: 0.5,
    inputTokenMint: sol,
    sourceWalletAddress: supporter.wallet,
  }
  const intent = await call('POST', '/payments/intent', { body })
  const txSignature = await supporter.signAndSubmit(String(intent.body['transaction']))
  const claim = {
    creatorWallet: creator.wallet,
    tipAmount: 500_000_000,
    senderWallet: supporter.wallet,
    txSignature,
    message: 'hello',
  }
  await call('POST', '/chain/tips/create', { body: claim })
  const event = await until('a tip event', 30, async () => dataOf(stream).find(({ type }) => type === 'tip'))
  return { event, supporter, stream, strangers }
})

check('the stream is text/event-stream', async (t) => {
  t.regex((await connected()).stream.contentType, /^text\/event-stream/)
})
check('the first bytes are the directive retry: 10000', async (t) => {
  t.regex((await connected()).stream.text(), /^retry: 10000\r?\n/)
})
check('the connection event says connected and the wallet', async (t) => {
  const { wallet, stream } = await connected()
  t.like(dataOf(stream)[0], { status: 'connected', wallet })
})
check('a comment line comes every 15 seconds', async (t) => {
  const { stream } = await connected()
  await until('a heartbeat', 20, async () => (/^:\s*$/m.test(stream.text()) ? true : undefined))
  t.pass()
})
check('a stream without a wallet is refused before it opens', async (t) => {
  const { status, body } = await call('GET', '/chain/tips/stream')
  t.is(status, 400)
  t.is(body['success'], false)
})
checkFields(checkWithStandIns, 'a tip event has', async () => (await tipped()).event, {
  type: shape.is('tip'),
  amount: shape.is(0.5),
  tokenSymbol: shape.is('SOL'),
  sender: shape.isWallet,
  message: shape.is('hello'),
  timestamp: shape.isTimestamp,
})
checkWithStandIns('the sender of a tip event is the supporter', async (t) => {
  const { event, supporter } = await tipped()
  t.is(event['sender'], supporter.wallet)
})
checkWithStandIns('a tip is pushed once', async (t) => {
  const { stream } = await tipped()
  t.is(dataOf(stream).filter(({ type }) => type === 'tip').length, 1)
})
checkWithStandIns('a paid naira tip is pushed with the name and the message of its sender', async (t) => {
  const creator = await registerCreator()
  const stream = await open(creator.wallet)
  const body = { creatorId: creator.id, amount: 10, senderName: 'Bola', memo: 'well done' }
  const intent = await call('POST', '/payments/fiat/intent', { body })
  await control(`/dev/fiatpay/charges/${intent.body['intentId']}`, { outcome: 'paid' })
  const event = await until('a tip event', 30, async () => dataOf(stream).find(({ type }) => type === 'tip'))
  t.like(event, { amount: 10, tokenSymbol: 'FIAT', sender: 'Bola', message: 'well done' })
})
checkWithStandIns('tips to another wallet are not pushed', async (t) => {
  const { strangers } = await tipped()
  t.deepEqual(
    dataOf(strangers).filter(({ type }) => type === 'tip'),
    [],
  )
})
