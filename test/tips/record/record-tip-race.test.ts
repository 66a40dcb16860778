import test from 'ava'
import { claimFromRequest, type SignedClaim } from '../../../src/tips/record/claim.js'
import { createRecorder } from '../../../src/tips/record/record-claim.js'
import type { RecordTipInput } from '../../../src/tips/schemas.js'
import { registerPerson } from '../../helpers/make/creators.js'
import { createIntent } from '../../helpers/make/intents.js'
import { unusedSignature, unusedWallet } from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, someClaim } from '../../helpers/make/tips.js'
import { composeAs } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { proxies: true })
const mostClaims = 5
const same = { creatorWallet: unusedWallet(), senderWallet: unusedWallet() }

const furtherClaims = (signature: string) =>
  world().db('tip_claims').where({ tip_id: signature }).orderBy('id')

test.serial('of 100 identical concurrent requests, one creates the tip, and there is one row', async (t) => {
  const claim = someClaim()
  const answers = await Promise.all(Array.from({ length: 100 }, () => recordTip(world(), claim)))
  t.is(answers.filter(({ message }) => message === 'Tip recorded successfully').length, 1)
  t.is(answers.filter(({ message }) => message === 'Tip already recorded').length, 99)
  t.is((await furtherClaims(claim.txSignature)).length, 0)
  t.is((await readTipRow(world(), claim.txSignature)).claim_count, 1)
})

test.serial('of 100 different concurrent claims at most five are stored and counted', async (t) => {
  const txSignature = unusedSignature()
  const claims = Array.from({ length: 100 }, (_, index) => someClaim({ txSignature, tipAmount: index + 1 }))
  const answers = await Promise.all(claims.map((claim) => recordTip(world(), claim)))
  t.is(answers.filter(({ message }) => message === 'Tip recorded successfully').length, 1)
  const further = await furtherClaims(txSignature)
  t.is(further.length + 1, mostClaims)
  t.is((await readTipRow(world(), txSignature)).claim_count, mostClaims)
})

test.serial('a recording that PostgreSQL ends in a deadlock with `migrate` is tried again', async (t) => {
  const { db } = world()
  const claim = someClaim()
  await recordTip(world(), claim)
  // A migration that changes both tables; the recording waits first, so PostgreSQL ends the recording.
  const migration = await db.transaction()
  await migration.raw(`set local deadlock_timeout = '1min'`)
  await migration.raw('lock table tip_claims in access exclusive mode')
  const recording = world().request('POST', '/chain/tips/create', { body: { ...claim, tipAmount: 7 } })
  const waits = `select 1 from pg_locks where not granted and relation = 'tip_claims'::regclass`
  await until('the recording waits', async () => (await db.raw(waits)).rows.length > 0)
  await migration.raw('lock table tips in access exclusive mode')
  await migration.commit()
  t.is((await recording).status, 200)
  t.is((await furtherClaims(claim.txSignature)).length, 1)
})

test.serial('two processes that record the same signatures concurrently agree on all of them', async (t) => {
  const other = composeAs('web', world().env)
  t.teardown(() => other.close())
  const recorders = [createRecorder(world().services), createRecorder(other)]
  for (let round = 0; round < 40; round++) {
    const signatures = Array.from({ length: 3 }, unusedSignature).sort()
    // Each process gets seven claims for each signature, four of them the same, in different order.
    const claimsFor = (process: number): SignedClaim[] => {
      const amounts = [1, 2, 3, 4, ...[5, 6, 7].map((amount) => amount + 10 * process)]
      const all = signatures.flatMap((txSignature) =>
        amounts.map((tipAmount) =>
          claimFromRequest(someClaim({ ...same, txSignature, tipAmount }) as unknown as RecordTipInput, null),
        ),
      )
      return process === 0 ? all : all.reverse()
    }
    const answers = await Promise.all(
      recorders.flatMap((record, process) =>
        claimsFor(process).map(async (claim) => ({ claim, ...(await record(claim)) })),
      ),
    )
    for (const signature of signatures) {
      const made = answers.filter(({ claim, created }) => claim.signature === signature && created)
      const tip = await readTipRow(world(), signature)
      const further = await furtherClaims(signature)
      const hashes = [tip, ...further].map(({ claim_hash: hash }) => hash.toString('hex'))
      t.is(made.length, 1)
      t.is(new Set(hashes).size, hashes.length, 'equal claims are kept once')
      t.true(hashes.length <= mostClaims, `${hashes.length} claims kept`)
      t.is(tip.claim_count, hashes.length)
    }
  }
})
test.serial('a differing claim makes the tip due and breaks the lease, an equal one does not', async (t) => {
  const claim = someClaim()
  const { txSignature: id } = claim
  await recordTip(world(), claim)
  await world().db('tips').where({ id }).update({ due_at: null, outcome: 'mismatch', attempts: 7 })
  await recordTip(world(), claim)
  t.like(await readTipRow(world(), id), { due_at: null, attempts: 7 })
  await recordTip(world(), { ...claim, tipAmount: 5 })
  const tip = await readTipRow(world(), id)
  t.true(tip.due_at <= new Date())
  t.is(tip.attempts, 8)
  await world().db('tips').where({ id }).update({ due_at: null })
  await recordTip(world(), { ...claim, tipAmount: 5 })
  t.is((await readTipRow(world(), id)).due_at, null)
})

test.serial('at the limit a new claim replaces the one found false longest ago', async (t) => {
  const claim = someClaim({ tipAmount: 1 })
  const { txSignature: id } = claim
  for (const tipAmount of [1, 2, 3, 4, 5]) await recordTip(world(), { ...claim, tipAmount })
  const amounts = async () => (await furtherClaims(id)).map(({ amount }) => Number(amount) * 1e9)
  await world().db('tips').where({ id }).update({ due_at: null })
  await recordTip(world(), { ...claim, tipAmount: 6 })
  t.deepEqual(await amounts(), [2, 3, 4, 5])
  t.is((await readTipRow(world(), id)).due_at, null)
  const found = (tipAmount: number, at: Date) =>
    setRows(world(), 'tip_claims', { tip_id: id, amount: tipAmount / 1e9 }, { found_false_at: at })
  await found(3, new Date(2000))
  await found(4, new Date(1000))
  await recordTip(world(), { ...claim, tipAmount: 6 })
  t.deepEqual(await amounts(), [2, 3, 5, 6])
  t.is((await readTipRow(world(), id)).claim_count, 5)
  t.true((await readTipRow(world(), id)).due_at !== null)
})

test.serial('each request sends only the expected statements', async (t) => {
  const { proxies, request } = world()
  const { session } = await registerPerson(world())
  const claim = someClaim()
  await recordTip(world(), someClaim())
  await listTips(world(), unusedWallet())
  await recordTip(world(), claim)
  t.deepEqual(await proxies.sql.during(() => recordTip(world(), claim)), ['tips.record-one'])
  t.deepEqual(await proxies.sql.during(() => recordTip(world(), { ...claim, tipAmount: 9 })), [
    'tips.record-one',
    'tips.record-further',
  ])
  t.deepEqual(await proxies.sql.during(() => listTips(world(), unusedWallet())), ['tips.list'])
  t.deepEqual(await proxies.sql.during(() => listTips(world(), '00000000-0000-4000-8000-000000000000')), [
    'tips.list',
  ])
  t.deepEqual(await proxies.sql.during(() => request('GET', '/auth/me', { session })), ['sessions.find'])
  t.is((await proxies.sql.during(() => request('GET', '/creators/me', { session }))).length, 2)
  t.deepEqual(await proxies.sql.during(() => listTips(world(), 'nobody')), [])
  await t.throwsAsync(createIntent(request, {}))
})

test.serial('concurrent claims share statements', async (t) => {
  const record = createRecorder(world().services)
  const claims = Array.from({ length: 300 }, () =>
    claimFromRequest(someClaim() as unknown as RecordTipInput, null),
  )
  const statements = await world().proxies.sql.during(() => Promise.all(claims.map(record)))
  t.deepEqual(statements, ['tips.record', 'tips.record'])
})

test.serial('a Redis that has stopped answering delays no request', async (t) => {
  const { proxies } = world()
  proxies.redis.hold(true)
  t.teardown(() => proxies.redis.hold(false))
  for (let turn = 0; turn < 5; turn++) {
    const startedAt = performance.now()
    t.is((await recordTip(world(), someClaim())).message, 'Tip recorded successfully')
    const tookMs = performance.now() - startedAt
    // A command to Redis without a time limit would never end.
    t.true(tookMs < 15_000, `${tookMs} ms`)
  }
})
