import test from 'ava'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { createRecordedTips, listUnconfirmed } from '../../helpers/make/landed-tips.js'
import { readTipRow, runBatchUntil } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
const batch = () => createVerifierBatch(as('verifier', world().services))()

/** Replaces the answer to a batch and to its halves: an HTTP status and a body. */
const answers: Record<string, readonly [number, string]> = {
  HTML: [200, '<html><body>Just a moment...</body></html>'],
  '429 with HTML': [429, '<html>'],
  '429 in JSON': [200, '{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests"},"id":null}'],
  '403 with HTML': [403, '<html>'],
  '502 with HTML': [502, '<html>'],
  'an empty body': [200, ''],
  'half an answer': [200, '[{"jsonrpc":"2.0","id":0,"resu'],
  null: [200, 'null'],
  'a text': [200, '"too many requests"'],
  'a number': [200, '42'],
  'an empty list': [200, '[]'],
  'a list of garbage': [200, '[null,1,"x",[],{},{"id":{}},{"id":0,"error":"no"}]'],
  'ids of no request': [
    200,
    '[{"id":4000000000,"result":{}},{"id":-1,"result":{}},{"id":"length","result":1},{"id":0.5,"result":{}}]',
  ],
  'results of another shape': [
    200,
    '[{"id":0,"result":"x"},{"id":1,"result":{"slot":"x"}},{"id":2,"result":[]}]',
  ],
  'an empty object': [200, '{}'],
  'an object of another kind': [200, '{"message":"no route matched"}'],
  'an error that is none': [200, '{"error":"Unauthorized"}'],
}

for (const [name, [status, body]] of Object.entries(answers))
  test.serial(`a batch answered with ${name} is requested again later and decides nothing`, async (t) => {
    const { outside } = world().proxies
    t.teardown(() => Object.assign(outside, { intervene: undefined }))
    const signatures = await createRecordedTips(world(), 5)
    let requests = 0
    outside.intervene = (_path, question) => {
      if (!question.includes('"getTransaction"')) return undefined
      requests += 1
      return { status, body }
    }
    await batch().catch((error: unknown) => t.true(error instanceof ProviderError, String(error)))
    t.true(requests > 0 && requests < 12, `${requests} requests`)
    for (const signature of signatures) {
      const tip = await readTipRow(world(), signature)
      t.like(tip, { status: 'pending', outcome: null, slot: null })
      t.true(tip.due_at.getTime() - Date.now() < 5000, 'it is checked again within seconds')
    }
    outside.intervene = undefined
    const all = async () => (await listUnconfirmed(world(), signatures)).length === 0
    await t.notThrowsAsync(runBatchUntil(batch, 'the tips are confirmed', all))
  })
