import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startFiat } from '../../../scripts/sandbox/fiat.js'
import { roll } from '../../../scripts/sandbox/fiatpay/dice.js'
import { seeded } from '../../helpers/seed.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { until } from '../../helpers/until.js'
import { exitOf, startProcess } from '../sandbox-process.js'
import {
  api,
  caller,
  control,
  fiatFor,
  newRecipient,
  newReference,
  type SentTransfer,
  type Transaction,
  transferBody,
} from './client.js'

const secretKey = 'sk_test_of_this_test'
const kills = 4
const senders = 6
/** Acknowledged transfers until a kill: at least so many, and up to twice as many. */
const killAfter = 30

interface Log {
  readonly charges: { readonly reference: string; readonly paidKobo: number }[]
  readonly transfers: { readonly reference: string; readonly status: string }[]
}

async function logOf(url: string): Promise<Log> {
  return (await (await fetch(`${url}/dev/fiatpay/log`)).json()) as Log
}

/** What senders did: the references they tried, and those the provider acknowledged. */
interface Sent {
  readonly tried: Set<string>
  readonly acknowledged: string[]
}

/** Sends one reference after the other until the provider is gone. */
async function sendUntilKilled(url: string, recipient: string, { tried, acknowledged }: Sent): Promise<void> {
  try {
    for (;;) {
      const reference = newReference()
      tried.add(reference)
      const sent = await api({ url, secretKey }, 'POST', '/transfer', transferBody(recipient, reference))
      if (sent.status === 200) acknowledged.push(reference)
    }
  } catch {
    // It is gone, and what it did last is open.
  }
}

/** Starts a provider on its books, has it send until enough is acknowledged, and kills it in the middle. */
async function sendAndKill(t: ExecutionContext, DATA_DIR: string, sent: Sent, enough: number): Promise<void> {
  const { child, url } = await startProcess(t, { DATA_DIR, FIATPAY_SECRET_KEY: secretKey })
  const recipient = await newRecipient({ post: (path, body) => api({ url, secretKey }, 'POST', path, body) })
  const sending = Array.from({ length: senders }, () => sendUntilKilled(url, recipient, sent))
  const before = sent.acknowledged.length
  await until('enough is acknowledged', () => sent.acknowledged.length >= before + enough)
  child.kill('SIGKILL')
  await exitOf(child)
  await Promise.all(sending)
}

test('a killed provider executes nothing twice and forgets nothing it acknowledged', async (t) => {
  const { seed } = seeded(t)
  const DATA_DIR = temporaryFolder(t)
  const sent: Sent = { tried: new Set(), acknowledged: [] }
  for (let kill = 0; kill < kills; kill++)
    await sendAndKill(t, DATA_DIR, sent, Math.floor(killAfter * (1 + roll(seed, kill))))
  appendFileSync(join(DATA_DIR, 'fiatpay-transfers.jsonl'), '{"id":1,"reference":"torn')

  const { url } = await startProcess(t, { DATA_DIR, FIATPAY_SECRET_KEY: secretKey })
  const executed = async () => (await logOf(url)).transfers.map(({ reference }) => reference)
  const known = await executed()
  t.true(sent.acknowledged.every((reference) => known.includes(reference)))
  const post = <Data>(path: string, body: unknown) => api<Data>({ url, secretKey }, 'POST', path, body)
  const recipient = await newRecipient({ post })
  for (const reference of sent.tried) await post('/transfer', transferBody(recipient, reference))
  const all = await executed()
  t.is(all.length, new Set(all).size, 'no reference twice')
  t.is(all.length, sent.tried.size)
  await until('all have settled', async () =>
    (await logOf(url)).transfers.every(({ status }) => status === 'success'),
  )
  t.log(
    `${sent.tried.size} tried, ${sent.acknowledged.length} acknowledged, ${known.length} executed by the kills`,
  )
})

test('a restarted provider knows charges, payments, names and what is still pending', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startFiat({ dataDir })
  const { post, control: set } = caller(first)
  const [paid, open, sent, held] = [newReference(), newReference(), newReference(), newReference()]
  for (const reference of [paid, open])
    await post('/transaction/initialize', { email: 'a@example.com', amount: 20_000, reference })
  for (let times = 0; times < 2; times++) await set(`fiatpay/charges/${paid}`, { outcome: 'paid' })
  const recipient = await newRecipient({ post })
  first.fiatpay.behaviour.setFault({ settleMs: 300, outcomes: 'reversed' })
  await post('/transfer', transferBody(recipient, sent))
  await set('fiatpay/mode', { transfers: 'manual' })
  await post('/transfer', transferBody(recipient, held))
  const before = first.fiatpay.log()
  await first.close()

  const second = await fiatFor(t, { dataDir })
  const { get, control: setNow } = caller(second)
  t.deepEqual(second.fiatpay.log().charges, before.charges)
  t.is(second.fiatpay.log().charges[0]?.paidKobo, 40_000)
  const resolved = await get<{ account_name: string }>(
    '/bank/resolve?account_number=0123456789&bank_code=058',
  )
  t.is(resolved.body.data.account_name, 'Ada Obi')
  const status = async (reference: string) =>
    (await get<SentTransfer>(`/transfer/verify/${reference}`)).body.data.status
  await until('the clock goes on', async () => (await status(sent)) === 'reversed')
  t.is(await status(held), 'pending')
  await setNow(`fiatpay/transfers/${held}`, { outcome: 'failed' })
  t.is(await status(held), 'failed')
})

test('a reset empties the books, and no number is given again', async (t) => {
  const dataDir = temporaryFolder(t)
  const fiat = await fiatFor(t, { dataDir })
  const { get, post } = caller(fiat)
  const open = async () => {
    const reference = newReference()
    await post('/transaction/initialize', { email: 'a@example.com', amount: 20_000, reference })
    return (await get<Transaction>(`/transaction/verify/${reference}`)).body.data.id
  }
  const id = await open()
  fiat.fiatpay.reset()
  t.deepEqual(fiat.fiatpay.log(), { charges: [], transfers: [] })
  t.is(readFileSync(join(dataDir, 'fiatpay-charges.jsonl'), 'utf8'), '')
  t.true((await open()) > id)
})

test('one sandbox serves chain, rates and provider, and resets them by name', async (t) => {
  const { url } = await startProcess(t, { FIATPAY_SECRET_KEY: secretKey })
  const reference = newReference()
  const body = { email: 'a@example.com', amount: 20_000, reference }
  t.is((await api({ url, secretKey }, 'POST', '/transaction/initialize', body)).status, 200)
  t.is((await control({ url }, 'rates', { NGN: 1 })).status, 200)
  t.is((await control({ url }, 'reset', { what: ['fiatpay', 'rates'] })).status, 200)
  t.deepEqual((await logOf(url)).charges, [])
  t.like(await (await fetch(`${url}/rates/USD`)).json(), { rates: { NGN: 1600 } })
})
