import test from 'ava'
import { type ClosedAccountKind, type Currency, platformAccount } from '../../src/ledger/accounts.js'
import { closeOldAccounts } from '../../src/ledger/close-old-accounts.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { reserve, voidReserved } from '../../src/ledger/transfers.js'
import { readPlatformBalance } from '../helpers/make/fiat/fiat-tips.js'
import { useWorld } from '../helpers/servers/world.js'
import { available, createUserWith, newKey } from './support.js'

const world = useWorld(test)

/** What a process of the release before posts. */
const old = (kind: ClosedAccountKind, currency: Currency) => ({ userId: null, kind, currency })

test.serial(
  'what is in the accounts of earlier releases moves once, however many clocks do it',
  async (t) => {
    const { db, services } = world()
    const user = await createUserWith(db, 1_000_000n)
    const before = await readPlatformBalance(world(), 'custody_wallets', 'USDC')
    const key = newKey()
    await reserve(db, {
      key,
      ref: 'tip',
      entries: [
        { account: old('chain_clearing', 'USDC'), amount: -700n },
        { account: { ...available(user), kind: 'pending' }, amount: 700n },
        { account: old('provider_clearing', 'NGN'), amount: -40n },
        { account: platformAccount('fx', 'NGN'), amount: 40n },
      ],
    })
    await Promise.all([closeOldAccounts(services), closeOldAccounts(services), closeOldAccounts(services)])
    t.is(await readPlatformBalance(world(), 'chain_clearing', 'USDC'), 0n)
    t.is(await readPlatformBalance(world(), 'custody_wallets', 'USDC'), before - 700n)
    t.is(await readPlatformBalance(world(), 'float_ngn', 'NGN'), -40n)

    // Its tip vanishes: the void gives back to the old account, and the next run moves that too.
    await voidReserved(db, key)
    await closeOldAccounts(services)
    t.is(await readPlatformBalance(world(), 'chain_clearing', 'USDC'), 0n)
    t.is(await readPlatformBalance(world(), 'custody_wallets', 'USDC'), before)
    t.is(await readPlatformBalance(world(), 'float_ngn', 'NGN'), 0n)
    t.true((await checkBooks(db)).holds)
  },
)
