import test from 'ava'
import { writesIn } from '../../scripts/check/table-owners.js'

const models = new Map([['User', 'users']])

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: source texts
test('writes are found in SQL, with knex and with a model', (t) => {
  const found = (text: string) => writesIn(text, models).map(({ table }) => table)
  t.deepEqual(
    found(
      'query({ text: /* sql */ `with a as (insert into tips (id) values ($1)) update only users set x = 1` })',
    ),
    ['tips', 'users'],
  )
  t.deepEqual(found('query({ text: `delete from ${a} x, ${b} insert into emails` })'), [undefined, 'emails'])
  t.deepEqual(found(`await trx('users').where({ id }).update({ name })`), ['users'])
  t.deepEqual(found(`await User.query(trx).where({ id }).patch({ name })`), ['users'])
  t.deepEqual(found('query({ text: `update ${table} set due_at = now()` })'), [undefined])
})

test('reading a table, and a word of a sentence, is no write', (t) => {
  const text = `
    // update tips
    await User.query(db).findById(id)
    const rows = await db('users').first('name')
    query({ text: \`select * from tips for no key update of tips\` })
    log('update something else')`
  t.deepEqual(writesIn(text, models), [])
})
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: source texts
