import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startFiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import { temporaryFolder } from '../../helpers/temporary-folder.js'
import { until } from '../../helpers/until.js'
import { exitOf, startSandboxProcess } from '../sandbox-process.js'
import {
  callApi,
  createCaller,
  newRecipient,
  newReference,
  type SentTransfer,
  startFiatFor,
  transferBody,
} from './client.js'

const secretKey = 'sk_test_of_this_test'
const kills = 3
const senders = 6
/** A kill comes after this many acknowledged transfers. */
const killAfter = 40

interface Log {
  readonly charges: { readonly reference: string; readonly paidKobo: number }[]
  readonly transfers: { readonly reference: string; readonly status: string }[]
}

async function logOf(url: string): Promise<Log> {
  return (await (await fetch(`${url}/dev/fiatpay/log`)).json()) as Log
}

/** The references that senders tried, and those that the provider acknowledged. */
interface Sent {
  readonly tried: Set<string>
  readonly acknowledged: string[]
}

/** Sends transfers with new references until the provider is killed. */
async function sendUntilKilled(url: string, recipient: string, { tried, acknowledged }: Sent): Promise<void> {
  try {
    for (;;) {
      const reference = newReference()
      tried.add(reference)
      const sent = await callApi({ url, secretKey }, 'POST', '/transfer', transferBody(recipient, reference))
      if (sent.status === 200) acknowledged.push(reference)
    }
  } catch {
    // The provider was killed. The outcome of the last transfer is unknown.
  }
}

/** Starts a provider on its records, sends until enough transfers are acknowledged, and kills it while others are sent. */
async function sendAndKill(t: ExecutionContext, DATA_DIR: string, sent: Sent, enough: number): Promise<void> {
  const { child, url } = await startSandboxProcess(t, { DATA_DIR, FIATPAY_SECRET_KEY: secretKey })
  const recipient = await newRecipient({
    post: (path, body) => callApi({ url, secretKey }, 'POST', path, body),
  })
  const sending = Array.from({ length: senders }, () => sendUntilKilled(url, recipient, sent))
  const before = sent.acknowledged.length
  await until('enough is acknowledged', () => sent.acknowledged.length >= before + enough)
  child.kill('SIGKILL')
  await exitOf(child)
  await Promise.all(sending)
}

test('a killed provider executes no reference twice and keeps every acknowledged transfer', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const sent: Sent = { tried: new Set(), acknowledged: [] }
  for (let kill = 0; kill < kills; kill++) await sendAndKill(t, DATA_DIR, sent, killAfter)
  appendFileSync(join(DATA_DIR, 'fiatpay-transfers.jsonl'), '{"id":1,"reference":"torn')

  const { url } = await startSandboxProcess(t, { DATA_DIR, FIATPAY_SECRET_KEY: secretKey })
  const executed = async () => (await logOf(url)).transfers.map(({ reference }) => reference)
  const known = await executed()
  t.true(sent.acknowledged.every((reference) => known.includes(reference)))
  const post = <Data>(path: string, body: unknown) => callApi<Data>({ url, secretKey }, 'POST', path, body)
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

test('a restarted provider keeps charges, payments, names and pending transfers', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startFiatSandbox({ dataDir })
  const { post, control: set } = createCaller(first)
  const [paid, open, sent, held] = [newReference(), newReference(), newReference(), newReference()]
  for (const reference of [paid, open])
    await post('/transaction/initialize', { email: 'a@example.com', amount: 20_000, reference })
  for (let times = 0; times < 2; times++) await set(`fiatpay/charges/${paid}`, { outcome: 'paid' })
  const recipient = await newRecipient({ post })
  first.fiatpay.faults.setFault({ settleMs: 300, outcomes: 'reversed' })
  await post('/transfer', transferBody(recipient, sent))
  await set('fiatpay/mode', { transfers: 'manual' })
  await post('/transfer', transferBody(recipient, held))
  const before = first.fiatpay.log()
  await first.close()

  const second = await startFiatFor(t, { dataDir })
  const { get, control: setNow } = createCaller(second)
  t.deepEqual(second.fiatpay.log().charges, before.charges)
  t.is(second.fiatpay.log().charges[0]?.paidKobo, 40_000)
  const resolved = await get<{ account_name: string }>(
    '/bank/resolve?account_number=0123456789&bank_code=058',
  )
  t.is(resolved.body.data.account_name, 'Ada Obi')
  const status = async (reference: string) =>
    (await get<SentTransfer>(`/transfer/verify/${reference}`)).body.data.status
  await until(
    'the planned outcome is applied after the restart',
    async () => (await status(sent)) === 'reversed',
  )
  t.is(await status(held), 'pending')
  await setNow(`fiatpay/transfers/${held}`, { outcome: 'failed' })
  t.is(await status(held), 'failed')
})
