import test from 'ava'
import { createAnswerCheck } from '../helpers/http/check-answer.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test)

const check = createAnswerCheck({
  paths: {
    '/things/:id': {
      get: {
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['thing'],
                  properties: { thing: { type: 'object', properties: { name: { type: 'string' } } } },
                },
              },
            },
          },
        },
      },
    },
  },
})

test('the answer check accepts a documented answer and matches path templates', (t) => {
  t.notThrows(() => check('GET', '/things/7', 200, { thing: { name: 'a' } }))
})

test('the answer check refuses a missing field, a wrong type and an undocumented field at any depth', (t) => {
  for (const body of [{}, { thing: { name: 1 } }, { thing: {}, more: 1 }, { thing: { name: 'a', more: 1 } }])
    t.throws(
      () => check('GET', '/things/7', 200, body),
      { message: /GET \/things\/7 200/ },
      JSON.stringify(body),
    )
})

test('the answer check refuses an undocumented status and an error of another shape', (t) => {
  t.throws(() => check('GET', '/things/7', 418, {}), { message: /418 is not in the document/ })
  t.throws(() => check('GET', '/elsewhere', 404, { error: 'Not found' }), { message: /GET \/elsewhere 404/ })
})

test('newDatabaseUrl creates another database, and sandbox needs the chain option', async (t) => {
  t.not(await world().newDatabaseUrl(), world().env['DATABASE_URL'])
  t.throws(() => world().sandbox, { message: /chain: true/ })
})
