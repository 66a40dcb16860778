import test from 'ava'
import { solMint, type Token, tokenBySymbol, usdc } from '../../src/kernel/tokens.js'
import { userAccount } from '../../src/ledger/accounts.js'
import { releasePending, reserveMany } from '../../src/ledger/bulk-transfers.js'
import {
  type CustodyStep,
  countCustody,
  lockCustody,
  moveCustody,
  readCustody,
} from '../../src/ledger/custody.js'
import { credit } from '../../src/ledger/transfers.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { registerCreator } from '../helpers/make/creators.js'
import { useWorld } from '../helpers/servers/world.js'
import { available, clearing, createUserWith, newKey } from './support.js'

const world = useWorld(test)

let tips = 0

/** A tip credit on its way, and final at once unless told otherwise. Returns its key. */
async function creditTip(userId: string, amount: bigint, final = true): Promise<string> {
  const { transact } = world().services
  tips += 1
  const key = `tip:custody-${tips}`
  const entries = [
    { account: clearing, amount: -amount },
    { account: userAccount(userId, 'pending', 'USDC'), amount },
  ]
  await transact(({ trx }) => reserveMany(trx, [{ key, ref: key, entries }]))
  if (final) await finalize(key)
  return key
}

const finalize = (key: string) => world().services.transact(({ trx }) => releasePending(trx, [key]))

const lock = (userId: string, mint = usdc.mint) =>
  world().services.transact(async ({ trx }) => (await lockCustody(trx, [userId], mint))[0])

const move = (userId: string, step: CustodyStep, amount: bigint) =>
  world().services.transact(async ({ trx }) => {
    await lockCustody(trx, [userId], usdc.mint)
    await moveCustody(trx, step, [{ userId, mint: usdc.mint, amount }])
  })

test('the book counts final credits from the chain once, and nothing else', async (t) => {
  const { db } = world()
  const ada = await createUserWith(db, 1_000n)
  t.is((await lock(ada))?.final, 0n, 'other credits are not from the chain')
  await creditTip(ada, 5n)
  const open = await creditTip(ada, 70n, false)
  await credit(db, {
    key: newKey(),
    ref: 'fiat',
    entries: [
      { account: clearing, amount: -9n },
      { account: available(ada), amount: 9n },
    ],
  })
  t.is((await lock(ada))?.final, 5n)
  await finalize(open)
  t.is((await lock(ada))?.final, 75n)
  await Promise.all(Array.from({ length: 4 }, () => countCustody(db)))
  t.is((await lock(ada))?.final, 75n)
})

test('counting while tips become final misses none and counts none twice', async (t) => {
  const { db } = world()
  const ada = await createUserWith(db, 0n)
  const crediting = Array.from({ length: 20 }, (_, n) => creditTip(ada, BigInt(n + 1)))
  const counting = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? countCustody(db) : lock(ada)))
  await Promise.all([...crediting, ...counting])
  await countCustody(db)
  const [book] = await readCustody(db, usdc.mint, [ada])
  t.is(book?.final, 210n)
})

test('more credits than one statement reads are all counted', async (t) => {
  const { db, services } = world()
  const ada = await createUserWith(db, 0n)
  const reserves = Array.from({ length: 1030 }, (_, n) => {
    const key = `tip:many-${n}`
    const entries = [
      { account: clearing, amount: -2n },
      { account: userAccount(ada, 'pending', 'USDC'), amount: 2n },
    ]
    return { key, ref: key, entries }
  })
  await services.transact(async ({ trx }) => {
    await reserveMany(trx, reserves)
    await releasePending(
      trx,
      reserves.map(({ key }) => key),
    )
  })
  t.is((await lock(ada))?.final, 2060n)
})

test('the database refuses to move more than the book has', async (t) => {
  const { db } = world()
  const ada = await createUserWith(db, 0n)
  await creditTip(ada, 100n)
  await t.throwsAsync(move(ada, 'sign', 101n), { message: /custody_covered/ })
  await move(ada, 'sign', 60n)
  await t.throwsAsync(move(ada, 'sign', 41n), { message: /custody_covered/ })
  await move(ada, 'sweep', 50n)
  await move(ada, 'giveBack', 10n)
  await t.throwsAsync(move(ada, 'giveBack', 1n), { message: /in_flight/ })
  await move(ada, 'sign', 30n)
  await move(ada, 'takeOut', 30n)
  const { final, swept, takenOut, inFlight } = (await readCustody(db, usdc.mint, [ada]))[0] ?? {}
  t.deepEqual({ final, swept, takenOut, inFlight }, { final: 100n, swept: 50n, takenOut: 30n, inFlight: 0n })
  await t.throwsAsync(move(ada, 'sign', 0n), { message: /custody has 0 of 1/ })
})

test('other tokens are counted from final tips to the custody wallet', async (t) => {
  const ada = await registerCreator(world())
  const sol = tokenBySymbol('SOL') as Token
  const tip = someConfirmation(ada.wallet, { units: 1_000_000n, token: sol })
  const early = { ...someConfirmation(ada.wallet, { units: 5_000_000n, token: sol }), final: false }
  await createConfirmedTips(world(), [tip, early])
  t.is((await lock(ada.user.id, solMint))?.final, 980_000n)
  t.is((await lock(ada.user.id, solMint))?.final, 980_000n)
  t.is((await lock(ada.user.id))?.final, 0n)
})
