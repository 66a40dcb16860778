import test from 'ava'
import { ApiKey } from '../../src/creators/models.js'
import { Rate } from '../../src/market/models.js'

test('a query that names no pool and no transaction is refused', async (t) => {
  await t.throwsAsync(async () => ApiKey.query().findById('one'), { message: /no database connection/ })
})

test('an exchange rate stays exact on its way to the database and back', (t) => {
  const rate = Rate.fromDatabaseJson({ id: 1n, value: '1600.12345678' })
  t.is(rate.value, 160_012_345_678n)
  t.deepEqual(rate.$toDatabaseJson(), { id: 1n, value: '1600.12345678' })
  t.deepEqual(Rate.fromDatabaseJson({ value: '0.50000000' }).$toDatabaseJson(), { value: '0.5' })
  t.deepEqual({ ...Rate.fromDatabaseJson({ id: 2n }) }, { id: 2n } as Rate)
})
