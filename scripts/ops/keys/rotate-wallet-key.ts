import type { Knex } from 'knex'
import { checkKnownKeys, checkVaultKey, countSealed } from '../../../src/accounts/wallets/check-vault-key.js'
import { retireOlderKeys, rotateBatch } from '../../../src/accounts/wallets/rotate-wallet-key.js'
import { composeVault } from '../../../src/compose.js'
import type { Vault } from '../../../src/ports/vault.js'
import { applyOptions, defineCommand } from '../support/command.js'
import type { Order } from '../support/order.js'
import { planOrRotate, type Rotation, type Walked } from '../support/rotation.js'
import { withDatabase } from '../support/services.js'
import { createProgress } from '../support/text.js'

/** Seals the creators' wallets again under the newest key of WALLET_KEK, so that the old one may go. */
const usage = `npm run ops -- keys rotate-wallet [--apply]

Seals every custody wallet again under the newest key of WALLET_KEK. It needs the settings of the provisioner: its
DATABASE_URL, and WALLET_KEK with the new and the old key (2:<new>,1:<old>). Set that list for every provisioner first, and
restart them. Without --apply this changes nothing: it counts the wallets by key.

It may run while the service works, twice at a time, and may be killed: run it again. Each wallet is opened again from its
new seal before that is stored. At the end the old key is taken out of use: the database then refuses wallets that a process
seals with it. Only when it prints that the old key may be taken out of the settings, do that. Exit code 4: a wallet is not
sealed with the newest key yet.`

/** Counting and locking read a whole table. */
const statementMs = 120_000

type Needs = Readonly<{ db: Knex; vault: Vault }>

function rotationOf({ db, vault }: Needs, order: Order): Rotation {
  const older = vault.keyVersions.slice(1)
  return {
    what: 'wallets',
    broken: 'wallets do not open, or hold the key of another wallet',
    sealing: vault.keyVersion,
    oneKey:
      older.length > 0
        ? undefined
        : `WALLET_KEK has one key, version ${vault.keyVersion}. To rotate, set it to ${vault.keyVersion + 1}:<new key>,${vault.keyVersion}:<this key>`,
    others:
      'wallets are still being sealed with an older key: restart every provisioner with the new WALLET_KEK',
    done:
      older.length === 0
        ? 'WALLET_KEK has one key: nothing to take out'
        : `no wallet uses version ${older.join(' or ')} any more: the old key may be taken out of the settings`,
    walk: () => rotateAll({ db, vault }),
    retire: (_, wallets) =>
      db.transaction(async (trx) => {
        const retired = await retireOlderKeys(trx, vault.keyVersion)
        if (retired === undefined) return false
        const subject = `wallet-key:${vault.keyVersion}`
        if (retired.length > 0) await order.audit(trx, 'rotate-wallet-key', subject, { retired, wallets })
        return true
      }),
    async read() {
      const counts = await countSealed(db)
      const waiting = [...counts].reduce(
        (sum, [version, wallets]) => (version < vault.keyVersion ? sum + wallets : sum),
        0,
      )
      return {
        lines: [...counts].map(([version, wallets]) => `version ${version}: ${wallets} wallets`),
        json: { newest: vault.keyVersion, wallets: Object.fromEntries(counts) },
        waiting,
      }
    },
  }
}

/** One walk over all wallets. */
async function rotateAll(services: Needs): Promise<Walked> {
  let count = 0
  const broken: string[] = []
  const say = createProgress()
  let after = 0n
  for (;;) {
    const done = await rotateBatch(services, after)
    count += done.wallets
    broken.push(...done.broken)
    if (done.last === undefined) return { count, broken }
    after = done.last
    say(`${count} wallets are sealed again, at id ${after}`)
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  options: applyOptions,
  run: (_, order) =>
    withDatabase(async (db) => {
      const services = { db, vault: composeVault() }
      await (order.apply ? checkVaultKey : checkKnownKeys)(services)
      return planOrRotate(rotationOf(services, order), order)
    }, statementMs),
})
