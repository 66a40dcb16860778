import test from 'ava'
import { ApiKey } from '../../src/creators/models.js'
import { Rate } from '../../src/market/models.js'

test('a query that names no pool and no transaction is refused', async (t) => {
  await t.throwsAsync(async () => ApiKey.query().findById('one'), { message: /no database connection/ })
})

test('a row has the names of SQL in the database and those of the code in a model', (t) => {
  const at = new Date(0)
  const key = ApiKey.fromDatabaseJson({ user_id: 'ada', last_used_at: at, revoked_at: null })
  t.deepEqual({ ...key }, { userId: 'ada', lastUsedAt: at, revokedAt: null } as ApiKey)
  t.deepEqual(key.$toDatabaseJson(), { user_id: 'ada', last_used_at: at, revoked_at: null })
})

test('an exchange rate stays exact on its way to the database and back', (t) => {
  const rate = Rate.fromDatabaseJson({ id: 1n, value: '1600.12345678' })
  t.is(rate.value, 160_012_345_678n)
  t.deepEqual(rate.$toDatabaseJson(), { id: 1n, value: '1600.12345678' })
  t.deepEqual(Rate.fromDatabaseJson({ value: '0.50000000' }).$toDatabaseJson(), { value: '0.5' })
  t.deepEqual({ ...Rate.fromDatabaseJson({ id: 2n }) }, { id: 2n } as Rate)
})
